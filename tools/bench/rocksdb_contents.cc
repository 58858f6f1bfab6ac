// The large set in RocksDB: rows in one column family, and one for each index, whose entries are
// the value, a zero byte and the row key.
#include <rocksdb/db.h>

#include <algorithm>

#include "tools/bench/contents_peer.h"
#include "tools/bench/rocksdb_store.h"

namespace tandem::bench {
namespace {

constexpr size_t kMultiGetKeys = 128;
constexpr uint16_t kAbsent = 0xffff;

// Each column's length in two bytes, then its bytes.
void EncodeRow(const ContentsRow& row, std::string* value) {
  value->clear();
  for (const auto& column : row.columns) {
    const auto size = column.has_value() ? static_cast<uint16_t>(column->size()) : kAbsent;
    value->push_back(static_cast<char>(size & 0xff));
    value->push_back(static_cast<char>(size >> 8));
    if (column.has_value()) value->append(*column);
  }
}

void ConsumeRow(std::string_view value, Consumer* consumer) {
  ++consumer->rows;
  while (value.size() >= 2) {
    const auto size =
        static_cast<uint16_t>(static_cast<uint8_t>(value[0]) | static_cast<uint8_t>(value[1]) << 8);
    value.remove_prefix(2);
    if (size == kAbsent) continue;
    consumer->Value(value.substr(0, size));
    value.remove_prefix(size);
  }
}

class RocksDbContents : public ContentsPeer {
 public:
  explicit RocksDbContents(const std::string& path)
      : store_(path, {"default", "package", "section", "extension"}),
        database_(store_.database()) {}

  // Of equal keys the last one stays, as in the other engines: keys hold the package, and a path
  // is in one section of a package, so that no entry is left behind.
  void Add(const ContentsRow& row) override {
    EncodeRow(row, &value_);
    CheckRocksDb(batch_.Put(store_.family(0), ToSlice(row.key), value_));
    for (int i = 0; i < 3; ++i) {
      if (!row.columns[i].has_value()) continue;
      entry_.assign(*row.columns[i]).append(1, '\0').append(row.key);
      CheckRocksDb(batch_.Put(store_.family(1 + i), entry_, ""));
    }
  }

  void Commit() override {
    CheckRocksDb(database_->Write({}, &batch_));
    batch_.Clear();
  }

  void Settle() override { store_.Settle(); }

  void Run(const ContentsQuery& query, Consumer* consumer) override {
    if (query.kind == ContentsQuery::Kind::kKeyPrefix) {
      ForEach(0, query.low, query.high, [&](rocksdb::Iterator* row) {
        ConsumeRow(row->value().ToStringView(), consumer);
        return true;
      });
      return;
    }
    const bool counts = query.kind == ContentsQuery::Kind::kCount;
    keys_.clear();
    uint64_t count = 0;
    const std::string low = query.high.empty() ? query.low + '\0' : query.low;
    const std::string high = query.high.empty() ? query.low + '\1' : query.high;
    ForEach(1 + query.column, low, high, [&](rocksdb::Iterator* entry) {
      const std::string_view bytes = entry->key().ToStringView();
      if (!counts) keys_.emplace_back(bytes.substr(bytes.find('\0') + 1));
      return ++count != query.limit;
    });
    if (counts) {
      consumer->rows += count;
    } else {
      GetAll(consumer);
    }
  }

 private:
  static rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

  // Calls `use` for each entry of low <= key < high, until it returns false.
  template <typename Use>
  void ForEach(size_t family, const std::string& low, const std::string& high, Use use) {
    const rocksdb::Slice bound(high);
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &bound;
    std::unique_ptr<rocksdb::Iterator> entries(
        database_->NewIterator(options, store_.family(family)));
    for (entries->Seek(low); entries->Valid() && use(entries.get());) entries->Next();
    CheckRocksDb(entries->status());
  }

  void GetAll(Consumer* consumer) {
    std::sort(keys_.begin(), keys_.end());
    for (size_t at = 0; at < keys_.size(); at += kMultiGetKeys) {
      const size_t count = std::min(kMultiGetKeys, keys_.size() - at);
      const std::vector<rocksdb::Slice> slices(keys_.begin() + at, keys_.begin() + at + count);
      std::vector<rocksdb::PinnableSlice> values(count);
      std::vector<rocksdb::Status> statuses(count);
      database_->MultiGet({}, store_.family(0), count, slices.data(), values.data(),
                          statuses.data(), /*sorted_input=*/true);
      for (size_t i = 0; i < count; ++i) {
        CheckRocksDb(statuses[i]);
        ConsumeRow({values[i].data(), values[i].size()}, consumer);
      }
    }
  }

  RocksDbStore store_;
  rocksdb::DB* const database_;
  rocksdb::WriteBatch batch_;
  std::string value_, entry_;
  std::vector<std::string> keys_;
};

}  // namespace

std::unique_ptr<ContentsPeer> NewRocksDbContents(const std::string& path) {
  return std::make_unique<RocksDbContents>(path);
}

}  // namespace tandem::bench

// RocksDB in the differential suite: a key for each column of a row, in memory. It answers gets and
// scans, now and at snapshots.
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <stdexcept>

#include "test/reliability/differential_store.h"

namespace tandem::reliability {
namespace {

void Require(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error("RocksDB: " + status.ToString());
}

/// Rows have no zero byte in their keys, so that columns sort as their rows.
std::string ColumnKey(const std::string& row, char column) { return row + '\0' + column; }

class RocksDbStore final : public DifferentialStore {
 public:
  RocksDbStore() : environment_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {
    rocksdb::Options options;
    options.env = environment_.get();
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;
    rocksdb::DB* opened = nullptr;
    Require(rocksdb::DB::Open(options, "/oracle", &opened));
    database_.reset(opened);
  }
  ~RocksDbStore() override {
    for (size_t slot = 0; slot < kSnapshotSlots; ++slot) Release(slot);
  }
  std::string name() const override { return "RocksDB"; }

  std::optional<std::string> Run(const DiffOperation& operation) override {
    switch (operation.kind) {
      case DiffOperation::Kind::kBatch:
        Write(operation);
        return std::nullopt;
      case DiffOperation::Kind::kGet:
        return Read(operation, operation.key, operation.key + '\1', 1);
      case DiffOperation::Kind::kScan:
        return Read(operation, operation.key, operation.end, operation.limit);
      case DiffOperation::Kind::kSnapshot:
        Release(operation.slot);
        snapshots_[operation.slot] = database_->GetSnapshot();
        return std::nullopt;
      case DiffOperation::Kind::kRelease:
        Release(operation.slot);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

 private:
  struct Row {
    std::string key;
    std::array<std::optional<std::string>, kColumnCount> columns;
  };

  void Release(size_t slot) {
    if (snapshots_[slot] != nullptr) database_->ReleaseSnapshot(snapshots_[slot]);
    snapshots_[slot] = nullptr;
  }
  void Write(const DiffOperation& operation) {
    rocksdb::WriteBatch batch;
    for (const RowChange& change : operation.changes) {
      for (const auto& [column, value] : change.columns) {
        const std::string key = ColumnKey(change.key, column);
        Require(change.kind == RowChange::Kind::kPut ? batch.Put(key, value) : batch.Delete(key));
      }
      if (change.kind != RowChange::Kind::kDeleteRow) continue;
      for (const char column : kColumns) Require(batch.Delete(ColumnKey(change.key, column)));
    }
    Require(database_->Write({}, &batch));
  }
  /// Rows from `start` to before `end`.
  std::string Read(const DiffOperation& operation, const std::string& start, const std::string& end,
                   uint64_t limit) {
    rocksdb::ReadOptions options;
    if (operation.snapshot) options.snapshot = snapshots_[*operation.snapshot];
    const std::unique_ptr<rocksdb::Iterator> cells(database_->NewIterator(options));
    std::vector<Row> rows;
    const bool is_get = operation.kind == DiffOperation::Kind::kGet;
    for (cells->Seek(start); cells->Valid(); cells->Next()) {
      const std::string key = cells->key().ToString();
      std::string row = key.substr(0, key.size() - 2);
      if (is_get ? row != start : (!end.empty() && row >= end)) break;
      if (rows.empty() || rows.back().key != row) rows.push_back({row, {}});
      rows.back().columns[static_cast<size_t>(key.back() - 'a')] = cells->value().ToString();
    }
    Require(cells->status());
    if (operation.descending) std::reverse(rows.begin(), rows.end());
    rows.erase(rows.begin(),
               rows.begin() + static_cast<ptrdiff_t>(std::min(rows.size(), operation.offset)));
    if (limit != 0 && rows.size() > limit) rows.resize(limit);
    std::string text;
    for (const Row& row : rows) AppendRow(row.key, row.columns, &text);
    return text;
  }

  std::unique_ptr<rocksdb::Env> environment_;
  std::unique_ptr<rocksdb::DB> database_;
  std::array<const rocksdb::Snapshot*, kSnapshotSlots> snapshots_{};
};

}  // namespace

std::unique_ptr<DifferentialStore> NewRocksDbStore() { return std::make_unique<RocksDbStore>(); }

}  // namespace tandem::reliability

// The rows of the newer file as its flush recorded them: nothing is read.
#include <optional>
#include <utility>

#include "engine/jobs/overlap_rows.h"

namespace tandem::engine {
namespace {

class RecordedRows final : public NewerRows {
 public:
  RecordedRows(const format::TableRecord& table, const FlushedRows& record)
      : NewerRows(table), record_(record), cursor_(record) {}

  /// False: the record lacks a column.
  bool FindColumns() {
    for (size_t i = 0; i < index_count(); ++i) {
      const std::optional<size_t> found = record_.Find(column(i));
      if (!found.has_value()) return false;
      columns_.push_back(*found);
    }
    return true;
  }

  uint32_t block_count() const override { return record_.chunk_count(); }
  Result<Block> BlockAt(uint32_t block) override {
    return Block{record_.first(block), record_.row_count(block)};
  }
  Status Enter(uint32_t block) override {
    block_ = block;
    cursor_.Enter(block);
    return {};
  }
  Result<std::string_view> Key(uint32_t slot) override { return cursor_.Key(slot); }
  Result<bool> Supersedes(uint32_t slot, size_t which, int64_t timestamp) override {
    const int64_t newest = cursor_.Newest(slot, columns_[which]);
    return newest != kSupersedesNothing && newest >= timestamp;
  }
  Share ShareOfFile(size_t which, int64_t timestamp) const override {
    return ShareOf(record_.range(columns_[which]), timestamp);
  }
  Share ShareOfBlock(size_t which, int64_t timestamp) const override {
    return ShareOf(record_.range(block_, columns_[which]), timestamp);
  }

 private:
  static Share ShareOf(const SupersededRange& range, int64_t timestamp) {
    if (range.max == kSupersedesNothing || range.max < timestamp) return Share::kNone;
    return range.every && range.min >= timestamp ? Share::kAll : Share::kSome;
  }

  const FlushedRows& record_;
  FlushedRows::Cursor cursor_;
  std::vector<size_t> columns_;  // Of the record, by index.
  uint32_t block_ = 0;
};

}  // namespace

std::unique_ptr<NewerRows> NewRecordedRows(const format::TableRecord& table,
                                           const FlushedRows& record) {
  auto rows = std::make_unique<RecordedRows>(table, record);
  if (!rows->FindColumns()) return nullptr;
  return rows;
}

}  // namespace tandem::engine

// A row is written when the next one begins, since several operations may be on it.
#include "engine/jobs/bulk_files.h"

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/cell/visibility.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// A file ends with its region if it has that size: smaller ones would be many in a table of many
// regions, and regions may share a file.
constexpr uint64_t kFileBytesMin = 4 << 20;

}  // namespace

Status RowTooLarge(std::string_view row) {
  return Status::InvalidArgument(
      "row " + base::Quote(row) +
      " has more bytes than a bulk load takes, kBatchBytesMax: " + std::to_string(kBatchBytesMax));
}

Status BulkFiles::Add(wal::BatchEncoder batch) {
  batches_.push_back(std::move(batch));
  auto reader =
      wal::GroupReader::OfBatch(batches_.back(), format::SequenceNumber(1), spec_.timestamp);
  wal::Operation operation;
  while (reader.Next(&operation)) RETURN_IF_ERROR(Take(operation));
  return reader.status();
}

Status BulkFiles::Take(const wal::Operation& operation) {
  if (operation.row != key_) {
    RETURN_IF_ERROR(WriteRow());
    key_ = operation.row;
  }
  const uint64_t number = cells_.empty() ? 1 : cells_.back().sequence.value + 1;
  for (format::Cell cell : operation.cells) {
    cell.sequence = format::SequenceNumber(number);
    cells_.push_back(cell);
    row_bytes_ += cell.qualifier.size() + cell.value.size();
  }
  return row_bytes_ <= kBatchBytesMax ? Status() : RowTooLarge(key_);
}

Status BulkFiles::WriteRow() {
  if (cells_.empty()) return {};
  format::SortCells(cells_);
  kept_.clear();
  format::RetainCells(
      cells_, {.families = spec_.table->families, .snapshots = {}, .now_micros = spec_.now_micros},
      &kept_);
  if (!kept_.empty()) {
    for (format::Cell& cell : kept_) cell.sequence = {};
    RETURN_IF_ERROR(PrepareFile());
    RETURN_IF_ERROR(writer_->AddRow(key_, kept_).status());
  }
  cells_.clear();
  row_bytes_ = 0;
  while (batches_.size() > 1) batches_.pop_front();  // The next row begins in the current one.
  return {};
}

// The current file takes the next row, which is complete, or another one is begun.
Status BulkFiles::PrepareFile() {
  const bool is_past_region = writer_ != nullptr && !region_end_.empty() && key_ >= region_end_;
  const bool is_full = writer_ != nullptr && work_.limits.AreReached(*writer_);
  if (is_full || (is_past_region && writer_->size_bytes() >= kFileBytesMin)) {
    RETURN_IF_ERROR(Hold());
  }
  if (writer_ != nullptr && !is_past_region) return {};
  const std::shared_ptr<const Table> table = regions_->Find(spec_.table->id);
  if (table == nullptr) return TableNotFound(spec_.table->name);
  const Region& region = table->RegionOf(key_);
  region_end_ = region.end_key();
  if (writer_ != nullptr) return {};
  run_.SetRegionStart(region.start_key());
  ASSIGN_OR_RETURN(writer_, run_.NextFile());
  return {};
}

Status BulkFiles::Hold() {
  writer_ = nullptr;
  return run_.Hold();
}

Status BulkFiles::End() {
  RETURN_IF_ERROR(WriteRow());
  return writer_ == nullptr ? Status() : Hold();
}

}  // namespace tandem::engine

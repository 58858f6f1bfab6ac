// A row is written when the next one begins, since several operations may be on it.
#include "engine/jobs/bulk_files.h"

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/cell/visibility.h"
#include "tandem/limits.h"

namespace tandem::engine {

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
      cells_, {.families = families_, .snapshots = {}, .now_micros = spec_.now_micros}, &kept_);
  if (!kept_.empty()) {
    for (format::Cell& cell : kept_) cell.sequence = {};
    ASSIGN_OR_RETURN(format::StoreFileWriter* const writer, files_.WriterFor(key_));
    RETURN_IF_ERROR(writer->AddRow(key_, kept_).status());
  }
  cells_.clear();
  row_bytes_ = 0;
  while (batches_.size() > 1) batches_.pop_front();  // The next row begins in the current one.
  return {};
}

Status BulkFiles::End() {
  RETURN_IF_ERROR(WriteRow());
  return files_.Complete();
}

}  // namespace tandem::engine

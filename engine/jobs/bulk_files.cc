// A row is written when the next one begins, since several operations may be on it.
#include "engine/jobs/bulk_files.h"

#include <algorithm>
#include <numeric>

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
  const size_t before = cells_.size();
  const uint64_t number = before == 0 ? 1 : cells_.back().sequence.value + 1;
  is_sorted_ = before == 0;
  if (is_sorted_) {
    AddSorted(operation.cells);
  } else {
    cells_.insert(cells_.end(), operation.cells.begin(), operation.cells.end());
  }
  for (size_t i = before; i < cells_.size(); ++i) {
    cells_[i].sequence = format::SequenceNumber(number);
    row_bytes_ += cells_[i].qualifier.size() + cells_[i].value.size();
  }
  return row_bytes_ <= kBatchBytesMax ? Status() : RowTooLarge(key_);
}

// Adds the cells of the row's first operation. Most rows have the columns of the row before, in the
// same order.
void BulkFiles::AddSorted(std::span<const format::Cell> cells) {
  if (cells.size() == order_.size()) {
    for (const uint32_t i : order_) cells_.push_back(cells[i]);
    if (std::is_sorted(cells_.begin(), cells_.end(), format::CellLess)) return;
    cells_.clear();
  }
  order_.resize(cells.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(),
            [&](uint32_t a, uint32_t b) { return format::CellLess(cells[a], cells[b]); });
  for (const uint32_t i : order_) cells_.push_back(cells[i]);
}

Status BulkFiles::WriteRow() {
  if (cells_.empty()) return {};
  if (!is_sorted_) format::SortCells(cells_);
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
  while (batches_.size() > 1) {  // The next row begins in the current one.
    spares_.Give(std::move(batches_.front()));
    batches_.pop_front();
  }
  return {};
}

Status BulkFiles::End() {
  RETURN_IF_ERROR(WriteRow());
  return files_.Complete();
}

}  // namespace tandem::engine

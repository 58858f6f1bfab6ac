// A row is written when the next one begins, since several operations may be on it. Of a row that
// is not complete when its batch ends, the bytes are copied.
#include "engine/jobs/bulk_loader.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "format/cell/visibility.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

Status Invalid(std::string what) { return Status::InvalidArgument(std::move(what)); }

uint64_t BytesOf(const PlannedOperation& operation) {
  uint64_t bytes = 0;
  for (const format::Cell& cell : operation.cells) {
    bytes += cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

}  // namespace

BulkLoader::BulkLoader(const LoadWork& work, std::shared_ptr<const format::TableRecord> table,
                       int64_t timestamp, int64_t now_micros)
    : work_(work),
      table_(std::move(table)),
      timestamp_(timestamp),
      now_micros_(now_micros),
      files_(work.files, table_, RegionsOfTable(*work.regions, table_)) {}

Status BulkLoader::Check(std::span<const PlannedOperation> operations) const {
  std::string_view last = key_;
  uint64_t row_bytes = row_bytes_;
  for (const PlannedOperation& operation : operations) {
    if (operation.table != table_->id) {
      return Invalid("a bulk load of table " + base::Quote(table_->name) +
                     " takes rows of no other table, or the table was dropped or truncated");
    }
    const bool is_put =
        !operation.reads() &&
        std::all_of(operation.cells.begin(), operation.cells.end(),
                    [](const auto& cell) { return cell.kind == format::CellKind::kPut; });
    if (!is_put)
      return Invalid("row " + base::Quote(operation.row) + ": a bulk load takes puts alone");
    if (operation.row < last) {
      return Invalid("row " + base::Quote(operation.row) + " follows row " + base::Quote(last) +
                     ": a bulk load takes rows in rising order");
    }
    if (operation.row != last) row_bytes = 0;
    last = operation.row;
    row_bytes += BytesOf(operation);
    if (row_bytes > kBatchBytesMax) {
      return Invalid("row " + base::Quote(operation.row) +
                     " has more bytes than a bulk load takes, kBatchBytesMax: " +
                     std::to_string(kBatchBytesMax));
    }
  }
  return {};
}

Status BulkLoader::Add(std::span<const PlannedOperation> operations) {
  RETURN_IF_ERROR(broken_);
  RETURN_IF_ERROR(Check(operations));
  const Status status = Guarded([&]() -> Status {
    for (const PlannedOperation& operation : operations) RETURN_IF_ERROR(Take(operation));
    KeepRow();
    return {};
  });
  if (!status.ok()) broken_ = status;
  return status;
}

Status BulkLoader::Take(const PlannedOperation& operation) {
  if (operation.row != key_) {
    RETURN_IF_ERROR(WriteRow());
    key_ = operation.row;
  }
  row_bytes_ += BytesOf(operation);
  const uint64_t number = cells_.empty() ? 1 : cells_.back().sequence.value + 1;
  for (format::Cell cell : operation.cells) {
    cell.timestamp = operation.timestamp.value_or(timestamp_);
    cell.sequence = format::SequenceNumber(number);
    cells_.push_back(cell);
  }
  return {};
}

void BulkLoader::KeepRow() {
  if (!bytes_.has_value()) bytes_.emplace();
  for (; copied_ < cells_.size(); ++copied_) {
    format::Cell& cell = cells_[copied_];
    cell.qualifier = bytes_->Copy(cell.qualifier);
    cell.value = bytes_->Copy(cell.value);
  }
}

Status BulkLoader::WriteRow() {
  if (cells_.empty()) return {};
  format::SortCells(cells_);
  kept_.clear();
  format::RetainCells(
      cells_, {.families = table_->families, .snapshots = {}, .now_micros = now_micros_}, &kept_);
  if (!kept_.empty()) {
    for (format::Cell& cell : kept_) cell.sequence = {};
    ASSIGN_OR_RETURN(format::StoreFileWriter * writer, files_.WriterFor(key_));
    RETURN_IF_ERROR(writer->AddRow(key_, kept_).status());
  }
  cells_.clear();
  row_bytes_ = copied_ = 0;
  bytes_.reset();
  return {};
}

Status BulkLoader::Link() {
  RETURN_IF_ERROR(broken_);
  const Status status = Guarded([this] { return LinkRows(); });
  broken_ = status.ok() ? Invalid("the bulk load has ended") : status;
  return status;
}

Status BulkLoader::LinkRows() {
  RETURN_IF_ERROR(WriteRow());
  RETURN_IF_ERROR(files_.Complete());
  return LinkLoad(work_, &files_);
}

}  // namespace tandem::engine

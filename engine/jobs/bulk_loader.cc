// A row is written when the next one begins, since several operations may be on it. Of a row that
// is not complete when its batch ends, the bytes are copied.
#include "engine/jobs/bulk_loader.h"

#include <algorithm>
#include <list>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "format/cell/visibility.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// A file ends with its region if it has that size: smaller ones would be many in a table of many
// regions, and regions may share a file.
constexpr uint64_t kFileBytesMin = 4 << 20;

Status Invalid(std::string what) { return Status::InvalidArgument(std::move(what)); }

uint64_t BytesOf(const PlannedOperation& operation) {
  uint64_t bytes = 0;
  for (const format::Cell& cell : operation.cells) {
    bytes += cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

}  // namespace

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
    if (first_key_.empty()) first_key_ = key_;
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
    RETURN_IF_ERROR(PrepareFile());
    RETURN_IF_ERROR(writer_->AddRow(key_, kept_).status());
  }
  cells_.clear();
  row_bytes_ = copied_ = 0;
  bytes_.reset();
  return {};
}

// The current file takes the next row, which is complete, or another one is begun.
Status BulkLoader::PrepareFile() {
  const bool is_past_region = writer_ != nullptr && !region_end_.empty() && key_ >= region_end_;
  const bool is_full = writer_ != nullptr && work_.files.limits.AreReached(*writer_);
  if (is_full || (is_past_region && writer_->size_bytes() >= kFileBytesMin)) {
    RETURN_IF_ERROR(Hold());
  }
  if (writer_ != nullptr && !is_past_region) return {};
  const std::shared_ptr<const Table> table = work_.regions->Find(table_->id);
  if (table == nullptr) return TableNotFound(table_->name);
  const Region& region = table->RegionOf(key_);
  region_end_ = region.end_key();
  if (writer_ != nullptr) return {};
  run_.SetRegionStart(region.start_key());
  ASSIGN_OR_RETURN(writer_, run_.NextFile());
  return {};
}

Status BulkLoader::Hold() {
  writer_ = nullptr;
  return run_.Hold();
}

Status BulkLoader::Link() {
  RETURN_IF_ERROR(broken_);
  const Status status = Guarded([this] { return LinkRows(); });
  broken_ = status.ok() ? Invalid("the bulk load has ended") : status;
  return status;
}

Status BulkLoader::LinkRows() {
  RETURN_IF_ERROR(WriteRow());
  if (writer_ != nullptr) RETURN_IF_ERROR(Hold());
  if (!run_.holds_files()) return {};
  bool again = true;
  while (again) RETURN_IF_ERROR(TryLink(&again));
  return {};
}

Status BulkLoader::TryLink(bool* again) {
  *again = false;
  const std::shared_ptr<const Table> table = work_.regions->Find(table_->id);
  if (table == nullptr) return TableNotFound(table_->name);
  const auto found = table->RegionsOf(first_key_, key_);
  const Regions regions(found.begin(), found.end());
  RETURN_IF_ERROR(work_.flush(regions));
  Status status;
  {
    std::list<RegionJobLock> turns;
    for (const auto& region : regions) turns.emplace_back(*region, Region::Work::kFlush);
    status = work_.queue->RunAlone([&] { return LinkAlone(regions, again); });
  }
  // Also after an error: a memstore may wait for its flush.
  for (const auto& region : regions) work_.begin(*region);
  return status;
}

Status CheckMayBeLoaded(const format::TableRecord& table) {
  if (table.observers.empty()) return {};
  return Status::InvalidArgument(
      "table " + base::Quote(table.name) + " has the observer " +
      base::Quote(table.observers.front()) +
      ", which a bulk load would not ask; use Write, or take its observers off first");
}

// Regions that were split or merged meanwhile are looked for again; two that are being merged share
// a memstore, and the next flush waits until they no longer do.
Status BulkLoader::LinkAlone(const Regions& regions, bool* again) {
  RETURN_IF_ERROR(work_.files.health->CheckWritable());
  const std::shared_ptr<const Table> table = work_.regions->Find(table_->id);
  if (table == nullptr) return TableNotFound(table_->name);
  RETURN_IF_ERROR(CheckMayBeLoaded(*table->record));
  *again = std::any_of(regions.begin(), regions.end(), [](const auto& region) {
    return region->is_retired() || region->shares_memstore();
  });
  if (*again) return {};
  RETURN_IF_ERROR(FlushRest(regions));
  const format::SequenceNumber sequence = work_.queue->TakeSequence();
  RETURN_IF_ERROR(run_.FinishHeld(sequence));
  ASSIGN_OR_RETURN(const std::vector<Part> parts, PartsOf(regions));
  return Commit(parts, sequence);
}

Status BulkLoader::FlushRest(const Regions& regions) {
  RETURN_IF_ERROR(work_.sync_log());
  for (const auto& region : regions) {
    region->SwitchMemstore();
    work_.memstore_changed(*region);
    RETURN_IF_ERROR(work_.flusher->FlushAlone(*region));
  }
  return {};
}

Result<std::vector<BulkLoader::Part>> BulkLoader::PartsOf(const Regions& regions) const {
  std::vector<Part> parts;
  for (const auto& region : regions) {
    Part part{.region = region.get(), .slices = {}};
    for (const FinishedFile& file : run_.finished()) {
      format::StoreFile& store = file.file->store();
      const std::string& end = region->end_key();
      const format::FileStatistics& statistics = store.statistics();
      FileSlice slice{.file = file.file, .low = 0, .high = file.record.rows};
      if (statistics.min_key < region->start_key()) {
        ASSIGN_OR_RETURN(slice.low, store.LowerBound(region->start_key()));
      }
      if (!end.empty() && statistics.max_key >= end) {
        ASSIGN_OR_RETURN(slice.high, store.LowerBound(end));
      }
      if (slice.low < slice.high) part.slices.push_back(std::move(slice));
    }
    if (!part.slices.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

// If the edit fails, it may be on disk all the same: nothing is committed until that is certain.
Status BulkLoader::Commit(const std::vector<Part>& parts, format::SequenceNumber sequence) {
  const auto add_run = [&](const Part& part, RegionVersion* version) {
    InsertRun(part.slices, work_.files.join_bytes, version->files.size(), version);
  };
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    AddFiles(run_.finished(), edit);
    for (const Part& part : parts) {
      RegionVersion after = *part.region->version();
      add_run(part, &after);
      edit->put_regions.push_back(RecordOf(*part.region, after, part.region->flushed_through()));
    }
    return Status();
  };
  change.publish = [&] {
    for (const Part& part : parts) {
      part.region->Update([&](RegionVersion* version) {
        add_run(part, version);
        version->changed_through = sequence;
      });
    }
    work_.files.snapshots->Publish(sequence);
  };
  const Status status = work_.files.editor->Commit(change);
  if (!status.ok()) {
    work_.queue->NoteDoubt();
    return status;
  }
  run_.Take();
  return {};
}

}  // namespace tandem::engine

// Rows are checked and encoded on the caller's thread; files are written behind a queue.
#include "engine/jobs/bulk_loader.h"

#include <algorithm>
#include <list>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/commit/batch_reader.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// What one batch of the queue has: a heap takes so little from memory that was freed, not from the
// system.
constexpr uint64_t kBatchBytes = 64 << 10;

Status Invalid(std::string what) { return Status::InvalidArgument(std::move(what)); }

uint64_t BytesOf(const BatchOperation& operation) {
  uint64_t bytes = 0;
  for (const ColumnValue& column : operation.columns) {
    bytes += column.qualifier.size() + column.value.size();
  }
  return bytes;
}

// The parts of the files that lie in the region.
Result<std::vector<FileSlice>> SlicesOf(const FinishedRun& files, const Region& region) {
  std::vector<FileSlice> slices;
  const std::string& end = region.end_key();
  for (const FinishedFile& file : files) {
    format::StoreFile& store = file.file->store();
    const format::FileStatistics& statistics = store.statistics();
    FileSlice slice{.file = file.file, .low = 0, .high = file.record.rows};
    if (statistics.min_key < region.start_key()) {
      ASSIGN_OR_RETURN(slice.low, store.LowerBound(region.start_key()));
    }
    if (!end.empty() && statistics.max_key >= end) {
      ASSIGN_OR_RETURN(slice.high, store.LowerBound(end));
    }
    if (slice.low < slice.high) slices.push_back(std::move(slice));
  }
  return slices;
}

}  // namespace

BulkLoader::BulkLoader(const BulkWork& work, BulkFiles::Spec spec, bool any_order)
    : work_(work),
      spec_(std::move(spec)),
      any_order_(any_order),
      queue_(
          work.jobs, [this](wal::BatchEncoder batch) { return Write(std::move(batch)); },
          work.files.files->cache()->Charge(base::MemoryPart::kFileWriters, 0)) {
  NewRun();
}

BulkFiles& BulkLoader::NewRun() { return runs_.emplace_back(work_.files, work_.regions, spec_); }

// The queue's other end.
Status BulkLoader::Write(wal::BatchEncoder batch) {
  return sorter_ != nullptr ? sorter_->Add(std::move(batch)) : runs_.back().Add(std::move(batch));
}

Result<BulkLoader::Added> BulkLoader::Check(const WriteBatch& batch, const WritePlan& plan) const {
  const bool is_of_table =
      std::all_of(plan.tables.begin(), plan.tables.end(),
                  [&](const auto& table) { return table->record->id == spec_.table->id; });
  if (!is_of_table) {
    return Invalid("a bulk load of table " + base::Quote(spec_.table->name) +
                   " takes rows of no other table, or the table was dropped or truncated");
  }
  Added added{.least_key = {}, .greatest_key = {}, .last_key = last_key_, .row_bytes = row_bytes_};
  BatchReader reader(batch);
  BatchOperation operation;
  while (reader.Next(&operation)) {
    const std::string_view row = operation.row;
    if (operation.kind != BatchKind::kPut) {
      return Invalid("row " + base::Quote(row) + ": a bulk load takes puts alone");
    }
    const int order = row.compare(added.last_key);
    if (order < 0 && !any_order_) {
      return Invalid("row " + base::Quote(row) + " follows row " + base::Quote(added.last_key) +
                     ": a bulk load takes rows in rising order");
    }
    added.falls |= order < 0;
    if (order != 0) added.row_bytes = 0;
    if (added.least_key.empty() || row < added.least_key) added.least_key = row;
    if (row > added.greatest_key) added.greatest_key = row;
    added.last_key = row;
    added.row_bytes += BytesOf(operation);
    if (added.row_bytes > kBatchBytesMax) return RowTooLarge(row);
  }
  return added;
}

Status BulkLoader::Add(const WriteBatch& batch, WritePlan plan) {
  RETURN_IF_ERROR(broken_);
  ASSIGN_OR_RETURN(const Added added, Check(batch, plan));
  const Status status = Guarded([&] { return Take(added, plan.batch); });
  buffer_ = std::move(plan.batch);
  if (!status.ok()) broken_ = status;
  return status;
}

Status BulkLoader::Take(const Added& added, const wal::BatchEncoder& batch) {
  if (added.least_key.empty()) return {};
  if (added.falls && sorter_ == nullptr) RETURN_IF_ERROR(BeginSorting());
  if (least_key_.empty() || added.least_key < least_key_) least_key_ = added.least_key;
  if (added.greatest_key > greatest_key_) greatest_key_ = added.greatest_key;
  last_key_ = added.last_key;
  row_bytes_ = added.row_bytes;
  batch_.AddAll(batch);
  return batch_.bytes().size() < std::min(kBatchBytes, work_.sort_bytes / 4) ? Status() : Pass();
}

Status BulkLoader::Pass() { return queue_.Push(batch_.Take()); }

// What was passed rises and stays as it is; what was not is sorted with the rest.
Status BulkLoader::BeginSorting() {
  RETURN_IF_ERROR(queue_.Drain());
  RETURN_IF_ERROR(runs_.back().End());
  // One half fills while the other one, which is in the sorter, is sorted and written.
  queue_.LetWait(work_.sort_bytes / 2);
  sorter_ = std::make_unique<BulkSorter>(work_.files.files, work_.sort_bytes / 2);
  return {};
}

// The sorted rows go through the queue as well, so that merging and writing take a processor each.
Status BulkLoader::EndRuns() {
  RETURN_IF_ERROR(Pass());
  RETURN_IF_ERROR(queue_.Drain());
  if (sorter_ != nullptr) {
    const std::unique_ptr<BulkSorter> sorter = std::move(sorter_);
    if (runs_.back().run().holds_files()) NewRun();
    RETURN_IF_ERROR(
        sorter->Finish([this](wal::BatchEncoder batch) { return queue_.Push(std::move(batch)); }));
    RETURN_IF_ERROR(queue_.Drain());
  }
  return runs_.back().End();
}

Status BulkLoader::Link() {
  RETURN_IF_ERROR(broken_);
  const Status status = Guarded([this] { return LinkRows(); });
  broken_ = status.ok() ? Invalid("the bulk load has ended") : status;
  return status;
}

Status BulkLoader::LinkRows() {
  RETURN_IF_ERROR(EndRuns());
  const bool holds_files = std::any_of(runs_.begin(), runs_.end(),
                                       [](BulkFiles& files) { return files.run().holds_files(); });
  if (!holds_files) return {};
  bool again = true;
  while (again) RETURN_IF_ERROR(TryLink(&again));
  return {};
}

Status BulkLoader::TryLink(bool* again) {
  *again = false;
  const std::shared_ptr<const Table> table = work_.regions->Find(spec_.table->id);
  if (table == nullptr) return TableNotFound(spec_.table->name);
  const auto found = table->RegionsOf(least_key_, greatest_key_);
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

// Regions that were split or merged meanwhile are looked for again; two that are being merged share
// a memstore, and the next flush waits until they no longer do.
Status BulkLoader::LinkAlone(const Regions& regions, bool* again) {
  RETURN_IF_ERROR(work_.files.health->CheckWritable());
  if (work_.regions->Find(spec_.table->id) == nullptr) return TableNotFound(spec_.table->name);
  *again = std::any_of(regions.begin(), regions.end(), [](const auto& region) {
    return region->is_retired() || region->shares_memstore();
  });
  if (*again) return {};
  RETURN_IF_ERROR(FlushRest(regions));
  format::SequenceNumber sequence;
  for (BulkFiles& files : runs_) {
    sequence = work_.queue->TakeSequence();
    RETURN_IF_ERROR(files.run().FinishHeld(sequence));
  }
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
    Part part{.region = region.get(), .runs = {}};
    for (const BulkFiles& files : runs_) {
      ASSIGN_OR_RETURN(std::vector<FileSlice> slices, SlicesOf(files.finished(), *region));
      if (!slices.empty()) part.runs.push_back(std::move(slices));
    }
    if (!part.runs.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

// If the edit fails, it may be on disk all the same: nothing is committed until that is certain.
Status BulkLoader::Commit(const std::vector<Part>& parts, format::SequenceNumber sequence) {
  const auto add_runs = [&](const Part& part, RegionVersion* version) {
    for (const auto& slices : part.runs) {
      InsertRun(slices, work_.files.join_bytes, version->files.size(), version);
    }
  };
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    for (const BulkFiles& files : runs_) AddFiles(files.finished(), edit);
    for (const Part& part : parts) {
      RegionVersion after = *part.region->version();
      add_runs(part, &after);
      edit->put_regions.push_back(RecordOf(*part.region, after, part.region->flushed_through()));
    }
    return Status();
  };
  change.publish = [&] {
    for (const Part& part : parts) {
      part.region->Update([&](RegionVersion* version) {
        add_runs(part, version);
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
  for (BulkFiles& files : runs_) files.run().Take();
  return {};
}

}  // namespace tandem::engine

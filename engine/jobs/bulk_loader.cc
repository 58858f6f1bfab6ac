// Rows are checked and encoded on the caller's thread; files are written behind a queue.
#include "engine/jobs/bulk_loader.h"

#include <algorithm>
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

}  // namespace

BulkLoader::BulkLoader(const LoadWork& work, BulkFiles::Spec spec, bool any_order)
    : work_(work),
      spec_(std::move(spec)),
      any_order_(any_order),
      queue_(
          work.jobs, [this](wal::BatchEncoder batch) { return Write(std::move(batch)); },
          work.files.files->cache()->Charge(base::MemoryPart::kFileWriters, 0)) {
  NewRun();
}

BulkFiles& BulkLoader::NewRun() { return runs_.emplace_back(work_, spec_, &queue_, &spares_); }

// The queue's other end.
Status BulkLoader::Write(wal::BatchEncoder batch) {
  return sorter_ != nullptr ? sorter_->Add(std::move(batch)) : runs_.back().Add(std::move(batch));
}

Status BulkLoader::CheckTable(const format::TableRecord& table) const {
  if (table.id == spec_.table->id) return {};
  const std::string name = base::Quote(spec_.table->name);
  if (table.name == spec_.table->name) {
    return Status::NotFound("table " + name + " was dropped or truncated since its load began");
  }
  return Status::InvalidArgument("a bulk load of table " + name + " takes rows of no other table");
}

Result<BulkLoader::Added> BulkLoader::Check(const WriteBatch& batch, const WritePlan& plan) const {
  for (const auto& table : plan.tables) RETURN_IF_ERROR(CheckTable(*table->record));
  Added added{.last_key = last_key_, .row_bytes = row_bytes_};
  BatchReader reader(batch);
  BatchOperation operation;
  uint64_t column_bytes = 0;
  while (reader.NextWithoutColumns(&operation, &column_bytes)) {
    const std::string_view row = operation.row;
    if (operation.kind != BatchKind::kPut) {
      return Status::InvalidArgument("row " + base::Quote(row) + ": a bulk load takes puts alone");
    }
    const int order = row.compare(added.last_key);
    if (order < 0 && !any_order_) {
      return Status::InvalidArgument("row " + base::Quote(row) + " follows row " +
                                     base::Quote(added.last_key) +
                                     ": a bulk load takes rows in rising order");
    }
    added.falls |= order < 0;
    if (order != 0) added.row_bytes = 0;
    added.last_key = row;
    added.row_bytes += column_bytes;
    if (added.row_bytes > kBatchBytesMax) return RowTooLarge(row);
  }
  return added;
}

Status BulkLoader::Add(const WriteBatch& batch, WritePlan plan) {
  RETURN_IF_ERROR(broken_);
  ASSIGN_OR_RETURN(const Added added, Check(batch, plan));
  const Status status = Guarded([&] { return Take(added, std::move(plan.batch)); });
  if (!status.ok()) broken_ = status;
  return status;
}

// A batch that is large enough goes as it is, but not to the sorter, which would keep the unused
// memory at its end.
Status BulkLoader::Take(const Added& added, wal::BatchEncoder batch) {
  if (added.falls && sorter_ == nullptr) RETURN_IF_ERROR(BeginSorting());
  last_key_ = added.last_key;
  row_bytes_ = added.row_bytes;
  const uint64_t pass_bytes = std::min(kBatchBytes, work_.sort_bytes / 4);
  if (sorter_ == nullptr && batch_.operation_count() == 0 &&
      batch.bytes().size() >= pass_bytes / 2) {
    buffer_ = spares_.Take();
    return queue_.Push(std::move(batch));
  }
  batch_.AddAll(batch);
  buffer_ = std::move(batch);
  return batch_.bytes().size() < pass_bytes ? Status() : Pass();
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
    if (!runs_.back().files().empty()) NewRun();
    RETURN_IF_ERROR(
        sorter->Finish([this](wal::BatchEncoder batch) { return queue_.Push(std::move(batch)); }));
    RETURN_IF_ERROR(queue_.Drain());
  }
  return runs_.back().End();
}

Status BulkLoader::Link() {
  RETURN_IF_ERROR(broken_);
  const Status status = Guarded([this] { return LinkRows(); });
  broken_ = status.ok() ? Status::InvalidArgument("the bulk load has ended") : status;
  return status;
}

Status BulkLoader::LinkRows() {
  RETURN_IF_ERROR(EndRuns());
  std::vector<LoadFiles*> runs;
  for (BulkFiles& run : runs_) runs.push_back(&run.files());
  return LinkLoad(work_, runs);
}

}  // namespace tandem::engine

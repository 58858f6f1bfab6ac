// Calls that check what is stored, and measure indexes.
#include <utility>

#include "base/status_macros.h"
#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/index_statistics.h"
#include "engine/verify/catalog.h"
#include "engine/verify/reads.h"
#include "engine/verify/view.h"

namespace tandem::engine {

Result<VerifyReport> EngineImpl::Verify(bool deep) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  VerifyReport report;
  VerifyRun run{.deep = deep, .report = &report, .functions = &options_.functions};
  for (const auto& table : database_.regions->tables()) {
    ASSIGN_OR_RETURN(const std::optional<TableView> view, ViewOf(table->record->id));
    if (!view.has_value()) continue;
    RETURN_IF_ERROR(VerifyFilesOf(*view, database_.opened.storage.get(), &run));
    RETURN_IF_ERROR(VerifyView(*view, &run));
    if (deep) RETURN_IF_ERROR(VerifyReads(read_resources(), *view, &report));
    for (const format::GlobalIndexRecord& global : view->table->global_indexes) {
      if (!deep) break;
      const Status status = VerifyGlobalIndex(view->table->name, global.index.name, &report);
      if (status.code() != StatusCode::kNotFound) RETURN_IF_ERROR(status);
    }
    database_.memory->heap().Freed(report.bytes);
  }
  RETURN_IF_ERROR(VerifySnapshots(&run));
  return report;
}

Result<VerifyReport> EngineImpl::VerifyIndex(std::string_view table, std::string_view index) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  ASSIGN_OR_RETURN(const TableView view, ViewOf({}, table));
  VerifyReport report;
  if (view.table->FindGlobal(index) != nullptr) {
    RETURN_IF_ERROR(VerifyGlobalIndex(table, index, &report));
    return report;
  }
  const format::IndexRecord* const record = view.table->FindIndex(index);
  if (record == nullptr) return IndexNotFound(*view.table, index);
  RETURN_IF_ERROR(engine::VerifyIndex(read_resources(), view, *record, &report));
  database_.memory->heap().Freed(report.bytes);
  return report;
}

IndexStatistics EngineImpl::StatisticsOfGlobal(const format::TableRecord& table,
                                               const format::GlobalIndexRecord& global) const {
  IndexStatistics found;
  found.reads = index_reads_->Of(table.id, global.index.id);
  const std::shared_ptr<const Table> entries = database_.regions->Find(global.entries);
  if (entries == nullptr) return found;
  for (const auto& region : entries->regions) {
    const std::shared_ptr<const RegionVersion> version = region->version();
    for (const FileSlice& slice : version->files) {
      ++found.files;
      found.entries += slice.high - slice.low;
      found.size_bytes += slice.file->store().size_bytes();
    }
  }
  return found;
}

Result<IndexStatistics> EngineImpl::GetIndexStatistics(std::string_view table,
                                                       std::string_view index,
                                                       const std::atomic<bool>* cancelled) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  ASSIGN_OR_RETURN(const TableView view, ViewOf({}, table));
  if (const format::GlobalIndexRecord* global = view.table->FindGlobal(index); global != nullptr) {
    return StatisticsOfGlobal(*view.table, *global);
  }
  const format::IndexRecord* const record = view.table->FindIndex(index);
  if (record == nullptr) return IndexNotFound(*view.table, index);
  ASSIGN_OR_RETURN(IndexStatistics found,
                   MeasureIndex(view, *record, base::Cancellation(cancelled)));
  found.reads = index_reads_->Of(view.table->id, record->id);
  return found;
}

}  // namespace tandem::engine

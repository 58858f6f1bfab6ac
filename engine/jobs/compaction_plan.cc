// The same choices as the compactor's (engine/jobs/compactor.cc), applied to descriptions of the
// runs. A region of more runs than one merge takes is merged in several steps; what a step would
// write counts in full in the next.
#include "engine/jobs/compaction_plan.h"

#include <algorithm>
#include <optional>

#include "compaction/pick.h"
#include "engine/region/expiry.h"
#include "engine/region/region_runs.h"

namespace tandem::engine {
namespace {

using compaction::RunDescription;

MergePlan PlanOfRuns(const RegionRuns& runs, compaction::RunRange range) {
  MergePlan plan{.runs = range.end - range.first,
                 .files = runs.firsts[range.end] - runs.firsts[range.first]};
  for (size_t i = range.first; i < range.end; ++i) {
    plan.rows += runs.described[i].rows;
    plan.read_bytes += runs.described[i].bytes;
  }
  plan.written_bytes_max = plan.space_bytes_max = plan.read_bytes;
  return plan;
}

// All runs become one. The inputs of a step go before the next step begins.
MergePlan PlanOfAll(const RegionRuns& runs) {
  MergePlan plan = PlanOfRuns(runs, {0, runs.described.size()});
  std::vector<RunDescription> left = runs.described;
  const compaction::MergePolicy policy{.runs_max = compaction::kMergeRunsMax};
  while (left.size() > compaction::kMergeRunsMax) {
    const auto range = compaction::PickMerge(left, policy);
    if (!range.has_value()) break;
    RunDescription sum;
    for (size_t i = range->first; i < range->end; ++i) {
      sum.bytes += left[i].bytes;
      sum.rows += left[i].rows;
      sum.deletes += left[i].deletes;
    }
    plan.read_bytes += sum.bytes;
    plan.written_bytes_max += sum.bytes;
    const auto first = left.begin() + static_cast<ptrdiff_t>(range->first);
    left.erase(first + 1, left.begin() + static_cast<ptrdiff_t>(range->end));
    *(left.begin() + static_cast<ptrdiff_t>(range->first)) = sum;
  }
  return plan;
}

}  // namespace

// Files that have expired go first.
CompactionPlan PlanOf(const RegionVersion& region, format::TableId table,
                      const format::Catalog& catalog, const PlanPoint& point) {
  CompactionPlan plan;
  plan.region_id = region.id.value;
  plan.start_key = region.start_key;
  plan.runs = RunCount(region);
  plan.files = region.files.size();
  plan.bytes = BytesOf(region.files);
  const Expiry expiry = ExpiryOf(region, catalog.tables.at(table), point.now_micros);
  plan.expired_files = expiry.files.size();
  plan.expired_bytes = BytesOf(FilesAt(region, expiry.files));
  const RegionVersion merged = WithoutFiles(region, expiry.files);
  const RegionRuns runs = RunsOf(merged);
  const auto due = compaction::PickMerge(runs.described, {.runs_max = point.runs_max});
  if (due.has_value()) plan.due = PlanOfRuns(runs, WidenedToWhole(merged, runs, *due));
  if (!merged.files.empty()) plan.full = PlanOfAll(runs);
  for (const auto& memstore : region.memstores) plan.flushed_bytes += memstore->size_bytes();
  for (const FileSlice& slice : region.files) {
    const format::StoreFile& store = slice.file->store();
    const bool is_whole = slice.low == 0 && slice.high == store.row_count();
    const bool is_kept = catalog.snapshot_files.contains(store.number());
    if (is_whole && !is_kept) plan.freed_bytes += store.size_bytes();
  }
  return plan;
}

}  // namespace tandem::engine

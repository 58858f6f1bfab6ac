// Unique indexes (rule 27): no two rows have the same entry after a batch. Two steps
// (docs/decisions/0039-unique-indexes-ask-before-the-queue.md):
//   1. FindHolders, on the writer's thread, before it queues: the batch is tried at a sequence, and
//      the rows that have its new entries there are looked for by index. A row outside the batch
//      that has one is a violation, and nothing is queued.
//   2. CheckEntries, by the commit leader, without I/O, when the batch is completed: its rows must
//      differ, each new entry must be one that was looked for, and no row may have got it since.
//      Else the writer looks again.
// What the batch takes from its own rows is free: each row of it is judged by its state after it.
#pragma once

#include <functional>
#include <memory>

#include "engine/commit/complete_write.h"
#include "engine/commit/recent_entries.h"
#include "engine/commit/write_plan.h"
#include "engine/region/region_set.h"
#include "engine/region/snapshots.h"
#include "engine/runtime/time_source.h"
#include "engine/source/read_resources.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
struct HolderSearch {
  const RegionSet* regions = nullptr;
  TimeSource* time = nullptr;
  std::function<ReadResources()> resources;
};

/// Fills `plan.read_set.entries`, or sets `plan.read_set.violation`. `registration`: of
/// `plan.read_set.visible`. `timestamp`: that of the batch if it commits now. Sets `plan.is_stale`
/// if a table or an index is gone. Requires: ReadFiles. Errors: kCorruption, kIoError. What else is
/// wrong with the batch is left to CompleteWrite.
Status FindHolders(const HolderSearch& search,
                   const std::shared_ptr<const SnapshotRegistry::Registration>& registration,
                   int64_t timestamp, WritePlan* plan);

/// Whether the completed batch may be committed at `point`; if so, notes its new entries. kMoved: a
/// new entry was not looked for, or a row has got it since. Requires: nothing is written meanwhile.
/// Errors: kAlreadyExists.
Result<Completion::Outcome> CheckEntries(const CompletionPoint& point, const WritePlan& plan,
                                         RecentEntries* recent);

}  // namespace tandem::engine

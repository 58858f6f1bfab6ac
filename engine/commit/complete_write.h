// Writes whose operations depend on what is stored: DeleteCell (rule 3), increments, appends, and
// batches with a condition. Three steps (docs/decisions/0023-files-are-read-before-the-queue.md):
//   1. ReadFiles, on the writer's thread, before it queues: the cells of the columns that the write
//      depends on, as far as files hold them. Reads of different writers overlap.
//   2. CompleteWrite, by the commit leader: if a memstore of the row went into a file since, what
//      was read is too little, and the writer reads again. Otherwise the other cells are in
//      memstores and in earlier requests of the group, where they are found without I/O.
//   3. What is logged and applied are the cells that come out. Replay reads and completes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/commit/group_writes.h"
#include "engine/commit/write_plan.h"
#include "engine/region/region_set.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Fills `plan.read_set` with what files hold now. `visible`: the last sequence that is visible
/// before, registered if the plan has `unique_rows`. Sets `plan.is_stale` if a table is gone.
/// Errors: kCorruption, kIoError.
Status ReadFiles(const RegionSet& regions, format::SequenceNumber visible, WritePlan* plan);

/// Where and when a write takes effect.
struct CompletionPoint {
  format::SequenceNumber first;          ///< Of its first operation.
  int64_t timestamp = 0;                 ///< The batch's.
  int64_t now_micros = 0;                ///< For TTL.
  const GroupWrites* earlier = nullptr;  ///< Of the same group.
  /// ReadFiles was called by the leader, so what it pinned is the newest, and a value may be read.
  bool reads_alone = false;
  /// What is seen. With another than the latest, the plan is only tried (TryWrite).
  format::SequenceNumber sequence = format::kSequenceMax;

  bool is_trial() const { return sequence != format::kSequenceMax; }
};

struct Completion {
  enum class Outcome : uint8_t {
    kComplete,
    kMoved,    ///< A memstore that holds rows of the read set went into a file; or an entry of
               ///< a unique index was made that the batch makes too.
    kTooLong,  ///< A value has to be read that ReadFiles did not expect.
    kUnlogged  ///< It depends on operations that are in no log and in no file.
  };
  Outcome outcome = Outcome::kComplete;
  bool entries_moved = false;       ///< For kMoved: an entry of a unique index.
  bool caught_up = false;           ///< It depends on what was committed after ReadFiles,
  bool caught_up_in_group = false;  ///< by an earlier request of the same group.
  std::vector<Region*> unlogged;    ///< For kUnlogged, to be flushed: each once.
};

/// Encodes the operations of `plan.unresolved` into `plan.batch`, and sets `plan.holds` and
/// `plan.values`. Operations that change nothing are left out: a DeleteCell that hits nothing
/// visible, and all if the condition does not hold. Requires: nothing is written meanwhile;
/// `plan.tables` are current. Errors: kInvalidArgument (an increment of what is no integer, or past
/// int64; a result that is too long or does not fit its index; the batch becomes too large),
/// kCorruption, kIoError.
Result<Completion> CompleteWrite(const CompletionPoint& point, WritePlan* plan);

/// Sets `plan.entries` and `plan.holds` to what CompleteWrite would if the batch committed right
/// after `plan.read_set.visible`. Requires: ReadFiles. Errors: as CompleteWrite. Threads: any.
Status TryWrite(int64_t timestamp, int64_t now_micros, WritePlan* plan);

}  // namespace tandem::engine

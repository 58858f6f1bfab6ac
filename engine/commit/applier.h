// Applies the operations of a logged group to the memstores, at commit and at recovery.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/region/region_set.h"
#include "format/frame.h"
#include "format/types.h"
#include "tandem/status.h"
#include "wal/operation.h"

namespace tandem::engine {

/// Threads: one at a time (the commit leader, or recovery).
class GroupApplier {
 public:
  /// `regions` outlives this. `next_table`: a smaller id that no table has is that of a dropped
  /// one, whose operations a replay skips.
  explicit GroupApplier(const RegionSet* regions, format::TableId next_table = format::TableId(0))
      : regions_(regions), next_table_(next_table) {}

  /// Applies the operations of a group that this process encoded.
  Status Apply(std::string_view payload, format::SequenceNumber first, int64_t timestamp);
  /// Applies a frame of the log: checks each operation as a write would, and skips operations that
  /// are already in store files, or on tables that were dropped. Errors: kCorruption.
  Status Replay(const format::Frame& frame);
  /// Whether a replayed frame holds an operation that is in no store file.
  bool IsNeeded(const format::Frame& frame);

  /// What was done since the last call.
  struct Applied {
    std::vector<Region*> regions;  ///< Those that took operations, each once, by id.
    uint64_t bytes = 0;            ///< Of payload.
    int64_t last_timestamp = 0;    ///< Of the last batch that was replayed.
  };
  Applied TakeApplied();
  /// A table has other regions than before.
  void ForgetTables() { table_ = nullptr; }

 private:
  Status ApplyOperations(wal::GroupReader* reader, bool replay);
  Result<bool> FindTable(format::TableId id);

  const RegionSet* regions_;
  const format::TableId next_table_;
  std::shared_ptr<const Table> table_;  // The last one used.
  Applied applied_;
};

}  // namespace tandem::engine

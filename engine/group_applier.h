// From the bytes of a logged group into the memstores: the same way at commit and at recovery.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/region_set.h"
#include "format/types.h"
#include "tandem/status.h"
#include "wal/operation.h"

namespace tandem::engine {

/// Threads: one at a time (the commit leader, or recovery).
class GroupApplier {
 public:
  /// `regions` outlives this.
  explicit GroupApplier(const RegionSet* regions) : regions_(regions) {}

  /// Applies the operations of a group that this process encoded.
  Status Apply(std::string_view payload, format::SequenceNumber first, int64_t timestamp);
  /// Applies what a log holds: everything is checked as a write would be, and operations that are
  /// in files are skipped. Errors: kCorruption.
  Status Replay(std::string_view payload, format::SequenceNumber first, int64_t timestamp);

  /// Regions that took operations since the last call.
  std::vector<Region*> TakeTouched();

 private:
  Status ApplyOperations(wal::GroupReader* reader, bool replay);
  Status FindTable(format::TableId id);

  const RegionSet* regions_;
  std::shared_ptr<const Table> table_;  // The last one used.
  std::vector<Region*> touched_;        // Each once.
};

}  // namespace tandem::engine

// Opening: the catalog becomes tables and regions, the log refills their memstores, the store files
// are attached.
//
// Steps: (1) the catalog's tables and regions are made, still without files; (2) each logged
// operation that is not in its region's files is applied to the region that holds its key; (3) the
// files that the catalog names are opened and attached to the regions; (4) unless the open is
// read-only, the storage starts and makes the first writes. So an open that fails because of what
// it read has not changed a byte.
#pragma once

#include <memory>
#include <string>

#include "base/memory_account.h"
#include "engine/commit/segment_tracker.h"
#include "engine/region/region_set.h"
#include "engine/region/store_files.h"
#include "engine/runtime/environment.h"
#include "engine/runtime/health.h"
#include "engine/runtime/time_source.h"
#include "engine/storage/storage.h"
#include "format/types.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

struct RecoveryOptions {
  std::string path;
  bool create_if_missing = false;
  bool read_only = false;
  Tuning tuning;
  Environment environment;
  const format::FunctionRegistry* functions = nullptr;  ///< Outlive the result; null: none.
};

/// A recovered database, before background work starts. Members are destroyed in the right order:
/// regions before files before storage, and the memory account last.
struct RecoveredDatabase {
  std::unique_ptr<base::MemoryAccount> memory = std::make_unique<base::MemoryAccount>();
  OpenedStorage opened;
  std::unique_ptr<StoreFiles> files;
  std::unique_ptr<RegionSet> regions;
  format::SequenceNumber last_sequence;  ///< None at or below it is assigned again.
};

/// Opens the database at the path and restores `time`. `health` outlives the result. Errors: as
/// OpenLocalStorage; kCorruption when a file or an operation is not what it should be.
Result<RecoveredDatabase> Recover(const RecoveryOptions& options, Health* health, TimeSource* time);

/// Seals the segments that the log had before this process; their operations are applied.
void SealOldSegments(const RecoveredDatabase& database, SegmentTracker* segments);

}  // namespace tandem::engine

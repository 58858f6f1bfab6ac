// Opening: the catalog becomes tables and regions, the log fills their memstores again, the store
// files are attached.
//
// Steps: (1) the catalog's tables and regions are made, still without files; (2) each logged
// operation that is not in its region's files is applied to the region that holds its key; (3) the
// files that the catalog names are opened and put behind the regions; (4) unless it only reads, the
// storage starts, which makes the first writes. So an open that is refused for what it read has
// left every byte as it was.
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
};

/// An opened database at rest. Members are destroyed in the right order: regions before files
/// before storage, and the account of all last.
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

/// The segments that the log had before this process: sealed, their operations applied.
void SealOldSegments(const RecoveredDatabase& database, SegmentTracker* segments);

}  // namespace tandem::engine

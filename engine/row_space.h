// What the rows of a region's files are: live, replaced, pinned, expired, deletes. Estimated from
// what the files say about themselves, or counted by reading every row.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cancellation.h"
#include "engine/region/snapshots.h"
#include "engine/region/view.h"
#include "tandem/space.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Index entries of a region's part of its files.
struct EntryCounts {
  uint64_t all = 0;
  uint64_t dead = 0;  ///< As far as is known: RegionSpace::dead_index_entries.
};
/// Reads the directories of indexes that are not in memory yet. A section that cannot be read
/// counts as empty; Verify reports what is wrong.
EntryCounts CountEntries(const format::TableRecord& table, const RegionVersion& region);

/// Shares the bytes of data blocks out among the parts of `space`, as their own sizes are.
void ShareOut(uint64_t data_bytes, RegionSpace* space);

// The next two leave table and region id empty, and need ShareOut.
/// The estimate. Time and reads: in proportion to the number of files and indexes.
RegionSpace EstimateSpace(const format::TableRecord& table, const RegionVersion& region,
                          int64_t now_micros);

struct SpaceReader {
  int64_t now_micros = 0;
  SnapshotRegistry::RetentionPoint retained;  ///< What open snapshots and cursors see.
  base::Cancellation cancellation;
};
/// Reads every row of the region's files, past the block cache. Memory does not grow with the
/// sizes of rows. Errors: kCorruption, kIoError, kCancelled.
Result<RegionSpace> MeasureSpace(const format::TableRecord& table, const RegionVersion& region,
                                 const SpaceReader& reader);

}  // namespace tandem::engine

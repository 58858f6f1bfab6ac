// Scans of ranges of keys: of all their regions at once, or of a few after the other.
//
// A scan of few regions pins them all before it returns its first row. One of many pins a part of
// them when it gets there, and has released the parts before: a scan that ends early looks at the
// regions that it returns rows of, and no file stays on disk longer than the scan needs it. What it
// returns is the same, as long as each part is pinned at the sequence and time of the first, and
// both are registered meanwhile (docs/decisions/0021). So is one of many ranges, a few at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/predicate/key_ranges.h"
#include "engine/read/row_source.h"
#include "engine/region/view.h"
#include "engine/source/read_context.h"
#include "engine/source/read_meter.h"
#include "engine/source/read_resources.h"
#include "engine/source/sources.h"
#include "index/key.h"
#include "tandem/database.h"

namespace tandem::engine {

/// Adds the bytes of the clusters' blocks to `*bytes`. Returns whether blocks of a read of that
/// many bytes may fill the cache; `*bytes` need not be exact where they may not.
Result<bool> FitsCache(const ReadResources& resources, const std::vector<Cluster>& clusters,
                       uint64_t* bytes);

/// The keys that the scan asks for; none: nothing.
KeyRanges RowsOf(const ScanOptions& scan);
/// A part of a scan has clusters for this many ranges.
inline constexpr size_t kPartRangesMax = 64;

/// What one scan is asked for. Its snapshot is not looked at, nor its keys.
struct ScanRequest {
  const ReadResources& resources;
  const ReadOptions& options;
  const ScanOptions& scan;  ///< Without tokens.
  ReadLimits limits;
  bool is_whole = false;  ///< No other scan reads a part of what is asked for.
};

/// Whether the budget of the read allows to look at every row of the clusters, as far as that is
/// known before. Errors: kOverBudget, kCorruption, kIoError.
Status CheckScanCost(const ReadContext& context, const std::vector<Cluster>& clusters);

/// The scan of `rows` in the regions of `view` alone. `*bytes`: what the read has scanned; is added
/// to. `*passed` (may be null; outlives the scan) counts the rows of the offset that were passed
/// over.
Result<std::unique_ptr<RowSource>> ScanView(const ScanRequest& request, const KeyRanges& rows,
                                            TableView view, uint64_t* bytes,
                                            uint64_t* passed = nullptr);

/// Regions that a scan asks for.
struct RegionsWanted {
  std::span<const format::KeyRange> rows;  ///< At least one, none empty.
  size_t regions_max = 1;                  ///< The first ones that hold keys of `rows`,
  bool from_end = false;                   ///< or the last ones.
};
/// Pins them: always at the same point, which is registered while the function lives. Errors: any;
/// the scan ends with it.
using PinRegions = std::function<Result<TableView>(const RegionsWanted&)>;

/// The scan of all regions, `regions_first` of them at first, then more and more. Errors: those of
/// the first part. Requires: it asks for some keys.
Result<std::unique_ptr<RowSource>> ScanInParts(const ScanRequest& request, PinRegions pin,
                                               size_t regions_first);

}  // namespace tandem::engine

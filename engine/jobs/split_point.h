// Where a region may be split, and what then lies on either side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/region/view.h"
#include "format/schema.h"
#include "tandem/region.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The files of a region with rows before a key, and with rows from it on, each cut there.
struct CutFiles {
  std::vector<FileSlice> left, right;
};

/// What lies before a key and from it on, memstores included.
struct Sides {
  RegionHalf left, right;  ///< Without ids.
};

/// A row that has at least half of the region's rows before it, about, and at least one; rows count
/// as in RegionHalf. Errors: kInvalidArgument (fewer than two rows); those of
/// reading.
Result<std::string> FindMiddle(const RegionVersion& version);
/// Both require: the key is inside the region's range. Errors: those of reading.
Result<CutFiles> CutFilesAt(const RegionVersion& version, std::string_view key);
Result<Sides> SidesOf(const RegionVersion& version, const format::TableRecord& table,
                      std::string_view key);
/// What the region holds, memstores included, without its id.
RegionHalf SizeOf(const RegionVersion& version, const format::TableRecord& table);

}  // namespace tandem::engine

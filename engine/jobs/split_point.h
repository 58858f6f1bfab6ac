// Where a region may be split, and what then lies on either side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/region/view.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A row that several sources hold counts in each of them. A file's bytes are shared by rows.
struct SideSize {
  uint64_t rows = 0, bytes = 0;
};

/// The files of a region with rows before a key, and with rows from it on, each cut there.
struct CutFiles {
  std::vector<FileSlice> left, right;
};

/// What lies before a key and from it on, memstores included.
struct Sides {
  SideSize left, right;
};

/// A row that has at least half of the region's rows before it, about, and at least one; rows count
/// as in SideSize. Errors: kInvalidArgument (fewer than two rows); those of
/// reading.
Result<std::string> FindMiddle(const RegionVersion& version);
/// Both require: the key is inside the region's range. Errors: those of reading.
Result<CutFiles> CutFilesAt(const RegionVersion& version, std::string_view key);
Result<Sides> SidesOf(const RegionVersion& version, std::string_view key);
/// What the region holds, memstores included.
SideSize SizeOf(const RegionVersion& version);

}  // namespace tandem::engine

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

/// The rows of a region before a key and from it on.
struct Sides {
  std::vector<FileSlice> left_files, right_files;  ///< Those with rows on that side, as cut.
  SideSize left, right;                            ///< With memstores.
};

/// A row of the largest source that has about half of the region's rows before it, and at least
/// one; rows count as in SideSize. Errors: kInvalidArgument (fewer than two rows); those of
/// reading.
Result<std::string> FindMiddle(const RegionVersion& version);
/// Requires: the key is inside the region's range. Errors: those of reading.
Result<Sides> SidesOf(const RegionVersion& version, std::string_view key);

}  // namespace tandem::engine

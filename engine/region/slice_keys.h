// The keys at the ends of a region's part of a file.
#pragma once

#include <cstdint>
#include <string>

#include "engine/region/view.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Both inclusive.
struct SliceKeys {
  std::string min, max;
};

/// Both read at most a block for each key. Errors: those of reading.
Result<std::string> KeyAt(format::StoreFile& file, uint32_t ordinal);
/// Requires: the slice has a row.
Result<SliceKeys> KeysOf(const FileSlice& slice);

}  // namespace tandem::engine

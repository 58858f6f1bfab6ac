// zstd, wrapped once. Decompression produces exactly the size in the block header.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// Compresses `raw` with zstd level 1 into `*out` (replaced). Returns false, leaving `*out`
/// unspecified, when the result would not be at least an eighth smaller than `raw`.
bool Compress(std::string_view raw, std::string* out);
/// Fills `raw` exactly. Errors: kCorruption (bad frame, other size, trailing bytes).
Status Decompress(std::string_view stored, std::span<char> raw);

}  // namespace tandem::format

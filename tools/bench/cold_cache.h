// Making reads cold.
#pragma once

#include <string>

namespace tandem::bench {

/// Writes every file below `path` out and has the system forget their pages, those excepted that a
/// process has mapped and touched. The page cache of other files, and so other programs of the
/// machine, are left alone.
void DropPageCache(const std::string& path);

}  // namespace tandem::bench

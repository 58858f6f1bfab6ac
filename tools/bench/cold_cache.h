// Making reads cold.
#pragma once

#include <string>

namespace tandem::bench {

/// Writes every file below `path` out and has the system forget their pages; forgets the whole page
/// cache where the process may.
void DropPageCache(const std::string& path);

}  // namespace tandem::bench

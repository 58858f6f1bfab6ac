// The space that files take on disk.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::bench {

/// Bytes of the blocks that all files below `path` occupy; holes are not counted.
uint64_t DiskSize(const std::string& path);
/// Prints it as a figure.
void PrintDiskSize(const std::string& phase, const std::string& path);

}  // namespace tandem::bench

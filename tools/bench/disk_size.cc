// See disk_size.h.
#include "tools/bench/disk_size.h"

#include <sys/stat.h>

#include <filesystem>

#include "tools/bench/measuring.h"

namespace tandem::bench {

uint64_t DiskSize(const std::string& path) {
  constexpr uint64_t kStatBlockBytes = 512;
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    struct stat status = {};
    if (!entry.is_regular_file() || stat(entry.path().c_str(), &status) != 0) continue;
    bytes += static_cast<uint64_t>(status.st_blocks) * kStatBlockBytes;
  }
  return bytes;
}

void PrintDiskSize(const std::string& phase, const std::string& path) {
  Figure figure;
  figure.phase = phase;
  figure.items = 1;
  figure.value = static_cast<double>(DiskSize(path));
  Print(figure);
}

}  // namespace tandem::bench

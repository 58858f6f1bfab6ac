// See cold_cache.h.
#include "tools/bench/cold_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace tandem::bench {

void DropPageCache(const std::string& path) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    std::FILE* file = entry.is_regular_file() ? std::fopen(entry.path().c_str(), "rb") : nullptr;
    if (file == nullptr) continue;
    // Only clean pages can be forgotten.
    (void)fsync(fileno(file));
    (void)posix_fadvise(fileno(file), 0, 0, POSIX_FADV_DONTNEED);
    std::fclose(file);
  }
}

}  // namespace tandem::bench

// See cold_cache.h.
#include "tools/bench/cold_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace tandem::bench {

void DropPageCache(const std::string& path) {
  sync();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    std::FILE* file = entry.is_regular_file() ? std::fopen(entry.path().c_str(), "rb") : nullptr;
    if (file == nullptr) continue;
    (void)posix_fadvise(fileno(file), 0, 0, POSIX_FADV_DONTNEED);
    std::fclose(file);
  }
  // Pages that are mapped stay otherwise. Only root may, so a failure is fine.
  if (std::FILE* control = std::fopen("/proc/sys/vm/drop_caches", "w"); control != nullptr) {
    std::fputs("3", control);
    std::fclose(control);
  }
}

}  // namespace tandem::bench

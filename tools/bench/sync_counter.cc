// See sync_counter.h. The calls are defined here, in the program, which the dynamic linker prefers
// to those of the C library for every library of the process. Each counts and calls the kernel.
#include "tools/bench/sync_counter.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace tandem::bench {
namespace {

// Only a count: no other memory is ordered by it.
std::atomic<uint64_t>& Counter() {
  static std::atomic<uint64_t> counter;
  return counter;
}

void CountSync() { Counter().fetch_add(1, std::memory_order_relaxed); }

}  // namespace

uint64_t SyncsSoFar() { return Counter().load(std::memory_order_relaxed); }

}  // namespace tandem::bench

extern "C" int fsync(int fd) {
  tandem::bench::CountSync();
  return static_cast<int>(syscall(SYS_fsync, fd));
}

extern "C" int fdatasync(int fd) {
  tandem::bench::CountSync();
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

extern "C" int msync(void* address, size_t length, int flags) {
  tandem::bench::CountSync();
  return static_cast<int>(syscall(SYS_msync, address, length, flags));
}

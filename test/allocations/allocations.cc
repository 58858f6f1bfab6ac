// Replaces operator new and delete for the whole program.
#include "test/allocations/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace tandem::test {
namespace {

thread_local Allocations allocations;
thread_local int pauses = 0;
// Relaxed: sums, read when the threads are at rest.
std::atomic<int64_t> live_bytes = 0, peak_bytes = 0;

bool ShouldFail() {
  if (allocations.left < 0) return false;
  ++allocations.tried;
  if (allocations.left > 0) {
    --allocations.left;
    return false;
  }
  const bool fails = !allocations.has_failed || allocations.sticky;
  allocations.has_failed = true;
  return fails;
}

void* Allocate(size_t size, size_t alignment) {
  if (pauses == 0) {
    if (ShouldFail()) throw std::bad_alloc();
    ++allocations.count;
    allocations.bytes += size;
  }
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size == 0 ? 1 : size)
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const auto usable = static_cast<int64_t>(malloc_usable_size(memory));
  const int64_t now = live_bytes.fetch_add(usable, std::memory_order_relaxed) + usable;
  int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return memory;
}

void Free(void* memory) {
  live_bytes.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

Allocations& ThisThreadsAllocations() { return allocations; }

uint64_t AllocationsOf(const std::function<void()>& work) {
  const uint64_t before = allocations.count;
  work();
  return allocations.count - before;
}
int64_t LiveBytes() { return live_bytes.load(std::memory_order_relaxed); }
int64_t PeakBytes() { return peak_bytes.load(std::memory_order_relaxed); }
void ResetPeakBytes() { peak_bytes.store(LiveBytes(), std::memory_order_relaxed); }
AllocationPause::AllocationPause() { ++pauses; }
AllocationPause::~AllocationPause() { --pauses; }

}  // namespace tandem::test

void* operator new(size_t size) { return tandem::test::Allocate(size, 1); }
void* operator new[](size_t size) { return tandem::test::Allocate(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return tandem::test::Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return tandem::test::Allocate(size, static_cast<size_t>(alignment));
}
// Callers of this one can do without.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return tandem::test::Allocate(size, 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { tandem::test::Free(memory); }
void operator delete[](void* memory) noexcept { tandem::test::Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { tandem::test::Free(memory); }
void operator delete(void* memory, size_t) noexcept { tandem::test::Free(memory); }
void operator delete[](void* memory, size_t) noexcept { tandem::test::Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { tandem::test::Free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { tandem::test::Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  tandem::test::Free(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  tandem::test::Free(memory);
}

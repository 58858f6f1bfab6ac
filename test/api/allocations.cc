// Replaces operator new and delete of the program, the library's included.
#include "test/api/allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local tandem::test::Allocations allocations;

void* Allocate(size_t size, size_t alignment) {
  if (allocations.left == 0) {
    allocations.has_failed = true;
    throw std::bad_alloc();
  }
  if (allocations.left > 0) --allocations.left;
  allocations.bytes += size;
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size == 0 ? 1 : size)
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The program's own, the library's included.
void* operator new(size_t size) { return Allocate(size, 1); }
void* operator new[](size_t size) { return Allocate(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
// Whoever asks like this can do without.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return Allocate(size, 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tandem::test {

Allocations& ThisThreadsAllocations() { return allocations; }

}  // namespace tandem::test

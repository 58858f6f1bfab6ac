// AllocationsOf: the program's operator new, the library's included, counts.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "test/growth/growth.h"

namespace {

thread_local uint64_t allocations = 0;

void* Allocate(size_t size, size_t alignment) {
  ++allocations;
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size == 0 ? 1 : size)
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size, 1); }
void* operator new[](size_t size) { return Allocate(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tandem::test {

uint64_t AllocationsOf(const std::function<void()>& work) {
  const uint64_t before = allocations;
  work();
  return allocations - before;
}

}  // namespace tandem::test

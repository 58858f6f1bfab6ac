// See failing_allocations.h. Replaces the operators for the whole program, the library included.
#include "test/prove/failing_allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace tandem::prove {
namespace {

thread_local AllocationFailure failure_of_thread;
thread_local int pauses = 0;

void Count() {
  AllocationFailure& failure = failure_of_thread;
  if (pauses > 0 || failure.left < 0) return;
  ++failure.count;
  if (failure.left > 0) {
    --failure.left;
    return;
  }
  const bool fails = !failure.has_struck || failure.sticky;
  failure.has_struck = true;
  if (fails) throw std::bad_alloc();
}

void* Allocate(size_t size, size_t alignment) {
  Count();
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size == 0 ? 1 : size)
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

AllocationFailure& AllocationFailureOfThisThread() { return failure_of_thread; }
AllocationPause::AllocationPause() { ++pauses; }
AllocationPause::~AllocationPause() { --pauses; }

}  // namespace tandem::prove

void* operator new(size_t size) { return tandem::prove::Allocate(size, 1); }
void* operator new[](size_t size) { return tandem::prove::Allocate(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return tandem::prove::Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return tandem::prove::Allocate(size, static_cast<size_t>(alignment));
}
// Whoever asks like this can do without.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return tandem::prove::Allocate(size, 1);
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

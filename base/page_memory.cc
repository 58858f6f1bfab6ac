// Anonymous private mappings.
#include "base/page_memory.h"

#include <sys/mman.h>

#include <new>

#include "base/check.h"

namespace tandem::base {
namespace {

// Twice the size of a huge page: a smaller mapping often contains none.
constexpr size_t kHugeFrom = size_t{4} << 20;
// Smaller buffers are cheaper in the heap, which reuses their space.
constexpr size_t kMappedFrom = size_t{64} << 10;

}  // namespace

void UnmapPages::operator()(char* pages) const { CHECK(munmap(pages, size_bytes) == 0); }

PageMemory MapPages(size_t size_bytes, PagesComing coming) {
  const int flags =
      MAP_PRIVATE | MAP_ANONYMOUS | (coming == PagesComing::kAtOnce ? MAP_POPULATE : 0);
  void* pages = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  // A hint: mappings of this size are read in random order.
  if (size_bytes >= kHugeFrom) (void)madvise(pages, size_bytes, MADV_HUGEPAGE);
  return PageMemory(static_cast<char*>(pages), {size_bytes});
}

std::span<char> PageBuffer::Resize(size_t size_bytes) {
  if (size_bytes > capacity_bytes_) {
    Clear();
    if (size_bytes >= kMappedFrom) {
      pages_ = MapPages(size_bytes);
      data_ = pages_.get();
    } else {
      heap_ = std::make_unique_for_overwrite<char[]>(size_bytes);
      data_ = heap_.get();
    }
    capacity_bytes_ = size_bytes;
  }
  size_bytes_ = size_bytes;
  return {data_, size_bytes_};
}

void PageBuffer::Clear() {
  pages_.reset();
  heap_.reset();
  data_ = nullptr;
  size_bytes_ = capacity_bytes_ = 0;
}

}  // namespace tandem::base

// Anonymous private mappings.
#include "base/page_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"

namespace tandem::base {
namespace {

// Twice the size of a huge page: a smaller mapping often contains none.
constexpr size_t kHugeFrom = size_t{4} << 20;
constexpr size_t kGrowingMappedFrom = size_t{256} << 10;

char* Checked(void* pages) {
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(pages);
}

char* Map(size_t size_bytes, int flags) {
  return Checked(mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));
}

}  // namespace

void UnmapPages::operator()(char* pages) const { CHECK(munmap(pages, size_bytes) == 0); }

PageMemory MapPages(size_t size_bytes, PagesComing coming) {
  char* const pages = Map(size_bytes, coming == PagesComing::kAtOnce ? MAP_POPULATE : 0);
  // A hint: mappings of this size are read in random order.
  if (size_bytes >= kHugeFrom) (void)madvise(pages, size_bytes, MADV_HUGEPAGE);
  return PageMemory(pages, {size_bytes});
}

void BringPages(void* pages, size_t size_bytes) {
  (void)madvise(pages, size_bytes, MADV_POPULATE_WRITE);  // An older kernel faults them in later.
}

std::span<char> PageBuffer::Resize(size_t size_bytes, PagesComing coming) {
  if (size_bytes > capacity_bytes_) {
    Clear();
    if (size_bytes >= kMappedFrom) {
      pages_ = MapPages(size_bytes, coming);
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

GrowingPages::~GrowingPages() {
  if (size_bytes_ < kGrowingMappedFrom) {
    ::operator delete(data_);
  } else {
    CHECK(munmap(data_, size_bytes_) == 0);
  }
}

GrowingPages::GrowingPages(GrowingPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

GrowingPages& GrowingPages::operator=(GrowingPages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

void GrowingPages::Grow(size_t size_bytes) {
  DCHECK(size_bytes > size_bytes_);
  if (size_bytes_ >= kGrowingMappedFrom) {
    data_ = Checked(mremap(data_, size_bytes_, size_bytes, MREMAP_MAYMOVE));
    size_bytes_ = size_bytes;
    return;
  }
  char* const larger = size_bytes < kGrowingMappedFrom
                           ? static_cast<char*>(::operator new(size_bytes))
                           : Map(size_bytes, 0);
  if (size_bytes_ > 0) std::memcpy(larger, data_, size_bytes_);
  ::operator delete(data_);
  data_ = larger;
  size_bytes_ = size_bytes;
}

}  // namespace tandem::base

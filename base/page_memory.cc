// Anonymous private mappings.
#include "base/page_memory.h"

#include <sys/mman.h>

#include <new>

#include "base/check.h"

namespace tandem::base {
namespace {

// Twice the size of a huge page: less would often have none.
constexpr size_t kHugeFrom = size_t{4} << 20;

}  // namespace

void UnmapPages::operator()(char* pages) const { CHECK(munmap(pages, size_bytes) == 0); }

PageMemory MapPages(size_t size_bytes, PagesComing coming) {
  const int flags =
      MAP_PRIVATE | MAP_ANONYMOUS | (coming == PagesComing::kAtOnce ? MAP_POPULATE : 0);
  void* pages = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  // Advice: whoever maps so much meets it in random order.
  if (size_bytes >= kHugeFrom) (void)madvise(pages, size_bytes, MADV_HUGEPAGE);
  return PageMemory(static_cast<char*>(pages), {size_bytes});
}

}  // namespace tandem::base

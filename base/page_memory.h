// Memory straight from the system, for large blocks of uneven lifetimes: what is freed goes back at
// once, where a heap keeps it between blocks that live on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tandem::base {

struct UnmapPages {
  size_t size_bytes = 0;
  void operator()(char* pages) const;
};
/// Zeroed, aligned to a page.
using PageMemory = std::unique_ptr<char, UnmapPages>;

/// When the system has to give the pages.
enum class PagesComing : uint8_t {
  kWhenTouched,
  kAtOnce,  ///< All are written soon: cheaper than one after the other, the more so where each is
            ///< read first.
};
/// `size_bytes` are rounded up to whole pages by the system. Throws std::bad_alloc, as new does.
PageMemory MapPages(size_t size_bytes, PagesComing coming = PagesComing::kWhenTouched);

}  // namespace tandem::base

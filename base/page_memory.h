// Memory straight from the system, for large blocks of uneven lifetimes: what is freed goes back at
// once, where a heap keeps it between blocks that live on.
#pragma once

#include <cstddef>
#include <memory>

namespace tandem::base {

struct UnmapPages {
  size_t size_bytes = 0;
  void operator()(char* pages) const;
};
/// Zeroed, aligned to a page.
using PageMemory = std::unique_ptr<char, UnmapPages>;

/// `size_bytes` are rounded up to whole pages by the system. Throws std::bad_alloc, as new does.
PageMemory MapPages(size_t size_bytes);

}  // namespace tandem::base

// Memory straight from the system, for large blocks of uneven lifetimes: what is freed goes back at
// once, where a heap keeps it between blocks that live on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

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

/// A buffer that is filled again and again: of pages, which it keeps, where it is large, so that
/// nothing stays behind in the heap when it goes. Threads: one at a time.
class PageBuffer {
 public:
  /// Makes it `size_bytes` long. What was in it is lost. Throws std::bad_alloc.
  std::span<char> Resize(size_t size_bytes);
  /// Gives up what is longer than `size_bytes`, which it is long at most.
  void Truncate(size_t size_bytes) { size_bytes_ = size_bytes; }
  /// Frees it.
  void Clear();

  char* data() const { return data_; }
  size_t size() const { return size_bytes_; }
  std::string_view view() const { return {data_, size_bytes_}; }
  /// What it takes.
  size_t memory_bytes() const { return capacity_bytes_; }

 private:
  PageMemory pages_;
  std::unique_ptr<char[]> heap_;
  char* data_ = nullptr;
  size_t size_bytes_ = 0, capacity_bytes_ = 0;
};

}  // namespace tandem::base

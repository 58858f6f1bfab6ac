// Memory directly from the system, for large blocks with varying lifetimes. Freed memory is
// returned at once, whereas a heap would keep it between live blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tandem::base {

struct UnmapPages {
  size_t size_bytes = 0;
  void operator()(char* pages) const;
};
/// Zeroed, aligned to a page.
using PageMemory = std::unique_ptr<char, UnmapPages>;

/// When the system allocates the pages.
enum class PagesComing : uint8_t {
  kWhenTouched,
  kAtOnce,  ///< For pages that are all written soon: cheaper than faulting them in one by one,
            ///< even more so if each is read first.
};
/// The system rounds `size_bytes` up to whole pages. Throws std::bad_alloc, as new does.
PageMemory MapPages(size_t size_bytes, PagesComing coming = PagesComing::kWhenTouched);

/// Has the system allocate the pages of a mapping now, if it can: see PagesComing::kAtOnce.
void BringPages(void* pages, size_t size_bytes);

/// The least size in bytes of what has pages of its own: the heap reuses the space of less.
inline constexpr size_t kMappedFrom = size_t{64} << 10;

/// Of vectors that may be large and live long: freed, such a vector leaves no hole in the heap.
template <typename T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <typename Other>
  PageAllocator(const PageAllocator<Other>& /*other*/) noexcept {}  // NOLINT: implicit, as std's.

  T* allocate(size_t count) {
    const size_t size_bytes = count * sizeof(T);
    if (size_bytes < kMappedFrom) return std::allocator<T>().allocate(count);
    return reinterpret_cast<T*>(MapPages(size_bytes).release());
  }
  void deallocate(T* first, size_t count) noexcept {
    const size_t size_bytes = count * sizeof(T);
    if (size_bytes < kMappedFrom) return std::allocator<T>().deallocate(first, count);
    UnmapPages{size_bytes}(reinterpret_cast<char*>(first));
  }
  template <typename Other>
  bool operator==(const PageAllocator<Other>& /*other*/) const {
    return true;
  }
};
template <typename T>
using PageVector = std::vector<T, PageAllocator<T>>;

/// Makes room for `count` values in the empty vector; its pages come at once.
template <typename T>
void ReserveAtOnce(size_t count, PageVector<T>* vector) {
  vector->reserve(count);
  const size_t size_bytes = count * sizeof(T);
  if (size_bytes >= kMappedFrom) BringPages(vector->data(), size_bytes);
}

/// A reusable buffer. A large one is made of pages, so that it leaves nothing in the heap when it
/// is freed. Threads: one at a time.
class PageBuffer {
 public:
  /// Makes it `size_bytes` long and discards its content. Throws std::bad_alloc.
  std::span<char> Resize(size_t size_bytes, PagesComing coming = PagesComing::kWhenTouched);
  /// Shortens it to `size_bytes`. Requires: it is at least that long.
  void Truncate(size_t size_bytes) { size_bytes_ = size_bytes; }
  /// Frees it.
  void Clear();

  char* data() const { return data_; }
  size_t size() const { return size_bytes_; }
  std::string_view view() const { return {data_, size_bytes_}; }
  /// Bytes allocated.
  size_t memory_bytes() const { return capacity_bytes_; }

 private:
  PageMemory pages_;
  std::unique_ptr<char[]> heap_;
  char* data_ = nullptr;
  size_t size_bytes_ = 0, capacity_bytes_ = 0;
};

/// A block that grows without being copied: the system moves its pages. Small, it lies in the heap.
/// Large, it has pages of its own, which the system provides as they are touched. Threads: one at a
/// time.
class GrowingPages {
 public:
  GrowingPages() = default;
  ~GrowingPages();
  GrowingPages(GrowingPages&& other) noexcept;
  GrowingPages& operator=(GrowingPages&& other) noexcept;

  /// Makes it `size_bytes` long, and may move it. Requires: that is longer than it is. Throws
  /// std::bad_alloc, and is unchanged then.
  void Grow(size_t size_bytes);
  /// Aligned as memory of new is.
  char* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }

 private:
  char* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace tandem::base

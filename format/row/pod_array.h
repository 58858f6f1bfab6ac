// An array that is written at its end in hot loops: what is added is not initialized, and costs one
// comparison.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace tandem::format {

/// Threads: one at a time. Lifetime: what it holds moves when it grows.
template <typename T>
class PodArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Elements that it has room for.
  size_t capacity() const { return capacity_; }
  const T* data() const { return elements_.get(); }
  T* data() { return elements_.get(); }
  std::span<const T> all() const { return {data(), size_}; }

  /// Adds `count` elements of unknown content and returns the first. Throws std::bad_alloc.
  T* Extend(size_t count) {
    if (count > capacity_ - size_) [[unlikely]]
      Reserve(std::max(size_ + count, 2 * capacity_));
    T* const added = elements_.get() + size_;
    size_ += count;
    return added;
  }
  /// Cuts it to the first `size` elements. Requires: it has as many.
  void Truncate(size_t size) { size_ = size; }
  void Clear() { size_ = 0; }
  /// Throws std::bad_alloc.
  void Reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    std::unique_ptr<T, Free> larger(static_cast<T*>(::operator new(capacity * sizeof(T))));
    if (size_ > 0) std::memcpy(static_cast<void*>(larger.get()), data(), size_ * sizeof(T));
    elements_ = std::move(larger);
    capacity_ = capacity;
  }

 private:
  struct Free {
    void operator()(T* elements) const { ::operator delete(static_cast<void*>(elements)); }
  };

  std::unique_ptr<T, Free> elements_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace tandem::format

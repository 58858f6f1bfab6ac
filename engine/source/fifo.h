// A queue in one piece of memory. std::deque allocates a block for every few large elements, and
// one for an empty queue.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tandem::engine {

/// Elements are default-constructible. Lifetime: a reference to an element is valid until the queue
/// changes. Threads: one at a time.
template <typename T>
class Fifo {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  /// Requires: i < size().
  T& operator[](size_t i) { return slots_[SlotOf(i)]; }
  /// Requires: !empty().
  const T& front() const { return slots_[first_]; }

  T& push_back(T element) {
    if (size_ == slots_.size()) Grow();
    T& slot = slots_[SlotOf(size_++)];
    slot = std::move(element);
    return slot;
  }
  /// Requires: !empty().
  T pop_front() {
    const size_t slot = first_;
    first_ = SlotOf(1);
    --size_;
    return std::move(slots_[slot]);
  }

 private:
  static constexpr size_t kFirstSlots = 8;

  size_t SlotOf(size_t i) const { return (first_ + i) & (slots_.size() - 1); }
  void Grow() {
    std::vector<T> slots(std::max(kFirstSlots, 2 * slots_.size()));
    for (size_t i = 0; i < size_; ++i) slots[i] = std::move((*this)[i]);
    slots_ = std::move(slots);
    first_ = 0;
  }

  std::vector<T> slots_;  // A ring: their number is a power of two.
  size_t first_ = 0, size_ = 0;
};

}  // namespace tandem::engine

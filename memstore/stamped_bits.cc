// Copying a set; the rest is inline.
#include "memstore/stamped_bits.h"

namespace tandem::engine {

StampedBits::StampedBits(const StampedBits& other, uint32_t size) : StampedBits(size) {
  for (uint64_t i = 0; i < GroupsFor(other.size_); ++i) {
    const Group& from = other.groups_[i];
    groups_[i].newest.store(from.newest.load(std::memory_order_relaxed), std::memory_order_relaxed);
    for (size_t word = 0; word < from.words.size(); ++word) {
      groups_[i].words[word].store(from.words[word].load(std::memory_order_relaxed),
                                   std::memory_order_relaxed);
    }
  }
}

}  // namespace tandem::engine

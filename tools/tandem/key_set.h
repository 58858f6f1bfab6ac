// A set of row keys for counting the distinct ones, by a 64-bit hash each.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::tools {

/// Open addressing, at most half full: sixteen bytes a key or more. Two keys of one hash count as
/// one, which happens once in some 10^5 imports of ten million rows.
class KeySet {
 public:
  KeySet() : slots_(1024, 0) {}

  /// False when it was there already.
  bool Insert(std::string_view key) {
    if (2 * size_ >= slots_.size()) Grow();
    const uint64_t hash = std::hash<std::string_view>()(key);
    if (!Place(hash == 0 ? 1 : hash)) return false;
    ++size_;
    return true;
  }
  size_t size() const { return size_; }

 private:
  bool Place(uint64_t hash) {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    while (slots_[slot] != 0 && slots_[slot] != hash) slot = (slot + 1) & mask;
    return std::exchange(slots_[slot], hash) == 0;
  }
  void Grow() {
    const std::vector<uint64_t> old =
        std::exchange(slots_, std::vector<uint64_t>(2 * slots_.size()));
    for (const uint64_t hash : old) {
      if (hash != 0) Place(hash);
    }
  }

  std::vector<uint64_t> slots_;  ///< 0: free.
  size_t size_ = 0;
};

}  // namespace tandem::tools

// An in-memory bitmap over the rows of a file: one bit per ordinal. Its form on disk, with a rank
// directory, is in format/block/bitmap_section.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::format {

/// Threads: const methods from any.
class Bitmap {
 public:
  Bitmap() = default;
  /// `size` bits, all clear or all set.
  explicit Bitmap(uint32_t size, bool value = false);

  uint32_t size() const { return size_; }
  bool Test(uint32_t bit) const { return (words_[bit >> 6] >> (bit & 63)) & 1; }
  void Set(uint32_t bit) { words_[bit >> 6] |= uint64_t{1} << (bit & 63); }
  void Clear(uint32_t bit) { words_[bit >> 6] &= ~(uint64_t{1} << (bit & 63)); }
  uint32_t CountOnes() const;
  uint64_t memory_bytes() const { return words_.capacity() * sizeof(uint64_t); }
  bool all() const { return CountOnes() == size_; }
  /// u64[], bits beyond size() are zero.
  std::span<const uint64_t> words() const { return words_; }
  std::span<uint64_t> mutable_words() { return words_; }

 private:
  uint32_t size_ = 0;
  std::vector<uint64_t> words_;
};

/// A bitmap whose size is not known yet. Threads: one at a time.
class GrowingBitmap {
 public:
  void Set(uint32_t bit);
  /// Sets the bits [0, count). Requires: none was set.
  void SetFirst(uint32_t count);
  bool empty() const { return words_.empty(); }  ///< No bit was set.
  /// Requires: every bit that was set is below `size`.
  Bitmap ToBitmap(uint32_t size) const;

 private:
  std::vector<uint64_t> words_;
};

}  // namespace tandem::format

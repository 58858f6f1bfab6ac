// Construction and counting of bitmaps.
#include "format/bitmap.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tandem::format {

Bitmap::Bitmap(uint32_t size, bool value)
    : size_(size), words_((uint64_t{size} + 63) / 64, value ? ~uint64_t{0} : 0) {
  if (value && size % 64 != 0) words_.back() = (uint64_t{1} << (size % 64)) - 1;
}

uint32_t Bitmap::CountOnes() const {
  uint32_t ones = 0;
  for (const uint64_t word : words_) ones += static_cast<uint32_t>(std::popcount(word));
  return ones;
}

void GrowingBitmap::Set(uint32_t bit) {
  const size_t word = bit / 64;
  if (word >= words_.size()) words_.resize(word + 1);
  words_[word] |= uint64_t{1} << (bit % 64);
}

void GrowingBitmap::SetFirst(uint32_t count) {
  const Bitmap ones(count, true);
  words_.assign(ones.words().begin(), ones.words().end());
}

Bitmap GrowingBitmap::ToBitmap(uint32_t size) const {
  Bitmap bitmap(size);
  CHECK(words_.size() <= bitmap.words().size());
  std::copy(words_.begin(), words_.end(), bitmap.mutable_words().begin());
  return bitmap;
}

}  // namespace tandem::format

// Construction and counting of bitmaps.
#include "format/bitmap.h"

#include <bit>

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

}  // namespace tandem::format

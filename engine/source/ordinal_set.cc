// Chosen by density: nothing if the ordinals ascend already (one posting list), a bitmap if they
// are dense, else a sort: by comparison if they are few, by radix otherwise.
#include "engine/source/ordinal_set.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"

namespace tandem::engine {
namespace {

// With one ordinal in this many rows or more, walking the whole bitmap costs less than sorting.
constexpr uint32_t kRowsPerOrdinalMax = 100;
// Below this many, comparing costs less than counting buckets.
constexpr size_t kComparedMax = 512;
constexpr int kDigitBits = 11;
constexpr uint32_t kDigitMask = (1u << kDigitBits) - 1;

bool Rises(const std::vector<uint32_t>& ordinals) {
  return std::adjacent_find(ordinals.begin(), ordinals.end(), std::greater_equal<>()) ==
         ordinals.end();
}

void ThroughBitmap(std::vector<uint32_t>* ordinals, uint32_t row_count) {
  std::vector<uint64_t> words(row_count / 64 + 1);
  for (const uint32_t ordinal : *ordinals) {
    DCHECK(ordinal < row_count);
    words[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
  }
  size_t used = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    for (uint64_t word = words[i]; word != 0; word &= word - 1) {
      (*ordinals)[used++] = static_cast<uint32_t>(i * 64 + std::countr_zero(word));
    }
  }
  ordinals->resize(used);
}

void RadixSort(std::vector<uint32_t>* ordinals, uint32_t row_count) {
  std::vector<uint32_t> scratch(ordinals->size());
  for (int shift = 0; shift < static_cast<int>(std::bit_width(row_count)); shift += kDigitBits) {
    const auto digit = [shift](uint32_t ordinal) { return (ordinal >> shift) & kDigitMask; };
    std::array<uint32_t, kDigitMask + 1> places{};
    for (const uint32_t ordinal : *ordinals) ++places[digit(ordinal)];
    uint32_t place = 0;
    for (uint32_t& count : places) {
      const uint32_t next = place + count;
      count = place;
      place = next;
    }
    for (const uint32_t ordinal : *ordinals) scratch[places[digit(ordinal)]++] = ordinal;
    ordinals->swap(scratch);
  }
}

}  // namespace

void SortUnique(std::vector<uint32_t>* ordinals, uint32_t row_count) {
  if (Rises(*ordinals)) return;
  if (ordinals->size() >= row_count / kRowsPerOrdinalMax) {
    ThroughBitmap(ordinals, row_count);
    return;
  }
  if (ordinals->size() <= kComparedMax) {
    std::sort(ordinals->begin(), ordinals->end());
  } else {
    RadixSort(ordinals, row_count);
  }
  ordinals->erase(std::unique(ordinals->begin(), ordinals->end()), ordinals->end());
}

}  // namespace tandem::engine

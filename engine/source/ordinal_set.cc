// Sorting is chosen by density: nothing if the ordinals ascend already (one posting list), a bitmap
// if they are dense, else a sort: by comparison if they are few, by radix otherwise.
//
// An intersection tests bits if the other set is dense and much of it is tested; otherwise it
// gallops: for each member of the smaller set, steps of doubled size through the larger one end
// after its place, which a binary search in the last step finds.
#include "engine/source/ordinal_set.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "format/bitmap.h"

namespace tandem::engine {
namespace {

// With one ordinal in this many rows or more, walking the whole bitmap costs less than sorting.
constexpr uint32_t kRowsPerOrdinalMax = 100;
// A gallop through this many ordinals costs as much as setting a bit for each of them.
constexpr size_t kOthersPerGallopMin = 16;
// Below this many, comparing costs less than counting buckets.
constexpr size_t kComparedMax = 512;
constexpr int kDigitBits = 11;
constexpr uint32_t kDigitMask = (1u << kDigitBits) - 1;

bool Rises(const std::vector<uint32_t>& ordinals) {
  return std::adjacent_find(ordinals.begin(), ordinals.end(), std::greater_equal<>()) ==
         ordinals.end();
}

bool IsDense(const std::vector<uint32_t>& ordinals, uint32_t row_count) {
  return ordinals.size() >= row_count / kRowsPerOrdinalMax;
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

void KeepSet(const format::Bitmap& bits, std::vector<uint32_t>* ordinals) {
  size_t kept = 0;
  for (const uint32_t ordinal : *ordinals) {
    (*ordinals)[kept] = ordinal;  // No branch depends on whether it stays.
    kept += bits.Test(ordinal) ? 1 : 0;
  }
  ordinals->resize(kept);
}

// The first of the ascending ordinals from `from` on that is not below `sought`.
size_t GallopTo(const std::vector<uint32_t>& ordinals, size_t from, uint32_t sought) {
  size_t step = 1;
  while (from + step < ordinals.size() && ordinals[from + step] < sought) {
    from += step;
    step *= 2;
  }
  const auto begin = ordinals.begin() + static_cast<ptrdiff_t>(from);
  const auto end =
      ordinals.begin() + static_cast<ptrdiff_t>(std::min(from + step + 1, ordinals.size()));
  return static_cast<size_t>(std::lower_bound(begin, end, sought) - ordinals.begin());
}

// Both ascend. `common` may be one of them.
void IntersectByGalloping(const std::vector<uint32_t>& few, const std::vector<uint32_t>& many,
                          std::vector<uint32_t>* common) {
  common->resize(std::max(common->size(), few.size()));
  size_t kept = 0, at = 0;
  for (const uint32_t ordinal : few) {
    at = GallopTo(many, at, ordinal);
    if (at == many.size()) break;
    if (many[at] == ordinal) (*common)[kept++] = ordinal;
  }
  common->resize(kept);
}

}  // namespace

void SortUnique(std::vector<uint32_t>* ordinals, uint32_t row_count) {
  if (Rises(*ordinals)) return;
  if (IsDense(*ordinals, row_count)) {
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

void Intersect(std::vector<uint32_t> others, uint32_t row_count, std::vector<uint32_t>* ordinals) {
  const bool are_few = ordinals->size() < others.size() / kOthersPerGallopMin;
  const bool gallops = !IsDense(others, row_count) || (are_few && Rises(others));
  if (!gallops) {
    format::Bitmap bits(row_count);
    for (const uint32_t other : others) bits.Set(other);
    KeepSet(bits, ordinals);
    return;
  }
  SortUnique(&others, row_count);
  const bool are_fewer = ordinals->size() <= others.size();
  IntersectByGalloping(are_fewer ? *ordinals : others, are_fewer ? others : *ordinals, ordinals);
}

}  // namespace tandem::engine

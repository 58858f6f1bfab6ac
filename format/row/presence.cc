// Rank and select over a bitmap: a count every eight words, and the words between them.
#include "format/row/presence.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tandem::format {
namespace {

constexpr uint32_t kWordBits = 64;
constexpr uint32_t kRankWords = 8;

}  // namespace

Presence::Presence(Bitmap rows) : rows_(std::move(rows)) {
  const auto words = rows_.words();
  uint32_t ones = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i % kRankWords == 0) ranks_.push_back(ones);
    ones += static_cast<uint32_t>(std::popcount(words[i]));
  }
  ranks_.push_back(ones);
}

uint32_t Presence::RankOf(uint32_t ordinal) const {
  const auto words = rows_.words();
  const uint32_t word = ordinal / kWordBits;
  uint32_t rank = ranks_[word / kRankWords];
  for (uint32_t i = word - word % kRankWords; i < word; ++i) {
    rank += static_cast<uint32_t>(std::popcount(words[i]));
  }
  const uint32_t bit = ordinal % kWordBits;  // 0 when the ordinal is after the last word.
  if (bit == 0) return rank;
  return rank + static_cast<uint32_t>(std::popcount(words[word] << (kWordBits - bit)));
}

uint32_t Presence::OrdinalOf(uint32_t position) const {
  const auto words = rows_.words();
  const auto above = std::upper_bound(ranks_.begin(), ranks_.end() - 1, position);
  uint32_t left = position - *(above - 1);  // Ones to skip after that rank.
  auto word = static_cast<uint32_t>(above - 1 - ranks_.begin()) * kRankWords;
  for (;; ++word) {
    const auto ones = static_cast<uint32_t>(std::popcount(words[word]));
    if (left < ones) break;
    left -= ones;
  }
  uint64_t bits = words[word];
  for (; left > 0; --left) bits &= bits - 1;
  return word * kWordBits + static_cast<uint32_t>(std::countr_zero(bits));
}

}  // namespace tandem::format

// A rank in a dense set is counted from the start of its group of kRankBits rows; a rank in a
// sparse set is an index into its array.
#include "engine/region/row_set.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tandem::engine {
namespace {

constexpr uint32_t kRankBits = 512;
constexpr uint32_t kRankWords = kRankBits / 64;

uint64_t DenseBytes(uint32_t row_count) {
  return (uint64_t{row_count} / 64 + 1) * sizeof(uint64_t) +
         (uint64_t{row_count} / kRankBits + 1) * sizeof(uint32_t);
}

}  // namespace

uint64_t RowSet::size_bytes() const {
  return sizeof(RowSet) + members_.capacity() * sizeof(uint32_t) +
         words_.capacity() * sizeof(uint64_t) + ranks_.capacity() * sizeof(uint32_t);
}

uint64_t RowSet::SizeBytesMax(uint32_t count, uint32_t row_count) {
  return sizeof(RowSet) +
         (IsDense(count, row_count) ? DenseBytes(row_count) : uint64_t{count} * sizeof(uint32_t));
}

// Members below `ordinal`. Requires: is_dense().
uint32_t RowSet::RankOfBit(uint32_t ordinal) const {
  const uint32_t word = ordinal / 64;
  uint32_t rank = ranks_[ordinal / kRankBits];
  for (uint32_t i = word / kRankWords * kRankWords; i < word; ++i) {
    rank += static_cast<uint32_t>(std::popcount(words_[i]));
  }
  const uint64_t below = (uint64_t{1} << (ordinal % 64)) - 1;
  return rank + static_cast<uint32_t>(std::popcount(words_[word] & below));
}

// The place of the first member at or above `ordinal`, galloping from `hint`, a place at or before
// it.
size_t RowSet::LowerBound(uint32_t ordinal, size_t hint) const {
  size_t low = hint, step = 1;  // Members before `low` are below `ordinal`.
  while (low + step <= members_.size() && members_[low + step - 1] < ordinal) {
    low += step;
    step *= 2;
  }
  const auto begin = members_.begin() + static_cast<ptrdiff_t>(low);
  const auto end = members_.begin() + static_cast<ptrdiff_t>(std::min(low + step, members_.size()));
  return static_cast<size_t>(std::lower_bound(begin, end, ordinal) - members_.begin());
}

bool RowSet::Find(uint32_t ordinal, uint32_t* rank) const {
  if (is_dense()) {
    if (!TestBit(ordinal)) return false;
    *rank = RankOfBit(ordinal);
    return true;
  }
  const bool is_behind = *rank > 0 && members_[*rank - 1] >= ordinal;
  *rank = static_cast<uint32_t>(LowerBound(ordinal, is_behind ? 0 : *rank));
  return *rank < members_.size() && members_[*rank] == ordinal;
}

uint32_t RowSet::At(uint32_t rank) const {
  DCHECK(rank < count_);
  if (!is_dense()) return members_[rank];
  const auto above = std::upper_bound(ranks_.begin(), ranks_.end(), rank);
  const auto run = static_cast<uint32_t>(above - ranks_.begin()) - 1;
  uint32_t left = rank - ranks_[run];
  uint32_t word = run * kRankWords;
  while (left >= static_cast<uint32_t>(std::popcount(words_[word]))) {
    left -= static_cast<uint32_t>(std::popcount(words_[word++]));
  }
  uint64_t bits = words_[word];
  for (; left > 0; --left) bits &= bits - 1;
  return word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
}

void RowSet::RemoveFrom(std::vector<uint32_t>* ordinals) const {
  size_t kept = 0;
  if (is_dense()) {
    for (const uint32_t ordinal : *ordinals) {
      (*ordinals)[kept] = ordinal;
      kept += TestBit(ordinal) ? 0 : 1;
    }
  } else {
    size_t place = 0;
    for (const uint32_t ordinal : *ordinals) {
      place = LowerBound(ordinal, place);
      if (place < members_.size() && members_[place] == ordinal) continue;
      (*ordinals)[kept++] = ordinal;
    }
  }
  ordinals->resize(kept);
}

void RowSet::Builder::BecomeDense() {
  words_.resize(size_t{row_count_} / 64 + 1);
  for (const uint32_t ordinal : members_) words_[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
  members_ = std::vector<uint32_t>();  // Which frees the memory; = {} would not.
}

std::shared_ptr<const RowSet> RowSet::Builder::Finish() {
  if (members_.empty() && words_.empty()) return nullptr;
  std::shared_ptr<RowSet> set(new RowSet);
  if (words_.empty()) {
    if (!rises_) {
      std::sort(members_.begin(), members_.end());
      members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
    }
    members_.shrink_to_fit();
    set->members_ = std::move(members_);
    set->count_ = static_cast<uint32_t>(set->members_.size());
  } else {
    set->words_ = std::move(words_);
    set->ranks_.reserve((set->words_.size() + kRankWords - 1) / kRankWords);
    for (size_t i = 0; i < set->words_.size(); ++i) {
      if (i % kRankWords == 0) set->ranks_.push_back(set->count_);
      set->count_ += static_cast<uint32_t>(std::popcount(set->words_[i]));
    }
  }
  members_ = {};
  words_ = {};
  rises_ = true;
  return set;
}

}  // namespace tandem::engine

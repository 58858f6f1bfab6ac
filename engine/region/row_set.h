// An immutable set of rows of one file, with ranks: a bitmap if it is dense, sorted ordinals if it
// is sparse, whichever takes less memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tandem::engine {

/// Threads: any.
class RowSet {
 public:
  class Builder;

  uint32_t count() const { return count_; }
  uint64_t size_bytes() const;
  /// The most bytes that a set of `count` distinct rows takes in a file of `row_count` rows.
  static uint64_t SizeBytesMax(uint32_t count, uint32_t row_count);

  /// Requires: ordinal < row_count.
  bool Contains(uint32_t ordinal) const {
    uint32_t rank = 0;
    return is_dense() ? TestBit(ordinal) : Find(ordinal, &rank);
  }
  /// Whether `ordinal` is a member; if so, sets `*rank` to the number of members below it. On entry
  /// `*rank` is 0 or what the last call left: the search starts there, so that ascending look-ups
  /// gallop. Requires: ordinal < row_count.
  bool Find(uint32_t ordinal, uint32_t* rank) const;
  /// Members below `ordinal`. Requires: ordinal <= row_count.
  uint32_t RankOf(uint32_t ordinal) const {
    return is_dense() ? RankOfBit(ordinal) : static_cast<uint32_t>(LowerBound(ordinal, 0));
  }
  /// The member with `rank` smaller ones. Requires: rank < count().
  uint32_t At(uint32_t rank) const;

  /// Removes the members from `*ordinals`, which are sorted.
  void RemoveFrom(std::vector<uint32_t>* ordinals) const;

  bool operator==(const RowSet&) const = default;

 private:
  RowSet() = default;
  /// Which form takes less memory for `count` of `row_count` rows.
  static bool IsDense(size_t count, uint32_t row_count) { return count > row_count / 32; }
  bool is_dense() const { return !words_.empty(); }
  bool TestBit(uint32_t ordinal) const {
    return ((words_[ordinal / 64] >> (ordinal % 64)) & 1) != 0;
  }
  uint32_t RankOfBit(uint32_t ordinal) const;
  size_t LowerBound(uint32_t ordinal, size_t hint) const;

  uint32_t count_ = 0;
  std::vector<uint32_t> members_;  // Sparse: all of them, ascending.
  std::vector<uint64_t> words_;    // Dense: one bit per row.
  std::vector<uint32_t> ranks_;    // Dense: the members before each group of kRankBits rows.
};

/// Collects the members of a set, in any order, in about the memory of the set. Threads: one at a
/// time.
class RowSet::Builder {
 public:
  /// For a file of `row_count` rows.
  explicit Builder(uint32_t row_count) : row_count_(row_count) {}
  /// Adding a member again changes nothing. Requires: ordinal < row_count.
  void Add(uint32_t ordinal) {
    if (!words_.empty()) {
      words_[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
      return;
    }
    rises_ = rises_ && (members_.empty() || ordinal > members_.back());
    members_.push_back(ordinal);
    if (IsDense(members_.size(), row_count_)) BecomeDense();
  }
  /// The set; nullptr when it is empty. The builder is empty afterwards.
  std::shared_ptr<const RowSet> Finish();

 private:
  void BecomeDense();

  uint32_t row_count_;
  bool rises_ = true;
  std::vector<uint32_t> members_;
  std::vector<uint64_t> words_;
};

}  // namespace tandem::engine

// The directory of one part of an index section: which leaf holds a key, and how many entries
// precede each leaf. It is loaded whole and takes about 50 bytes per leaf of 8 KiB.
//
// A stream section (format/block/stream_section.h) of kind kIndexDirectory, for L leaves, at least
// 1:
//   OFFSET SIZE FIELD           MEANING
//        0    8 values          distinct values of the part
//        8    8 entries         entries of the part
//       16    4 leaf count      L
//       20    4 key length      K
//       24   8L offsets         u64[]: of each leaf's block in the file, rising
//        +   8L entries before  u64[]: entries in earlier leaves, rising from 0
//        +   4L stored sizes    u32[]: of each leaf's block, header included
//        +   4L key ends        u32[]: where the leaf's separator ends within `keys`
//        +    K keys            the separators: leaf i holds the keys from separator i up to
//                               separator i + 1, exclusive; each is as short as that allows, the
//                               first is empty
//
// Example, leaves at 4096 (100 bytes stored, 3 values, 5 entries, up to key 02 61 00 01) and at
// 4200 (60 bytes, 1 value, 1 entry, key 02 63 00 01):
//   04 00 00 00 00 00 00 00 | 06 00 00 00 00 00 00 00 | 02 00 00 00 | 02 00 00 00
//   00 10 00 00 00 00 00 00 , 68 10 00 00 00 00 00 00 | 00 .. (8) , 05 00 00 00 00 00 00 00
//   64 00 00 00 , 3c 00 00 00 | 00 00 00 00 , 02 00 00 00 | 02 63
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/byte_reader.h"

namespace tandem::format {

/// Threads: const methods from any.
class IndexDirectory {
 public:
  /// nullopt: the bytes do not follow the table.
  static std::optional<IndexDirectory> Decode(std::string bytes);

  uint64_t values() const { return LoadAt<uint64_t>(bytes_, 0); }
  uint64_t entries() const { return LoadAt<uint64_t>(bytes_, 8); }
  uint32_t leaf_count() const { return count_; }
  uint64_t memory_bytes() const { return bytes_.capacity() + heads_.capacity(); }
  BlockHandle Leaf(uint32_t leaf) const {
    return {LoadAt<uint64_t>(bytes_, kOffsetsAt + leaf * size_t{8}),
            LoadAt<uint32_t>(bytes_, sizes_at_ + leaf * size_t{4})};
  }
  /// Entries in the leaves before `leaf`. Requires: leaf <= leaf_count().
  uint64_t EntriesBefore(uint32_t leaf) const {
    return leaf == count_ ? entries() : LoadAt<uint64_t>(bytes_, before_at_ + leaf * size_t{8});
  }
  /// The leaf that holds `key`, if any does: every key of earlier leaves is smaller, every key of
  /// later ones greater.
  uint32_t LeafOf(std::string_view key) const;
  /// The leaf that has the entry `number`. Requires: number < entries().
  uint32_t LeafOfEntry(uint64_t number) const;
  /// As LeafOf, faster if it is `guess`. Requires: guess < leaf_count().
  uint32_t LeafOf(std::string_view key, uint32_t guess) const {
    const bool is_guess =
        Separator(guess) <= key && (guess + 1 == count_ || key < Separator(guess + 1));
    return is_guess ? guess : LeafOf(key);
  }

 private:
  IndexDirectory() = default;
  bool IsSound() const;
  void GatherHeads();
  std::string_view Separator(uint32_t leaf) const;

  static constexpr size_t kOffsetsAt = 24;

  std::string bytes_;
  uint32_t count_ = 0;
  size_t before_at_ = 0, sizes_at_ = 0, key_ends_at_ = 0, keys_at_ = 0;
  // Of the separators but the first: what they begin with, and the heads of the rest, u64[], which
  // a search goes through without a jump that the processor has to guess.
  size_t prefix_bytes_ = 0;
  std::string heads_;
};

/// What the directory records about a finished leaf.
struct LeafSummary {
  std::string first_key, last_key;
  uint32_t values = 0, entries = 0;
};

/// Collects the leaves of a part in order.
class IndexDirectoryBuilder {
 public:
  /// Requires: the leaf's keys are greater than those of the leaf added before.
  void Add(BlockHandle handle, const LeafSummary& leaf);
  bool empty() const { return key_ends_.empty(); }
  uint64_t values() const { return values_; }
  uint64_t entries() const { return entries_; }
  /// The bytes of the directory. Requires: !empty().
  std::string Finish() const;

 private:
  std::string offsets_, before_, sizes_, key_ends_, keys_;
  std::string last_key_;
  uint64_t values_ = 0, entries_ = 0;
};

}  // namespace tandem::format

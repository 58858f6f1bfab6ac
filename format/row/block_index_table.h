// The table of a piece of a block index, or of its top (block_index_writer.h). Each entry has a
// separator, a place and a first position; the table is searched by key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/byte_reader.h"

namespace tandem::format {

/// A view of checked bytes. Threads: any. Lifetime: that of the bytes.
class IndexTable {
 public:
  IndexTable() = default;
  /// The table of `count` entries at the end of `raw`, with its heads at `heads_at`. nullopt when
  /// an array or a separator runs past the end, a separator is longer than a key or does not match
  /// its head, or separators do not ascend. Requires: raw.size() >= heads_at >= 8.
  static std::optional<IndexTable> Parse(std::string_view raw, uint32_t count, size_t heads_at);

  uint32_t count() const { return count_; }
  BlockHandle HandleOf(uint32_t entry) const {
    return {LoadAt<uint64_t>(raw_, offsets_ + size_t{8} * entry),
            LoadAt<uint32_t>(raw_, sizes_ + size_t{4} * entry)};
  }
  uint32_t FirstOf(uint32_t entry) const {
    return LoadAt<uint32_t>(raw_, firsts_ + size_t{4} * entry);
  }
  /// The entry that holds `position`: the last one whose first position is not above it. Looks at
  /// `low` and the entry after it; then guesses as if all had as many positions up to `end`, where
  /// the last entry ends, and gallops from there (interpolation search: Peterson, "Addressing for
  /// random-access storage", 1957). Requires: low < count(), FirstOf(0) <= position < end.
  uint32_t EntryOf(uint32_t position, uint32_t low, uint32_t end) const;
  /// Replaces `*separator`.
  void Separator(uint32_t entry, std::string* separator) const;
  /// The number of entries with separators <= `key`.
  uint32_t UpperBound(std::string_view key) const;
  /// The same, galloping from entry `low`. 0 when the separator of `low` is above `key`, and also
  /// when `key` does not begin with the common prefix: then search without `low`.
  uint32_t UpperBound(std::string_view key, uint32_t low) const;
  /// Whether the separator of the entry is <= `key`.
  bool IsAtMost(uint32_t entry, std::string_view key) const;

 private:
  // The key after the prefix.
  struct Wanted {
    std::string_view rest;
    uint64_t head = 0;
  };
  bool RestsRise() const;
  uint64_t HeadOf(uint32_t entry) const {
    return LoadAt<uint64_t>(raw_, heads_ + size_t{8} * entry);
  }
  uint32_t KeyEnd(uint32_t entry) const {
    return LoadAt<uint32_t>(raw_, key_ends_ + size_t{4} * entry);
  }
  std::string_view prefix() const { return raw_.substr(prefix_at_, heap_ - prefix_at_); }
  std::string_view Rest(uint32_t entry) const {
    const uint32_t begin = entry == 0 ? 0 : KeyEnd(entry - 1);
    return {raw_.data() + heap_ + begin, KeyEnd(entry) - begin};
  }
  bool IsAtMost(uint32_t entry, const Wanted& wanted) const {
    const uint64_t head = HeadOf(entry);
    return head != wanted.head ? head < wanted.head : Rest(entry) <= wanted.rest;
  }

  std::string_view raw_;
  uint32_t count_ = 0;
  // Offsets of the arrays, the prefix and the heap.
  size_t heads_ = 0, offsets_ = 0, sizes_ = 0, firsts_ = 0, key_ends_ = 0, prefix_at_ = 0,
         heap_ = 0;
};

/// The table of a piece. nullopt also when it has too many entries or when bytes that must be zero
/// are not. Lifetime: that of the block.
std::optional<IndexTable> ParseIndexPiece(const Block& block);

}  // namespace tandem::format

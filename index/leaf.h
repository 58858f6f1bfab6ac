// Leaves of an index section: a few hundred distinct values in order, each with its number of rows
// and the place of their ordinals.
//
// Block of kind kIndexLeaf; count = values n, at least 1; first = 0. Flag bit 0: every value has
// one row, and the counts are left out. Little-endian:
//   OFFSET SIZE FIELD           MEANING
//        0    8 entries before  entries of the part in earlier leaves
//        8    2 prefix length   P
//       10    2 suffix length   1 to 8: every key has exactly this many bytes after the prefix, and
//                               tail ends and head lengths are left out; otherwise 0
//       12    4 tail length     T, at most 65,535
//       16   8n heads           u64[]: eight bytes of the key after the prefix, zero-padded, read
//                               big-endian
//        +   4n references      u32[]: for one row its ordinal; else the offset of the value's list
//                               within `lists`
//        +   4n counts          u32[]: entries of this leaf up to and including the value
//        +   2n tail ends       u16[]: where the value's tail ends within `tails`
//        +    n head lengths    u8[]: bytes of the key in its head, 0 to 8; 8 when it has a tail
//        +    P prefix          what all keys of the leaf start with
//        +    T tails           the keys' bytes beyond prefix and head
//        +    - lists           postings.h: a small list for 2 to 64 rows, else a list's place
//
// Example, the texts "a" (ordinal 7) and "b" (ordinals 1 and 3), after 5 earlier entries. The keys
// are 02 61 00 01 and 02 62 00 01, so the prefix is 02 and the suffix length 3:
//   05 00 00 00 00 00 00 00 | 01 00 | 03 00 | 00 00 00 00
//   00 00 00 00 00 01 00 61 , 00 00 00 00 00 01 00 62 | 07 00 00 00 , 00 00 00 00
//   01 00 00 00 , 03 00 00 00 | 02 | 01 01
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/block/block_codec.h"
#include "format/byte_reader.h"

namespace tandem::format {

inline constexpr uint16_t kLeafFlagAllSingle = 1;
inline constexpr size_t kLeafBytes = 8 * 1024;  ///< Raw size at which a leaf is closed.

/// A leaf whose arrays are within bounds; their contents are checked on use. Threads: const methods
/// from any. Lifetime: pins its block.
class IndexLeaf {
 public:
  /// nullopt: the block does not follow the table.
  static std::optional<IndexLeaf> Parse(BlockRef block);

  uint32_t value_count() const { return count_; }
  uint64_t entries_before() const { return LoadAt<uint64_t>(raw_, 0); }
  /// Entries of the values before `position` within the leaf. Requires: position <= value_count().
  uint32_t EntriesBefore(uint32_t position) const {
    if (position == 0 || all_single_) return position;
    return LoadAt<uint32_t>(raw_, counts_at_ + (position - 1) * size_t{4});
  }
  /// First position whose key is >= `key`; value_count() when there is none.
  uint32_t LowerBound(std::string_view key) const;
  /// Replaces `*key` by the key at `position`. False: its lengths are malformed.
  [[nodiscard]] bool Key(uint32_t position, std::string* key) const;

  /// Whether every value has one row, whose ordinal is its reference.
  bool all_single() const { return all_single_; }
  uint32_t Reference(uint32_t position) const {
    return LoadAt<uint32_t>(raw_, references_at_ + position * size_t{4});
  }
  /// Prefetches the reference at `position`. Requires: position <= value_count().
  void PrefetchReference(uint32_t position) const {
    __builtin_prefetch(raw_.data() + references_at_ + position * size_t{4});
  }
  /// A reader of the lists from `reference` on; it has failed when `reference` is out of range.
  ByteReader ListAt(uint32_t reference) const;

 private:
  IndexLeaf() = default;
  uint64_t Head(uint32_t position) const {
    return LoadAt<uint64_t>(raw_, kHeadsAt + position * size_t{8});
  }
  uint32_t HeadBytes(uint32_t position) const {
    if (suffix_bytes_ != 0) return suffix_bytes_;
    return static_cast<uint8_t>(raw_[head_lengths_at_ + position]);
  }
  std::string_view prefix() const { return raw_.substr(prefix_at_, tails_at_ - prefix_at_); }
  std::optional<std::string_view> Tail(uint32_t position) const;
  bool SuffixLess(uint32_t position, uint64_t head, std::string_view suffix) const;
  uint32_t FirstHead(uint64_t head) const;

  static constexpr size_t kHeadsAt = 16;

  BlockRef block_;
  std::string_view raw_;
  uint32_t count_ = 0;
  bool all_single_ = false;
  uint32_t suffix_bytes_ = 0;  // Of every key; 0: the lengths differ.
  size_t references_at_ = 0, counts_at_ = 0, tail_ends_at_ = 0, head_lengths_at_ = 0;
  size_t prefix_at_ = 0, tails_at_ = 0, lists_at_ = 0;
};

/// A value to add to a leaf.
struct LeafValue {
  std::string_view key;
  uint32_t count = 0;     ///< Rows, at least 1.
  uint32_t ordinal = 0;   ///< Of the only row; unused for more.
  std::string_view list;  ///< Small list or list place, for more than one row.
};

/// Builds leaves from values in order.
class IndexLeafBuilder {
 public:
  bool empty() const { return values_.empty(); }
  /// Whether `value` should go into a new leaf.
  bool IsFullFor(const LeafValue& value) const;
  /// Requires: the key is greater than the last one.
  void Add(const LeafValue& value);
  std::string_view first_key() const { return Key(0); }
  std::string_view last_key() const { return Key(values_.size() - 1); }
  uint32_t entries() const { return entries_; }
  /// The leaf with the values added; the builder is then empty. Requires: !empty(). Lifetime: the
  /// content's bytes are valid until the next call.
  BlockContent Finish(uint64_t entries_before);

 private:
  struct Value {
    size_t key_end;  // In keys_.
    uint32_t reference;
    uint32_t entries;  // Of the leaf up to and including this value.
  };
  std::string_view Key(size_t i) const;
  void AppendNumbers(size_t prefix_bytes);
  size_t CommonSuffixBytes(size_t prefix_bytes) const;
  void AppendLengths(size_t prefix_bytes);

  std::vector<Value> values_;
  std::string keys_;
  std::string lists_;
  std::string tails_;
  std::string raw_;
  uint32_t entries_ = 0;
};

}  // namespace tandem::format

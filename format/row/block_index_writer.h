// Builds the block index of a family or of the keys. For each row block, and for the head of each
// wide row, it has the place, the first position and a separator: the shortest key that is greater
// than every key before the block and not greater than its first key.
//
// The section is a sequence of pieces (blocks of kind kBlockIndex; first = number of the first
// entry; count = entries, 1 to 1,024; not compressed); the section's count is the number of
// entries. With n entries:
//   OFFSET  SIZE   FIELD           MEANING
//        0     2   prefix length   p, of the common prefix of the piece's separators
//        2     6   zero
//        8    8n   heads           eight separator bytes after the prefix, zero-padded, read as a
//                                  big-endian number (stored little-endian)
//     8+8n    8n   offsets         of the blocks and heads; ascending, in the data section
//    8+16n    4n   stored sizes    of the same, with header, without padding
//    8+20n    4n   firsts          first positions; the first of all is 0
//    8+24n    4n   key ends        end of each separator's rest, counted from the heap's start
//    8+28n     p   prefix
//        +         heap            the separators' rests (after the prefix), concatenated
// The separator of the family's first block is its first key.
//
// Example: blocks of 100 and 120 bytes at 128 and 232; rows 0 to 2 from "ab" on, rows 3 on from
// "b":
//   00 00  00 00 00 00 00 00
//   00 00 00 00 00 00 62 61   00 00 00 00 00 00 00 62   heads "ab", "b"
//   80 00 00 00 00 00 00 00   E8 00 00 00 00 00 00 00   offsets
//   64 00 00 00  78 00 00 00                            stored sizes
//   00 00 00 00  03 00 00 00                            firsts
//   02 00 00 00  03 00 00 00                            key ends
//   61 62  62                                           heap
//
// The top leads to single pieces: one block of kind kBlockIndexTop in a section of its own (kind
// kBlockIndexTop, owner and order as the block index; count = pieces), which a reader may ignore.
// It is left out for a single piece and when it would exceed 16 MiB. Every piece but the last then
// has 2^k entries. Block: first = 0, count = pieces; not compressed. With n pieces:
//   OFFSET  SIZE   FIELD           MEANING
//        0     2   prefix length   p, of the common prefix of the separators below
//        2     1   k               0 to 10
//        3     5   zero
//        8    8n   data offsets    of the first row block or head of each piece
//     8+8n    8n   data bytes      sum of the stored sizes in this piece and those before it
//    8+16n    8n   heads           from here on the table of a piece, whose entries are the pieces:
//        +    8n   offsets         their places,
//        +    4n   stored sizes
//        +    4n   firsts          the first position of each,
//        +    4n   key ends        and the first separator of each
//        +     p   prefix
//        +         heap
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/block/section_writer.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr uint32_t kBlockIndexPieceBitsMax = 10;
inline constexpr uint32_t kBlockIndexPieceEntriesMax = 1 << kBlockIndexPieceBitsMax;
/// For the pieces that are written. Even with the longest separators they stay below the size limit
/// of a block.
inline constexpr uint32_t kBlockIndexPieceBits = 7;
inline constexpr size_t kBlockIndexFixedBytes = 8;
inline constexpr size_t kBlockIndexEntryBytes = 28;
/// Bytes that a top has for each piece in addition.
inline constexpr size_t kBlockIndexTopEntryBytes = 16;

/// An entry of a piece, or a piece as an entry of the top.
struct SeparatorEntry {
  std::string_view separator;
  BlockHandle handle;
  uint32_t first = 0;  ///< Position of its first row.
};
/// What the top stores for a piece in addition.
struct TopEntry {
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;
};

/// The raw bytes of a piece. Requires: separators ascend; there is at least one.
std::string EncodeIndexPiece(std::span<const SeparatorEntry> entries);
/// The raw bytes of a top over pieces of 2^`bits` entries.
std::string EncodeIndexTop(std::span<const SeparatorEntry> pieces, std::span<const TopEntry> tops,
                           uint32_t bits);

/// Threads: one at a time.
class BlockIndexWriter {
 public:
  /// Adds the next row block; Place supplies its place later. `key_before` is the key of the row
  /// before it (empty if there is none), `first` the position of its first row.
  void Add(uint32_t first, std::string_view key_before, std::string_view first_key);
  /// Sets the place of the first block that has none yet.
  void Place(BlockHandle handle) { entries_[placed_++].handle = handle; }
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  /// The place of a block. Requires: it was set.
  BlockHandle PlaceOf(uint32_t block) const { return entries_[block].handle; }
  uint64_t memory_bytes() const {
    return entries_.capacity() * sizeof(Entry) + separators_.capacity();
  }
  /// Writes the section and its top.
  Status Write(FamilyId owner, SectionWriter* out) const;

 private:
  struct Entry {
    BlockHandle handle;
    uint32_t first;
    size_t separator_end;  // In separators_.
  };
  struct Top {
    std::vector<SeparatorEntry> pieces;
    std::vector<TopEntry> entries;
  };
  std::string_view Separator(size_t entry) const;
  Status WritePiece(size_t begin, size_t end, SectionWriter* out, Top* top) const;

  std::vector<Entry> entries_;
  size_t placed_ = 0;  // Entries with a handle.
  std::string separators_;
};

}  // namespace tandem::format

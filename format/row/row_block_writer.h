// Building row blocks.
//
// Row block (kind kRows; first = position of row 0; count = rows, at least 1), its raw bytes:
//   OFFSET  SIZE    FIELD            MEANING
//        0     8    base timestamp   the smallest of the block, i64
//        8     8    base sequence    the smallest of the block
//       16     2    prefix length    common prefix of all keys of the block
//       18     6    zero
//       24     8n   heads            per row eight key bytes after the prefix, zero-padded, as a
//                                    big-endian number (stored little-endian)
//    24+8n  4n+4    slots            offset of each row, then the size of the raw bytes
//        +     p    prefix
//        +          rows             one after the other up to the end
// Block flags: 1 every cell is a Put; 2 no row has two cells of one column.
//
// Row:
//   varint          length of the key after the prefix
//   length - 8      its bytes beyond the head, if any
//   1               row flags: 1 one timestamp, 2 one sequence, 4 has markers, 8 has several
//                   cells of one column; the others are 0
//   varint          with flag 1: timestamp of all its cells minus the base
//   varint          with flag 2: sequence of all its cells minus the base
//   cells           up to the next slot, in the order of CellLess; at least one, but see Keys
// Cell:
//   1               cell flags: bits 0-2 CellKind; 8 column, 16 timestamp, 32 sequence as the cell
//                   before; 64 overflow value; 128 is 0
//   varint          column: dictionary id, or 0 and a varint length and the name itself; absent
//                   with flag 8 and in DeleteFamily markers
//   varint          timestamp minus the base; absent with flag 16 and in rows of one timestamp
//   varint          sequence minus the base; absent with flag 32 and in rows of one sequence
//   varint, bytes   length and value, or the reference to an overflow value
//                   (format/cell/overflow_value.h); Puts only
// Keys (owner kKeysOwner; row_block.h): the rows have no cells and end with row flags of 0; base
// timestamp and base sequence are 0.
// Deltas are modulo 2^64. There is no checksum here: the block header has it.
//
// Example: rows "k1" {a = "x"} and "k2" {a deleted (DeleteColumn), b = ""}, all at timestamp 5 and
// sequence 9, with the dictionary a = 1, b = 2:
//   05 00 00 00 00 00 00 00   09 00 00 00 00 00 00 00   base timestamp, base sequence
//   01 00 00 00 00 00 00 00                             prefix of 1 byte
//   00 00 00 00 00 00 00 31   00 00 00 00 00 00 00 32   heads "1", "2"
//   35 00 00 00  3D 00 00 00  46 00 00 00               rows at 53 and 61, end at 70
//   6B                                                  prefix "k"
//   01 03 00 00  00 01 01 78                            1 byte of key; flags; deltas 0; Put a "x"
//   01 07 00 00  02 01  00 02 00                        has markers; DeleteColumn a; Put b = ""
// The same keys without cells:
//   00 00 00 00 00 00 00 00   00 00 00 00 00 00 00 00   no timestamps, no sequences
//   01 00 00 00 00 00 00 00                             prefix of 1 byte
//   00 00 00 00 00 00 00 31   00 00 00 00 00 00 00 32   heads "1", "2"
//   35 00 00 00  37 00 00 00  39 00 00 00               rows at 53 and 55, end at 57
//   6B                                                  prefix "k"
//   01 00  01 00                                        1 byte of key; row flags
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/cell/cell.h"
#include "format/cell/dictionary.h"
#include "format/coding.h"

namespace tandem::format {

inline constexpr size_t kRowBlockFixedBytes = 24;
inline constexpr uint16_t kRowBlockAllPuts = 1;
inline constexpr uint16_t kRowBlockSingleVersions = 2;

inline constexpr uint8_t kRowOneTimestamp = 1;
inline constexpr uint8_t kRowOneSequence = 2;
inline constexpr uint8_t kRowHasMarkers = 4;
inline constexpr uint8_t kRowHasVersions = 8;
inline constexpr uint8_t kRowFlagsKnown = 15;

inline constexpr uint8_t kCellKindMask = 7;
inline constexpr uint8_t kCellSameColumn = 8;
inline constexpr uint8_t kCellSameTimestamp = 16;
inline constexpr uint8_t kCellSameSequence = 32;
inline constexpr uint8_t kCellOverflow = 64;
inline constexpr uint8_t kCellFlagsUnknown = 128;

/// An upper bound of the raw bytes of a row with this key and these cells, alone in its block. It
/// depends only on lengths.
uint64_t RowBytesBound(std::string_view key, std::span<const Cell> cells);

/// Collects the rows of one block and encodes them. Threads: one at a time.
class RowBlockWriter {
 public:
  /// `names` outlives the writer; columns are added to it.
  explicit RowBlockWriter(DictionaryBuilder* names) : names_(names) {}

  /// Whether the block stays within kBlockRawBytesMax with this row added, whatever its deltas.
  bool Fits(std::string_view key, std::span<const Cell> cells) const;
  /// Appends a row. Requires: keys ascend; cells are sorted; it fits; all rows of the block have
  /// cells or none has; references to overflow values point into the file being written.
  void Add(std::string_view key, std::span<const Cell> cells);
  uint32_t row_count() const { return static_cast<uint32_t>(rows_.size()); }
  /// Estimate of the raw size.
  size_t size_bytes() const { return size_bytes_; }
  /// The bytes that the row would add to size_bytes(), without inline names.
  static size_t SizeOf(std::string_view key, std::span<const Cell> cells);
  /// Whether a row of a family with blocks of that size is alone in its block.
  static bool FillsBlock(std::string_view key, std::span<const Cell> cells, size_t block_bytes) {
    return SizeOf(key, cells) >= block_bytes;
  }
  std::string_view first_key() const { return KeyOf(rows_.front()); }
  std::string_view last_key() const { return KeyOf(rows_.back()); }

  /// Appends the block's raw bytes to `*raw`, returns its flags, and starts again.
  /// Requires: row_count() > 0.
  uint16_t Finish(std::string* raw);

 private:
  // A row and a cell, with their bytes in heap_: deltas and prefix are known when the block ends.
  struct Row {
    size_t key_offset;
    uint32_t key_bytes;
    size_t first_cell;
  };
  struct PendingCell {
    CellKind kind{};
    bool same_column = false;
    bool overflow = false;
    uint32_t column = 0;      // 0: the name is in heap_, before the value.
    uint32_t name_bytes = 0;  // 0 unless it is there.
    uint32_t value_bytes = 0;
    size_t heap_offset = 0;
    int64_t timestamp = 0;
    uint64_t sequence = 0;
  };

  std::string_view KeyOf(const Row& row) const {
    return std::string_view(heap_).substr(row.key_offset, row.key_bytes);
  }
  std::span<const PendingCell> CellsOf(size_t row) const;
  uint8_t RowFlags(std::span<const PendingCell> cells) const;
  void WriteRow(size_t row, size_t prefix_bytes, TailWriter* out) const;
  void WriteCell(const PendingCell& cell, const PendingCell* before, uint8_t row_flags,
                 TailWriter* out) const;

  DictionaryBuilder* names_;
  std::string heap_;
  std::vector<Row> rows_;
  std::vector<PendingCell> cells_;
  size_t size_bytes_ = kRowBlockFixedBytes;
  uint64_t bytes_bound_ = 0;     // Sum of RowBytesBound: of what Finish appends.
  std::vector<uint32_t> slots_;  // Of the block that ended last.
  uint16_t flags_ = kRowBlockAllPuts | kRowBlockSingleVersions;
  int64_t base_timestamp_ = INT64_MAX;
  uint64_t base_sequence_ = UINT64_MAX;
};

}  // namespace tandem::format

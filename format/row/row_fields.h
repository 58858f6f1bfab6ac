// The fields of an encoded row (row_block_writer.h), for those that decode rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "format/byte_reader.h"
#include "format/cell/dictionary.h"
#include "format/cell/projection.h"
#include "format/row/row_block_writer.h"
#include "format/types.h"
#include "tandem/limits.h"

namespace tandem::format {

inline constexpr size_t kRowHeadsAt = kRowBlockFixedBytes;
inline constexpr size_t kRowHeadBytes = 8;

// The key as a row stores it: its length after the prefix, and its bytes after the head.
struct KeyTail {
  size_t suffix_bytes = 0;
  std::string_view tail;
};

inline KeyTail ReadKeyTail(ByteReader* row) {
  KeyTail key;
  key.suffix_bytes = row->VarintUpTo(kRowKeyBytesMax);
  if (key.suffix_bytes > kRowHeadBytes) key.tail = row->Bytes(key.suffix_bytes - kRowHeadBytes);
  return key;
}

// The column of the current cell while a row is decoded.
struct RowColumn {
  std::string_view name;  // data() is null before the first column.
  bool wanted = true;

  bool known() const { return name.data() != nullptr; }
  template <bool kAll>
  void Read(const Projection& columns, ByteReader* row) {
    const uint64_t id = row->Varint();
    if (id - 1 < columns.names().size()) {
      name = columns.names().Name(static_cast<uint32_t>(id));
      if constexpr (!kAll) wanted = columns.WantsId(static_cast<uint32_t>(id));
    } else {
      if (id != 0) row->Fail();
      name = row->Bytes(row->VarintUpTo(kQualifierBytesMax));
      if constexpr (!kAll) wanted = columns.WantsName(name);
    }
  }
};

// Timestamp and sequence of the current cell while a row is decoded.
class RowVersions {
 public:
  // Reads the row's flags and shared deltas.
  RowVersions(uint64_t base_timestamp, uint64_t base_sequence, ByteReader* row)
      : base_timestamp_(base_timestamp), base_sequence_(base_sequence), row_flags_(row->U8()) {
    timestamp_ = base_timestamp_ + ((row_flags_ & kRowOneTimestamp) != 0 ? row->Varint() : 0);
    sequence_ = base_sequence_ + ((row_flags_ & kRowOneSequence) != 0 ? row->Varint() : 0);
  }
  /// No markers and one cell of each column.
  bool is_plain() const { return (row_flags_ & ~(kRowOneTimestamp | kRowOneSequence)) == 0; }
  /// All cells have one timestamp and one sequence.
  bool are_single() const {
    return (row_flags_ & (kRowOneTimestamp | kRowOneSequence)) ==
           (kRowOneTimestamp | kRowOneSequence);
  }
  bool sound() const { return (row_flags_ & ~kRowFlagsKnown) == 0; }
  // Reads the deltas of the next cell, if it has its own.
  void Read(uint8_t cell_flags, ByteReader* row) {
    if ((row_flags_ & kRowOneTimestamp) == 0 && (cell_flags & kCellSameTimestamp) == 0) {
      timestamp_ = base_timestamp_ + row->Varint();
    }
    if ((row_flags_ & kRowOneSequence) == 0 && (cell_flags & kCellSameSequence) == 0) {
      sequence_ = base_sequence_ + row->Varint();
    }
  }
  int64_t timestamp() const { return static_cast<int64_t>(timestamp_); }
  SequenceNumber sequence() const { return SequenceNumber(sequence_); }

 private:
  uint64_t base_timestamp_;
  uint64_t base_sequence_;
  uint8_t row_flags_;
  uint64_t timestamp_;
  uint64_t sequence_;
};

inline constexpr uint8_t kVersionFlags = kCellSameTimestamp | kCellSameSequence;

// The cells of a row with one timestamp and one sequence, as long as they are as most are: Puts
// whose columns have an id below 128, with values of less than 16 KiB.
class ShortCells {
 public:
  explicit ShortCells(std::string_view cells)
      : at_(cells.data()), end_(cells.data() + cells.size()) {}

  // False: there is no cell left, or the next one is another kind of cell.
  bool Next() {
    constexpr ptrdiff_t kHeadBytesMax = 4;
    if (end_ - at_ < kHeadBytesMax) return false;
    uint8_t head[kHeadBytesMax];  // Flags, column, and one or two bytes of length.
    std::memcpy(head, at_, sizeof(head));
    if ((head[0] & ~kVersionFlags) != 0 || head[1] == 0 || head[1] >= 0x80) return false;
    size_t bytes = head[2];
    const char* value = at_ + 3;
    if (bytes >= 0x80) {
      if (head[3] >= 0x80 || head[3] == 0) return false;
      bytes = (bytes & 0x7f) | size_t{head[3]} << 7;
      ++value;
    }
    if (bytes > static_cast<size_t>(end_ - value)) return false;
    column_ = head[1];
    value_ = {value, bytes};
    at_ = value + bytes;
    return true;
  }
  uint32_t column() const { return column_; }
  std::string_view value() const { return value_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }

 private:
  const char* at_;
  const char* const end_;
  uint32_t column_ = 0;
  std::string_view value_;
};

// Calls use(id, name, versions, value) for each cell until it returns false; a cell has a column's
// id, or 0 and the name itself. Returns false if the row is not plain, or malformed as far as it
// was read. `row` is after the row's versions, which `*versions` has. Inlined, so that what `use`
// refers to stays in registers.
template <typename Use>
[[gnu::always_inline]] inline bool ForEachPlainCell(ByteReader* row, RowVersions* versions,
                                                    const Dictionary& names, const Use& use) {
  if (!versions->is_plain() || row->remaining() == 0) return false;
  if (versions->are_single()) {
    ShortCells cells(row->rest());
    while (cells.Next()) {
      if (cells.column() > names.size()) return false;
      if (!use(cells.column(), std::string_view(), *versions, cells.value())) return true;
    }
    row->Skip(row->remaining() - cells.remaining());
  }
  while (row->remaining() > 0) {
    const uint8_t flags = row->U8();
    if ((flags & ~kVersionFlags) != 0) return false;  // Not a Put of the next column, near by.
    const uint64_t id = row->Varint();
    const std::string_view name =
        id == 0 ? row->Bytes(row->VarintUpTo(kQualifierBytesMax)) : std::string_view();
    versions->Read(flags, row);
    const std::string_view value = row->LengthPrefixed();
    if (!row->ok() || id > names.size()) return false;
    if (!use(static_cast<uint32_t>(id), name, *versions, value)) return true;
  }
  return row->ok();
}

}  // namespace tandem::format

// The fields of an encoded row (row_block_writer.h), for those that decode rows.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/byte_reader.h"
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

}  // namespace tandem::format

// Rows are buffered and encoded when the block ends, because the common prefix and the bases of the
// deltas are known only then.
#include "format/row/row_block_writer.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "format/key_head.h"

namespace tandem::format {
namespace {

// Flags, column (0, length), timestamp, sequence, value length: 1 + 1 + 2 + 10 + 10 + 5, rounded
// up.
constexpr uint64_t kCellBytesBound = 32;
// The block's fixed part, one head, two slots, key length, row flags, shared deltas, rounded up.
constexpr uint64_t kRowBytesBound = 128;

constexpr size_t kHeadBytes = 8;

}  // namespace

uint64_t RowBytesBound(std::string_view key, std::span<const Cell> cells) {
  uint64_t bytes = kRowBytesBound + key.size();
  for (const Cell& cell : cells) {
    bytes += kCellBytesBound + cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

size_t RowBlockWriter::SizeOf(std::string_view key, std::span<const Cell> cells) {
  // Head, slot, key, flags and shared deltas; then flags, column, length, value and own deltas.
  size_t bytes = kHeadBytes + sizeof(uint32_t) + key.size() + 6;
  for (const Cell& cell : cells) {
    bytes += 3 + cell.value.size();
    if (cell.timestamp != cells[0].timestamp) bytes += 4;
    if (cell.sequence != cells[0].sequence) bytes += 3;
  }
  return bytes;
}

bool RowBlockWriter::Fits(std::string_view key, std::span<const Cell> cells) const {
  return bytes_bound_ + RowBytesBound(key, cells) <= kBlockRawBytesMax;
}

void RowBlockWriter::Add(std::string_view key, std::span<const Cell> cells) {
  DCHECK(rows_.empty() || (last_key() < key && cells_.empty() == cells.empty()));
  DCHECK(std::is_sorted(cells.begin(), cells.end(), CellLess));
  size_bytes_ += SizeOf(key, cells);
  bytes_bound_ += RowBytesBound(key, cells);
  rows_.push_back({heap_.size(), static_cast<uint32_t>(key.size()), cells_.size()});
  heap_.append(key);
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    PendingCell& pending = cells_.emplace_back();
    pending.kind = cell.kind;
    pending.overflow = cell.is_overflow();
    pending.timestamp = cell.timestamp;
    pending.sequence = cell.sequence.value;
    pending.value_bytes = static_cast<uint32_t>(cell.value.size());
    pending.heap_offset = heap_.size();
    if (cell.kind != CellKind::kDeleteFamily) {
      pending.same_column =
          i > 0 && cells[i - 1].kind != CellKind::kDeleteFamily && SameColumn(cells[i - 1], cell);
      if (!pending.same_column) {
        pending.column = names_->IdOf(cell.qualifier);
        if (pending.column == 0) {
          pending.name_bytes = static_cast<uint32_t>(cell.qualifier.size());
          heap_.append(cell.qualifier);
          size_bytes_ += cell.qualifier.size() + 2;
        }
      }
    }
    heap_.append(cell.value);
    base_timestamp_ = std::min(base_timestamp_, cell.timestamp);
    base_sequence_ = std::min(base_sequence_, cell.sequence.value);
    if (cell.kind != CellKind::kPut) flags_ &= ~kRowBlockAllPuts;
    if (pending.same_column) flags_ &= ~kRowBlockSingleVersions;
  }
}

uint16_t RowBlockWriter::Finish(std::string* raw) {
  CHECK(!rows_.empty());
  const size_t begin = raw->size();
  const std::string_view first = first_key();
  const size_t prefix_bytes = CommonPrefix(first, last_key());
  if (cells_.empty()) {
    base_timestamp_ = 0;
    base_sequence_ = 0;
  }
  slots_.clear();
  size_t slots_at = 0;
  {
    TailWriter out(raw, bytes_bound_);
    out.Fixed(static_cast<uint64_t>(base_timestamp_));
    out.Fixed(base_sequence_);
    out.Fixed(static_cast<uint16_t>(prefix_bytes));
    out.Zeros(kRowBlockFixedBytes - out.size_bytes());
    for (const Row& row : rows_) out.Fixed(KeyHead(KeyOf(row).substr(prefix_bytes)));
    slots_at = out.size_bytes();
    out.Zeros((rows_.size() + 1) * sizeof(uint32_t));
    out.Bytes(first.substr(0, prefix_bytes));
    for (size_t row = 0; row < rows_.size(); ++row) {
      slots_.push_back(static_cast<uint32_t>(out.size_bytes()));
      WriteRow(row, prefix_bytes, &out);
    }
    slots_.push_back(static_cast<uint32_t>(out.size_bytes()));
  }
  std::memcpy(raw->data() + begin + slots_at, slots_.data(), slots_.size() * sizeof(uint32_t));

  const uint16_t flags = flags_;
  heap_.clear();
  rows_.clear();
  cells_.clear();
  size_bytes_ = kRowBlockFixedBytes;
  bytes_bound_ = 0;
  flags_ = kRowBlockAllPuts | kRowBlockSingleVersions;
  base_timestamp_ = INT64_MAX;
  base_sequence_ = UINT64_MAX;
  return flags;
}

std::span<const RowBlockWriter::PendingCell> RowBlockWriter::CellsOf(size_t row) const {
  const size_t begin = rows_[row].first_cell;
  const size_t end = row + 1 < rows_.size() ? rows_[row + 1].first_cell : cells_.size();
  return std::span(cells_).subspan(begin, end - begin);
}

uint8_t RowBlockWriter::RowFlags(std::span<const PendingCell> cells) const {
  if (cells.empty()) return 0;
  uint8_t flags = kRowOneTimestamp | kRowOneSequence;
  for (const PendingCell& cell : cells) {
    if (cell.timestamp != cells[0].timestamp) flags &= ~kRowOneTimestamp;
    if (cell.sequence != cells[0].sequence) flags &= ~kRowOneSequence;
    if (cell.kind != CellKind::kPut) flags |= kRowHasMarkers;
    if (cell.same_column) flags |= kRowHasVersions;
  }
  return flags;
}

void RowBlockWriter::WriteRow(size_t row, size_t prefix_bytes, TailWriter* out) const {
  const std::string_view suffix = KeyOf(rows_[row]).substr(prefix_bytes);
  const std::span<const PendingCell> cells = CellsOf(row);
  const uint8_t flags = RowFlags(cells);
  out->Varint(suffix.size());
  if (suffix.size() > kHeadBytes) out->Bytes(suffix.substr(kHeadBytes));
  out->Fixed(flags);
  if (flags & kRowOneTimestamp) {
    out->Varint(static_cast<uint64_t>(cells[0].timestamp) - static_cast<uint64_t>(base_timestamp_));
  }
  if (flags & kRowOneSequence) out->Varint(cells[0].sequence - base_sequence_);
  const PendingCell* before = nullptr;
  for (const PendingCell& cell : cells) {
    WriteCell(cell, before, flags, out);
    before = &cell;
  }
}

void RowBlockWriter::WriteCell(const PendingCell& cell, const PendingCell* before,
                               uint8_t row_flags, TailWriter* out) const {
  const bool timestamps = (row_flags & kRowOneTimestamp) == 0;
  const bool sequences = (row_flags & kRowOneSequence) == 0;
  const bool same_timestamp = before != nullptr && before->timestamp == cell.timestamp;
  const bool same_sequence = before != nullptr && before->sequence == cell.sequence;
  uint8_t flags = static_cast<uint8_t>(cell.kind);
  if (cell.same_column) flags |= kCellSameColumn;
  if (cell.overflow) flags |= kCellOverflow;
  if (timestamps && same_timestamp) flags |= kCellSameTimestamp;
  if (sequences && same_sequence) flags |= kCellSameSequence;
  out->Fixed(flags);

  const std::string_view heap(heap_);
  if (cell.kind != CellKind::kDeleteFamily && !cell.same_column) {
    out->Varint(cell.column);
    if (cell.column == 0) out->LengthPrefixed(heap.substr(cell.heap_offset, cell.name_bytes));
  }
  if (timestamps && !same_timestamp) {
    out->Varint(static_cast<uint64_t>(cell.timestamp) - static_cast<uint64_t>(base_timestamp_));
  }
  if (sequences && !same_sequence) out->Varint(cell.sequence - base_sequence_);
  if (cell.kind == CellKind::kPut) {
    out->LengthPrefixed(heap.substr(cell.heap_offset + cell.name_bytes, cell.value_bytes));
  }
}

}  // namespace tandem::format

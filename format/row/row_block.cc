// Searches row blocks and decodes their rows. Offsets in the block are checked against its size
// before they are used; within a row every byte is read through ByteReader.
#include "format/row/row_block.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/key_head.h"
#include "format/row/row_block_writer.h"
#include "format/row/row_fields.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

constexpr size_t kLine = 64;  // Processor cache line.

}  // namespace

Result<RowBlockRef> RowBlock::Decode(const BlockPlace& place, FamilyId family,
                                     std::string_view stored) {
  auto rows = std::make_shared<RowBlock>(Private());
  const bool wide = ClaimedKind(stored) == BlockKind::kWideHead;
  const BlockKind kind = wide ? BlockKind::kWideHead : BlockKind::kRows;
  RETURN_IF_ERROR(DecodeBlockInto(place, kind, stored, rows.get()));
  rows->family_ = family;
  if (wide) {
    ASSIGN_OR_RETURN(WideHead head, WideHead::Parse(*rows, family, place.first_sequence));
    rows->wide_ = std::make_unique<const WideHead>(std::move(head));
  } else {
    RETURN_IF_ERROR(rows->Parse());
    rows->base_sequence_ += place.first_sequence;
  }
  return RowBlockRef(std::move(rows));
}

// Finds the parts of the block and checks that they are within it.
Status RowBlock::Parse() {
  raw_ = raw();
  ByteReader reader(raw_);
  base_timestamp_ = reader.U64();
  base_sequence_ = reader.U64();
  const uint16_t prefix_bytes = reader.U16();
  const uint64_t zeros = uint64_t{reader.U16()} | reader.U32();
  const uint64_t slots_at = kRowHeadsAt + uint64_t{count} * kRowHeadBytes;
  const uint64_t prefix_at = slots_at + (uint64_t{count} + 1) * sizeof(uint32_t);
  const uint64_t rows_at = prefix_at + prefix_bytes;
  if (!reader.ok() || count == 0 || rows_at > raw_.size()) {
    return Corrupt("row block is shorter than its count of rows needs");
  }
  if (zeros != 0 || (flags & ~(kRowBlockAllPuts | kRowBlockSingleVersions)) != 0) {
    return Corrupt("row block has bits set that must be zero");
  }
  slots_at_ = static_cast<uint32_t>(slots_at);
  rows_at_ = static_cast<uint32_t>(rows_at);
  prefix_ = raw_.substr(prefix_at, prefix_bytes);
  if (prefix_bytes <= prefix_copy_.size()) {
    std::copy(prefix_.begin(), prefix_.end(), prefix_copy_.begin());
    prefix_ = std::string_view(prefix_copy_.data(), prefix_bytes);
  }
  const uint32_t begin = LoadAt<uint32_t>(raw_, slots_at);
  const uint32_t end = LoadAt<uint32_t>(raw_, prefix_at - sizeof(uint32_t));
  if (begin != rows_at || end != raw_.size()) return Corrupt("rows do not fill their block");
  return {};
}

uint64_t RowBlock::Head(uint32_t slot) const {
  return LoadAt<uint64_t>(raw_, kRowHeadsAt + size_t{slot} * kRowHeadBytes);
}

// Compares the row's key with prefix + suffix. Requires: prefix and head are equal.
int RowBlock::CompareTail(uint32_t slot, std::string_view suffix) const {
  ByteReader row(RowBytes(slot));
  const KeyTail key = ReadKeyTail(&row);
  if (key.suffix_bytes > kRowHeadBytes && suffix.size() > kRowHeadBytes) {
    return key.tail.compare(suffix.substr(kRowHeadBytes));
  }
  return key.suffix_bytes < suffix.size() ? -1 : key.suffix_bytes > suffix.size() ? 1 : 0;
}

uint32_t RowBlock::LowerBound(std::string_view key) const {
  if (is_wide()) return key <= wide_->key() ? 0 : 1;
  const int order = key.substr(0, prefix_.size()).compare(prefix_);
  if (order != 0) return order < 0 ? 0 : count;
  const std::string_view suffix = key.substr(prefix_.size());
  const uint64_t head = KeyHead(suffix);
  uint32_t slot = LowerBoundOfHeads(raw_, kRowHeadsAt, count, head);
  if (slot == count || Head(slot) != head) return slot;
  // Among the rows with this head, the first whose tail is not smaller.
  uint32_t end = count;
  if (head != UINT64_MAX) {
    end = slot + LowerBoundOfHeads(raw_, kRowHeadsAt + size_t{slot} * kRowHeadBytes, count - slot,
                                   head + 1);
  }
  while (slot < end) {
    const uint32_t middle = slot + (end - slot) / 2;
    if (CompareTail(middle, suffix) < 0) {
      slot = middle + 1;
    } else {
      end = middle;
    }
  }
  return slot;
}

uint32_t RowBlock::LowerBoundFrom(uint32_t from, std::string_view key) const {
  constexpr uint32_t kNear = 8;
  if (is_wide() || !key.starts_with(prefix_)) return std::max(from, LowerBound(key));
  const std::string_view suffix = key.substr(prefix_.size());
  const uint64_t head = KeyHead(suffix);
  for (uint32_t slot = from; slot < std::min(count, from + kNear); ++slot) {
    const uint64_t here = Head(slot);
    if (here > head || (here == head && CompareTail(slot, suffix) >= 0)) return slot;
  }
  return from + kNear < count ? std::max(from, LowerBound(key)) : count;
}

Status RowBlock::Key(uint32_t slot, std::string* key) const {
  key->clear();
  return AppendKey(slot, key);
}

Status RowBlock::AppendKey(uint32_t slot, std::string* key) const {
  if (is_wide()) {
    key->append(wide_->key());
    return {};
  }
  ByteReader row(RowBytes(slot));
  const KeyTail tail = ReadKeyTail(&row);
  if (!row.ok() || prefix_.size() + tail.suffix_bytes > kRowKeyBytesMax) {
    return Corrupt("key of row " + std::to_string(slot) + " is malformed");
  }
  char head[kRowHeadBytes];
  const uint64_t bytes = __builtin_bswap64(Head(slot));
  std::memcpy(head, &bytes, sizeof(bytes));
  key->append(prefix_);
  key->append(head, std::min(tail.suffix_bytes, kRowHeadBytes));
  key->append(tail.tail);
  return {};
}

Result<bool> RowBlock::KeyEquals(uint32_t slot, std::string_view key) const {
  if (is_wide()) return key == wide_->key();
  if (!key.starts_with(prefix_)) return false;
  const std::string_view suffix = key.substr(prefix_.size());
  if (Head(slot) != KeyHead(suffix)) return false;
  ByteReader row(RowBytes(slot));
  const KeyTail tail = ReadKeyTail(&row);
  if (!row.ok()) return Corrupt("key of row " + std::to_string(slot) + " is malformed");
  if (tail.suffix_bytes != suffix.size()) return false;
  return suffix.size() <= kRowHeadBytes || tail.tail == suffix.substr(kRowHeadBytes);
}

Status RowBlock::AppendFamilyDeletes(std::vector<Cell>* out) const {
  return wide_->AppendFamilyDeletes(*this, out);
}

Status RowBlock::Cells(uint32_t slot, const Projection& columns, std::vector<Cell>* out) const {
  if (is_wide()) return Status::Unsupported("a wide row is read through its chunks");
  return columns.all() ? DecodeCells<true>(slot, columns, out)
                       : DecodeCells<false>(slot, columns, out);
}

void RowBlock::PrefetchPlace(uint32_t slot) const {
  if (is_wide()) return;
  __builtin_prefetch(raw_.data() + slots_at_ + size_t{slot} * sizeof(uint32_t));
  __builtin_prefetch(raw_.data() + kRowHeadsAt + size_t{slot} * kRowHeadBytes);
}

void RowBlock::PrefetchSlot(const char* raw, uint32_t count, uint32_t slot) {
  __builtin_prefetch(raw + kRowHeadsAt + size_t{count} * kRowHeadBytes +
                     size_t{slot} * sizeof(uint32_t));
}

void RowBlock::PrefetchLike(const RowBlock& before, uint32_t slot) const {
  if (is_wide() || before.is_wide()) return;
  const std::string_view row = before.RowBytes(slot);
  if (row.empty()) return;
  const auto row_at = static_cast<size_t>(row.data() - before.raw_.data());
  const size_t begin = slot == 0 ? 0 : row_at;  // The first one brings heads and slots along.
  const size_t end = std::min(row_at + row.size(), raw_.size());
  for (size_t at = begin; at < end; at += kLine) __builtin_prefetch(raw_.data() + at);
}

void RowBlock::PrefetchRow(uint32_t slot) const {
  if (is_wide()) return;
  constexpr size_t kLinesMax = 4;
  const std::string_view row = RowBytes(slot);
  const size_t lines = std::min(row.size() / kLine + 1, kLinesMax);
  for (size_t i = 0; i < lines; ++i) __builtin_prefetch(row.data() + i * kLine);
}

// The cells of a plain row, which is what most rows are. False: nothing was appended.
template <bool kAll>
bool RowBlock::AppendPlainCells(ByteReader row, RowVersions versions, const Projection& columns,
                                std::vector<Cell>* out) const {
  if (family_.value == kKeysOwner) return false;
  const Dictionary& names = columns.names();
  const size_t before = out->size();
  const bool is_plain = ForEachPlainCell(
      &row, &versions, names,
      [&](uint32_t id, std::string_view name, const RowVersions& of_cell, std::string_view value) {
        if (!kAll && !(id == 0 ? columns.WantsName(name) : columns.WantsId(id))) return true;
        Cell& cell = out->emplace_back();
        cell.kind = CellKind::kPut;
        cell.family = family_;
        cell.qualifier = id == 0 ? name : names.Name(id);
        cell.timestamp = of_cell.timestamp();
        cell.sequence = of_cell.sequence();
        cell.value = value;
        return true;
      });
  if (!is_plain) out->resize(before);
  return is_plain;
}

template <bool kAll>
Status RowBlock::DecodeCells(uint32_t slot, const Projection& columns,
                             std::vector<Cell>* out) const {
  ByteReader row(RowBytes(slot));
  (void)ReadKeyTail(&row);
  RowVersions versions(base_timestamp_, base_sequence_, &row);
  if (AppendPlainCells<kAll>(row, versions, columns, out)) return {};
  // Only a row of the keys has no cell.
  bool sound = versions.sound() && (row.remaining() > 0) == (family_.value != kKeysOwner);
  RowColumn column;
  while (row.remaining() > 0) {
    const uint8_t flags = row.U8();
    const CellKind kind = static_cast<CellKind>(flags & kCellKindMask);
    sound &= (flags & kCellFlagsUnknown) == 0 && kind <= CellKind::kDeleteFamily;
    if (kind == CellKind::kDeleteFamily) {
      // These markers come before all cells of columns.
      sound &= !column.known() && (flags & kCellSameColumn) == 0;
    } else if ((flags & kCellSameColumn) != 0) {
      sound &= column.known();
    } else {
      column.Read<kAll>(columns, &row);
    }
    versions.Read(flags, &row);
    const std::string_view value =
        kind == CellKind::kPut ? row.LengthPrefixed() : std::string_view();
    const BlockFile* overflow_file = nullptr;
    if ((flags & kCellOverflow) != 0) {
      overflow_file = columns.file();
      sound &= kind == CellKind::kPut && overflow_file != nullptr;
    }
    if (kAll || column.wanted) {
      // In place: reading back a temporary would stall on its small pending stores.
      Cell& cell = out->emplace_back();
      cell.kind = kind;
      cell.family = family_;
      cell.qualifier = column.name;
      cell.timestamp = versions.timestamp();
      cell.sequence = versions.sequence();
      cell.value = value;
      cell.overflow_file = overflow_file;
    }
  }
  if (row.ok() && sound) return {};
  return Corrupt("cells of row " + std::to_string(slot) + " are malformed");
}

void RowSlot::Set(const std::shared_ptr<RowSlot>& slot, const RowBlockRef& rows) {
  BlockSlot::Set(slot, rows);
  slot->raw_.store(rows->raw().data(), std::memory_order_relaxed);
}

void RowSlot::Prefetch() const {
  const auto object = reinterpret_cast<uintptr_t>(address());
  if (object == 0) return;
  // The reference counts are before the object.
  constexpr uintptr_t kCountsBytes = 16, kLine = 64;
  for (uintptr_t at = object - kCountsBytes; at < object + sizeof(RowBlock); at += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(at));
  }
}

void RowSlot::PrefetchSlot(uint32_t count, uint32_t slot) const {
  const char* const raw = raw_.load(std::memory_order_relaxed);
  if (address() != nullptr && raw != nullptr) RowBlock::PrefetchSlot(raw, count, slot);
}

}  // namespace tandem::format

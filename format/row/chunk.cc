// The names in a chunk are prefix-compressed: a cell stores the number of bytes it shares with the
// name before. Decoding writes every name once to a buffer, whose size is stored in the chunk and
// limited.
#include "format/row/chunk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/key_head.h"
#include "format/row/row_block_writer.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

// Flags and lengths of a cell, and roughly its deltas if it has its own.
constexpr size_t kCellBytes = 4, kTimestampBytes = 5, kSequenceBytes = 4;
// Flags and the length of a value, or flags and two deltas.
constexpr size_t kCellBytesMin = 2;

// The cells of a chunk while they are read.
class ChunkReader {
 public:
  ChunkReader(const Block& block, const ChunkPlace& place)
      : block_(block), place_(place), reader_(block.raw()) {}

  Status ReadFixedPart();
  Status ReadCells(std::vector<Cell>* out);
  std::unique_ptr<char[]> TakeNames() { return std::move(names_); }

 private:
  void ReadName();
  bool ReadCell(const Cell* before, Cell* cell);

  const Block& block_;
  const ChunkPlace& place_;
  ByteReader reader_;
  uint64_t base_timestamp_ = 0, base_sequence_ = 0;
  std::unique_ptr<char[]> names_;
  size_t name_bytes_ = 0, names_used_ = 0;
  std::string_view name_;
  uint64_t timestamp_ = 0, sequence_ = 0;
};

Status ChunkReader::ReadFixedPart() {
  base_timestamp_ = reader_.U64();
  base_sequence_ = reader_.U64() + place_.file->first_sequence();
  const uint64_t key_hash = reader_.U64();
  const uint32_t number = reader_.U32();
  name_bytes_ = reader_.U32();
  if (!reader_.ok() || block_.flags != 0 || block_.raw_bytes > kChunkRawBytesMax) {
    return block_.Corrupt("chunk of a wide row is malformed");
  }
  if (key_hash != place_.key_hash) {
    return block_.Corrupt(HashMismatch("chunk of the row with hash", place_.key_hash, key_hash));
  }
  if (number != place_.number) {
    return block_.Corrupt(Mismatch("number of chunk", place_.number, number));
  }
  if (block_.first != place_.position) {
    return block_.Corrupt(Mismatch("position of chunk", place_.position, block_.first));
  }
  if (block_.count == 0 || block_.count > reader_.remaining() / kCellBytesMin) {
    return block_.Corrupt("chunk is shorter than its count of cells needs");
  }
  if (name_bytes_ > kChunkNameBytes + kQualifierBytesMax) {
    return block_.Corrupt(Mismatch("bytes of names in a chunk, at most",
                                   kChunkNameBytes + kQualifierBytesMax, name_bytes_));
  }
  names_ = std::make_unique_for_overwrite<char[]>(name_bytes_);
  return {};
}

Status ChunkReader::ReadCells(std::vector<Cell>* out) {
  const size_t begin = out->size();
  out->reserve(begin + block_.count);
  for (uint32_t i = 0; i < block_.count; ++i) {
    Cell cell;
    const Cell* before = i == 0 ? nullptr : &out->back();
    if (!ReadCell(before, &cell) || (before != nullptr && !CellLess(*before, cell))) {
      return block_.Corrupt("cell " + std::to_string(i) + " of a chunk is malformed");
    }
    out->push_back(cell);
  }
  if (reader_.done() && names_used_ == name_bytes_) return {};
  return block_.Corrupt("cells do not fill their chunk");
}

bool ChunkReader::ReadCell(const Cell* before, Cell* cell) {
  const uint8_t flags = reader_.U8();
  constexpr uint8_t kAsBefore = kCellSameColumn | kCellSameTimestamp | kCellSameSequence;
  if (before == nullptr && (flags & kAsBefore) != 0) return false;
  cell->kind = static_cast<CellKind>(flags & kCellKindMask);
  if ((flags & kCellFlagsUnknown) != 0 || cell->kind >= CellKind::kDeleteFamily) return false;
  if ((flags & kCellSameColumn) == 0) ReadName();
  if ((flags & kCellSameTimestamp) == 0) timestamp_ = base_timestamp_ + reader_.Varint();
  if ((flags & kCellSameSequence) == 0) sequence_ = base_sequence_ + reader_.Varint();
  if (cell->kind == CellKind::kPut) cell->value = reader_.LengthPrefixed();
  if ((flags & kCellOverflow) != 0) {
    if (cell->kind != CellKind::kPut) return false;
    cell->overflow_file = place_.file;
  }
  cell->family = place_.family;
  cell->qualifier = name_;
  cell->timestamp = static_cast<int64_t>(timestamp_);
  cell->sequence = SequenceNumber(sequence_);
  return reader_.ok();
}

// Fails the reader when the name does not fit.
void ChunkReader::ReadName() {
  const uint64_t shared = reader_.VarintUpTo(name_.size());
  const uint64_t rest_bytes = reader_.VarintUpTo(kQualifierBytesMax - shared);
  const std::string_view rest = reader_.Bytes(rest_bytes);
  if (!reader_.ok() || shared + rest.size() > name_bytes_ - names_used_) {
    reader_.Fail();
    return;
  }
  char* const begin = names_.get() + names_used_;
  std::copy_n(name_.data(), shared, begin);
  std::copy_n(rest.data(), rest.size(), begin + shared);
  name_ = {begin, shared + rest.size()};
  names_used_ += name_.size();
}

}  // namespace

bool ChunkBuilder::IsFullFor(const Cell& cell) const {
  return !cells_.empty() &&
         (size_bytes_ + cell.qualifier.size() + cell.value.size() > kChunkBytes ||
          name_bytes_ + cell.qualifier.size() > kChunkNameBytes);
}

void ChunkBuilder::Add(const Cell& cell) {
  DCHECK(cell.kind != CellKind::kDeleteFamily);
  PendingCell pending;
  pending.kind = cell.kind;
  pending.flags = static_cast<uint8_t>(cell.kind);
  if (cell.is_overflow()) pending.flags |= kCellOverflow;
  pending.timestamp = cell.timestamp;
  pending.sequence = cell.sequence.value;
  pending.value_bytes = static_cast<uint32_t>(cell.value.size());
  pending.heap_offset = heap_.size();
  if (!cells_.empty()) {
    const PendingCell& before = cells_.back();
    if (name_ == cell.qualifier) pending.flags |= kCellSameColumn;
    if (before.timestamp == pending.timestamp) pending.flags |= kCellSameTimestamp;
    if (before.sequence == pending.sequence) pending.flags |= kCellSameSequence;
  }
  size_bytes_ += kCellBytes + cell.value.size();
  if ((pending.flags & kCellSameTimestamp) == 0) size_bytes_ += kTimestampBytes;
  if ((pending.flags & kCellSameSequence) == 0) size_bytes_ += kSequenceBytes;
  if ((pending.flags & kCellSameColumn) == 0) {
    pending.name_bytes = static_cast<uint32_t>(cell.qualifier.size());
    if (!cells_.empty()) {
      pending.shared_bytes = static_cast<uint32_t>(CommonPrefix(name_, cell.qualifier));
    }
    heap_.append(cell.qualifier.substr(pending.shared_bytes));
    size_bytes_ += cell.qualifier.size() - pending.shared_bytes;
    name_bytes_ += cell.qualifier.size();
    name_ = cell.qualifier;
  }
  heap_.append(cell.value);
  base_timestamp_ = std::min(base_timestamp_, cell.timestamp);
  base_sequence_ = std::min(base_sequence_, cell.sequence.value);
  cells_.push_back(pending);
}

Cell ChunkBuilder::first() const {
  const PendingCell& first = cells_.front();
  Cell cell;
  cell.kind = first.kind;
  cell.qualifier = std::string_view(heap_).substr(0, first.name_bytes);
  cell.timestamp = first.timestamp;
  cell.sequence = SequenceNumber(first.sequence);
  return cell;
}

void ChunkBuilder::Finish(uint64_t key_hash, uint32_t number, std::string* raw) {
  CHECK(!cells_.empty());
  raw->clear();
  AppendU64(raw, static_cast<uint64_t>(base_timestamp_));
  AppendU64(raw, base_sequence_);
  AppendU64(raw, key_hash);
  AppendU32(raw, number);
  AppendU32(raw, static_cast<uint32_t>(name_bytes_));
  const std::string_view heap(heap_);
  for (const PendingCell& cell : cells_) {
    size_t at = cell.heap_offset;
    AppendU8(raw, cell.flags);
    if ((cell.flags & kCellSameColumn) == 0) {
      const size_t rest_bytes = cell.name_bytes - cell.shared_bytes;
      AppendVarint(raw, cell.shared_bytes);
      AppendLengthPrefixed(raw, heap.substr(at, rest_bytes));
      at += rest_bytes;
    }
    if ((cell.flags & kCellSameTimestamp) == 0) {
      AppendVarint(raw,
                   static_cast<uint64_t>(cell.timestamp) - static_cast<uint64_t>(base_timestamp_));
    }
    if ((cell.flags & kCellSameSequence) == 0) AppendVarint(raw, cell.sequence - base_sequence_);
    if (cell.kind == CellKind::kPut) AppendLengthPrefixed(raw, heap.substr(at, cell.value_bytes));
  }
  CHECK(raw->size() <= kChunkRawBytesMax);
  heap_.clear();
  name_.clear();
  cells_.clear();
  size_bytes_ = kChunkFixedBytes;
  name_bytes_ = 0;
  base_timestamp_ = INT64_MAX;
  base_sequence_ = UINT64_MAX;
}

Result<ChunkPlace> StatedPlace(const Block& block) {
  ByteReader reader(block.raw());
  reader.Skip(2 * sizeof(uint64_t));
  ChunkPlace place;
  place.position = block.first;
  place.key_hash = reader.U64();
  place.number = reader.U32();
  if (!reader.ok()) return block.Corrupt("chunk of a wide row is malformed");
  return place;
}

Result<std::shared_ptr<const void>> DecodeChunk(BlockRef block, const ChunkPlace& place,
                                                std::vector<Cell>* out) {
  struct Pinned {
    BlockRef block;
    std::unique_ptr<char[]> names;
  };
  ChunkReader reader(*block, place);
  Status status = reader.ReadFixedPart();
  if (status.ok()) status = reader.ReadCells(out);
  if (!status.ok()) return status;
  return std::shared_ptr<const void>(
      std::make_shared<Pinned>(Pinned{std::move(block), reader.TakeNames()}));
}

}  // namespace tandem::format

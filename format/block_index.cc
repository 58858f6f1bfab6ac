// Loading, checking and searching the block index.
//
// A search by key takes two levels: the piece by its first separator, then the entry by its head
// within the piece; equal heads are settled by the separators' rests.
#include "format/block_index.h"

#include <algorithm>
#include <cstring>

#include "base/status_macros.h"
#include "format/block_codec.h"
#include "format/block_index_writer.h"
#include "format/block_run.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/head_search.h"

namespace tandem::format {
namespace {

// Of the fixed part of an entry.
constexpr uint64_t kEntryBytes = 2 * sizeof(uint64_t) + 3 * sizeof(uint32_t);

std::string_view BytesOf(const std::vector<uint64_t>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t)};
}

// False when the reader has not so many.
template <typename T>
bool AppendArray(ByteReader* reader, uint32_t count, std::vector<T>* array) {
  const std::string_view bytes = reader->Bytes(count * sizeof(T));
  if (!reader->ok()) return false;
  const size_t before = array->size();
  array->resize(before + count);
  std::memcpy(array->data() + before, bytes.data(), bytes.size());
  return true;
}

}  // namespace

Result<BlockIndex> BlockIndex::Load(const BlockFile& file, const SectionEntry& index,
                                    const SectionEntry& data, uint32_t row_count) {
  BlockIndex result;
  result.Reserve(std::min(index.count, index.size_bytes / kEntryBytes));
  BlockRun blocks(file, index);
  while (!blocks.done()) {
    ASSIGN_OR_RETURN(const BlockRef block, blocks.Next(BlockKind::kBlockIndex));
    if (!result.AddPiece(*block)) return block->Corrupt("piece of block index is malformed");
  }
  if (result.size() != index.count) {
    return file.Corrupt(index.offset,
                        Mismatch("entries of block index", index.count, result.size()));
  }
  RETURN_IF_ERROR(result.CheckPlaces(file, index, data, row_count));
  result.firsts_.push_back(row_count);
  return result;
}

void BlockIndex::Reserve(uint64_t entries) {
  heads_.reserve(entries);
  offsets_.reserve(entries);
  stored_bytes_.reserve(entries);
  firsts_.reserve(entries + 1);
  key_ends_.reserve(entries);
}

// Appends what the piece holds; false when it breaks a rule of the table or does not follow the
// pieces before it.
bool BlockIndex::AddPiece(const Block& block) {
  const uint32_t count = block.count;
  if (count == 0 || count > kBlockIndexPieceEntriesMax || block.first != size()) return false;
  ByteReader reader(block.raw());
  const uint16_t prefix_bytes = reader.U16();
  if (reader.U16() != 0 || reader.U32() != 0) return false;
  const bool has_arrays =
      AppendArray(&reader, count, &heads_) && AppendArray(&reader, count, &offsets_) &&
      AppendArray(&reader, count, &stored_bytes_) && AppendArray(&reader, count, &firsts_) &&
      AppendArray(&reader, count, &key_ends_);
  if (!has_arrays) return false;
  Piece piece;
  piece.prefix = reader.Bytes(prefix_bytes);
  piece.heap = heap_.size();
  piece.first = block.first;
  piece.end = block.first + count;
  if (!reader.ok() || reader.remaining() != key_ends_.back()) return false;
  heap_.append(reader.Bytes(reader.remaining()));
  if (!RestsRise(piece)) return false;
  piece.first_separator = piece.prefix;
  piece.first_separator.append(Rest(piece, piece.first));
  if (!pieces_.empty()) {
    const Piece& before = pieces_.back();
    std::string last = before.prefix;
    last.append(Rest(before, before.end - 1));
    if (last >= piece.first_separator) return false;
  }
  pieces_.push_back(std::move(piece));
  return true;
}

// Whether the rests lie within the heap, rise, and have the heads that the piece states.
bool BlockIndex::RestsRise(const Piece& piece) const {
  const size_t heap_bytes = heap_.size() - piece.heap;
  for (uint32_t i = piece.first; i < piece.end; ++i) {
    const uint32_t begin = i == piece.first ? 0 : key_ends_[i - 1];
    if (begin > key_ends_[i] || key_ends_[i] > heap_bytes) return false;
    if (heads_[i] != KeyHead(Rest(piece, i))) return false;
    if (i > piece.first && Rest(piece, i - 1) >= Rest(piece, i)) return false;
  }
  return true;
}

Status BlockIndex::CheckPlaces(const BlockFile& file, const SectionEntry& index,
                               const SectionEntry& data, uint32_t row_count) const {
  uint64_t offset = data.offset;  // The end of the block before.
  const uint64_t end = data.offset + data.size_bytes;
  if (size() == 0) return file.Corrupt(index.offset, "a block index has no entry");
  for (uint32_t i = 0; i < size(); ++i) {
    const uint32_t first_min = i == 0 ? 0 : firsts_[i - 1] + 1;
    if ((i == 0 && firsts_[i] != 0) || firsts_[i] < first_min || firsts_[i] >= row_count) {
      return file.Corrupt(index.offset, "first positions of the block index do not rise");
    }
    const uint64_t padded = (uint64_t{stored_bytes_[i]} + kBlockAlignment - 1) & ~uint64_t{7};
    if (offsets_[i] < offset || offsets_[i] > end || offsets_[i] % kBlockAlignment != 0) {
      return file.Corrupt(index.offset,
                          Mismatch("offset of row block, at least", offset, offsets_[i]));
    }
    if (stored_bytes_[i] < kBlockHeaderBytes || padded > end - offsets_[i]) {
      return file.Corrupt(offsets_[i],
                          Mismatch("bytes of row block, at most", end - offsets_[i], padded));
    }
    offset = offsets_[i] + padded;
  }
  return {};
}

uint64_t BlockIndex::memory_bytes() const {
  uint64_t bytes = heap_.capacity() + pieces_.capacity() * sizeof(Piece);
  for (const Piece& piece : pieces_) bytes += piece.prefix.size() + piece.first_separator.size();
  return bytes + (offsets_.capacity() + heads_.capacity()) * sizeof(uint64_t) +
         (stored_bytes_.capacity() + firsts_.capacity() + key_ends_.capacity()) * sizeof(uint32_t);
}

DataBlock BlockIndex::At(uint32_t block) const {
  return {
      {offsets_[block], stored_bytes_[block]}, firsts_[block], firsts_[block + 1] - firsts_[block]};
}

uint32_t BlockIndex::BlockOf(uint32_t position, uint32_t hint) const {
  uint32_t low = firsts_[hint] <= position ? hint : 0;
  uint32_t step = 1;
  while (low + step < size() && firsts_[low + step] <= position) {
    low += step;
    step *= 2;
  }
  uint32_t high = std::min(low + step, size());  // firsts_[high] > position.
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (firsts_[middle] <= position ? low : high) = middle;
  }
  return low;
}

uint32_t BlockIndex::Find(std::string_view key) const {
  const auto above = std::upper_bound(
      pieces_.begin(), pieces_.end(), key,
      [](std::string_view wanted, const Piece& piece) { return wanted < piece.first_separator; });
  if (above == pieces_.begin()) return 0;
  return UpperBound(*(above - 1), key) - 1;
}

std::string_view BlockIndex::Rest(const Piece& piece, uint32_t entry) const {
  const uint32_t begin = entry == piece.first ? 0 : key_ends_[entry - 1];
  return std::string_view(heap_).substr(piece.heap + begin, key_ends_[entry] - begin);
}

const BlockIndex::Piece& BlockIndex::PieceOf(uint32_t entry) const {
  const auto above =
      std::upper_bound(pieces_.begin(), pieces_.end(), entry,
                       [](uint32_t wanted, const Piece& piece) { return wanted < piece.first; });
  return *(above - 1);
}

void BlockIndex::Separator(uint32_t block, std::string* separator) const {
  const Piece& piece = PieceOf(block);
  separator->assign(piece.prefix);
  separator->append(Rest(piece, block));
}

uint32_t BlockIndex::Find(std::string_view key, uint32_t hint) const {
  // An entry is at most the key when its separator is not above it.
  const Piece& piece = PieceOf(hint);
  const bool is_behind = piece.end < size() && key >= (&piece + 1)->first_separator;
  if (is_behind || !key.starts_with(piece.prefix)) return Find(key);
  const std::string_view rest = key.substr(piece.prefix.size());
  const uint64_t head = KeyHead(rest);
  const auto is_at_most = [&](uint32_t entry) {
    return heads_[entry] != head ? heads_[entry] < head : Rest(piece, entry) <= rest;
  };
  if (!is_at_most(hint)) return Find(key);
  uint32_t low = hint, step = 1;
  while (low + step < piece.end && is_at_most(low + step)) {
    low += step;
    step *= 2;
  }
  uint32_t high = std::min(low + step, piece.end);
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (is_at_most(middle) ? low : high) = middle;
  }
  return low;
}

// The first entry of the piece whose separator is above `key`. Requires: its first one is not.
uint32_t BlockIndex::UpperBound(const Piece& piece, std::string_view key) const {
  if (!key.starts_with(piece.prefix)) return piece.end;
  const std::string_view rest = key.substr(piece.prefix.size());
  const uint64_t head = KeyHead(rest);
  const uint32_t count = piece.end - piece.first;
  const std::string_view heads = BytesOf(heads_);
  uint32_t low =
      piece.first + LowerBoundOfHeads(heads, piece.first * sizeof(uint64_t), count, head);
  uint32_t high = piece.end;
  if (head != UINT64_MAX) {
    high = low + LowerBoundOfHeads(heads, low * sizeof(uint64_t), piece.end - low, head + 1);
  }
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (Rest(piece, middle) <= rest) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace tandem::format

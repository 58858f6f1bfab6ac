// Searching the block index, and loading its pieces.
//
// A search by key has two steps: find the piece by its first separator, then the entry within it.
// A piece that is not kept is looked for in the block cache by each search, then read. When one is
// looked for, it is kept if there is room by now.
#include "format/row/block_index.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/block/block_codec.h"
#include "format/corruption.h"

namespace tandem::format {

namespace {

// Of a piece that the index keeps.
IndexPieceRef WithoutPin(const IndexPiece& piece) { return {IndexPieceRef(), &piece}; }

IndexPieceRef Pin(std::shared_ptr<const IndexPieceBlock> block) {
  const IndexPiece* const piece = &block->piece;
  return {std::move(block), piece};
}

}  // namespace

uint64_t BlockIndex::memory_bytes() const {
  const uint64_t of_piece = sizeof(Lazy<Kept>) + sizeof(uint32_t) + 2 * sizeof(uint64_t);
  return piece_count() * of_piece + (top_block_ == nullptr ? 0 : top_block_->raw_bytes);
}

uint32_t BlockIndex::PieceOf(uint32_t position, uint32_t hint) const {
  uint32_t low = firsts_[hint] <= position ? hint : 0;
  uint32_t step = 1;
  while (low + step < piece_count() && firsts_[low + step] <= position) {
    low += step;
    step *= 2;
  }
  uint32_t high = std::min(low + step, piece_count());  // firsts_[high] > position.
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (firsts_[middle] <= position ? low : high) = middle;
  }
  return low;
}

Result<DataBlock> BlockIndex::AtSlowly(uint32_t block) const {
  return WithPiece(block >> bits_, [=](const IndexPiece& piece) { return piece.At(block); });
}

Result<uint32_t> BlockIndex::BlockOf(uint32_t position, uint32_t hint) const {
  uint32_t number = hint >> bits_;
  if (position < firsts_[number] || position >= firsts_[number + 1]) {
    number = PieceOf(position, number);
    if (number != hint >> bits_) hint = 0;
  }
  return WithPiece(number, [=](const IndexPiece& piece) { return piece.BlockOf(position, hint); });
}

Result<uint32_t> BlockIndex::Find(std::string_view key) const {
  const uint32_t above = top_.UpperBound(key);
  return WithPiece(above == 0 ? 0 : above - 1, [=](const IndexPiece& piece) {
    const uint32_t entries = piece.table.UpperBound(key);
    return piece.first_block + (entries == 0 ? 0 : entries - 1);
  });
}

Result<uint32_t> BlockIndex::Find(std::string_view key, uint32_t hint) const {
  const uint32_t number = hint >> bits_;
  if (number + 1 < piece_count() && top_.IsAtMost(number + 1, key)) return Find(key);
  const uint32_t low = hint & mask();
  ASSIGN_OR_RETURN(const uint32_t entries, WithPiece(number, [=](const IndexPiece& piece) {
                     return piece.table.UpperBound(key, low);
                   }));
  if (entries == 0) return Find(key);
  return FirstBlockOf(number) + entries - 1;
}

Status BlockIndex::Separator(uint32_t block, std::string* separator) const {
  const uint32_t entry = block & mask();
  if (entry == 0) {
    top_.Separator(block >> bits_, separator);
    return {};
  }
  return WithPiece(block >> bits_,
                   [=](const IndexPiece& piece) {
                     piece.table.Separator(entry, separator);
                     return true;
                   })
      .status();
}

Result<uint64_t> BlockIndex::DataBytes(uint32_t first, uint32_t end) const {
  ASSIGN_OR_RETURN(const uint64_t before, DataBytesUpTo(first));
  ASSIGN_OR_RETURN(const uint64_t with, DataBytesUpTo(end));
  return with - before;
}

// The stored bytes of the blocks before `block`.
Result<uint64_t> BlockIndex::DataBytesUpTo(uint32_t block) const {
  if (block == size_) return DataBytesBefore(piece_count());
  const uint64_t before = DataBytesBefore(block >> bits_);
  const uint32_t entries = block & mask();
  if (entries == 0) return before;
  return WithPiece(block >> bits_, [=](const IndexPiece& piece) {
    uint64_t bytes = before;
    for (uint32_t i = 0; i < entries; ++i) bytes += piece.table.HandleOf(i).stored_bytes;
    return bytes;
  });
}

bool BlockIndex::Fits(uint64_t stored_bytes) const {
  const uint64_t slots = (uint64_t{mask()} + 1) * sizeof(RowSlot);
  return file_->Fits(base::MemoryPart::kBlockIndexes, sizeof(Kept) + stored_bytes + slots);
}

IndexPieceRef BlockIndex::CachedPiece(uint32_t piece) const {
  PieceBlock block = Cached(piece);
  return block == nullptr ? nullptr : Pin(std::move(block));
}

Result<IndexPieceRef> BlockIndex::LoadSlowly(uint32_t number) const {
  const BlockHandle place = PlaceOfPiece(number);
  if (PieceBlock cached = Cached(number); cached != nullptr) {
    if (Fits(place.stored_bytes)) return Keep(number, cached);
    return Pin(std::move(cached));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, file_->ReadStored(place));
  return AdmitPiece(number, {stored.get(), place.stored_bytes}, /*caches=*/true);
}

Result<IndexPieceRef> BlockIndex::AdmitPiece(uint32_t number, std::string_view stored,
                                             bool caches) const {
  if (const IndexPiece* const kept = KeptPiece(number); kept != nullptr) return WithoutPin(*kept);
  const uint64_t offset = PlaceOfPiece(number).offset;
  const bool fits = Fits(stored.size());
  const bool stays = fits || caches;
  ASSIGN_OR_RETURN(
      PieceBlock block,
      Decode(number, stays ? file_->KeptPlaceAt(offset) : file_->PlaceAt(offset), stored));
  if (fits) return Keep(number, block);
  return caches ? Cache(number, std::move(block)) : Pin(std::move(block));
}

Result<IndexPieceRef> BlockIndex::DecodePiece(uint32_t number, std::string_view stored) const {
  const BlockPlace place = file_->PlaceAt(PlaceOfPiece(number).offset);
  ASSIGN_OR_RETURN(PieceBlock block, Decode(number, place, stored));
  return Pin(std::move(block));
}

IndexPieceRef BlockIndex::Keep(uint32_t number, const PieceBlock& block) const {
  const auto keep = [&]() -> Result<Kept> {
    const uint32_t count = block->piece.table.count();
    Kept kept;
    kept.piece = block->piece;
    kept.slots = std::make_unique<RowSlot[]>(count);
    kept.charge = file_->Charge(base::MemoryPart::kBlockIndexes,
                                sizeof(Kept) + block->raw_bytes + count * sizeof(RowSlot));
    kept.block = block;
    return kept;
  };
  return WithoutPin((*pieces_[number].Get(keep))->piece);
}

IndexPieceRef BlockIndex::Cache(uint32_t number, PieceBlock block) const {
  BlockCache* const cache = file_->cache();
  if (cache == nullptr) return Pin(std::move(block));
  const uint64_t offset = PlaceOfPiece(number).offset;
  auto kept = std::dynamic_pointer_cast<const IndexPieceBlock>(
      cache->Insert(file_->number(), offset, block));
  return Pin(kept == nullptr ? std::move(block) : std::move(kept));
}

BlockIndex::PieceBlock BlockIndex::Cached(uint32_t number) const {
  return std::dynamic_pointer_cast<const IndexPieceBlock>(file_->Cached(PlaceOfPiece(number)));
}

Status BlockIndex::LoadBlocks(uint32_t first, uint32_t end) const {
  const uint32_t last = (end + mask()) >> bits_;
  for (uint32_t piece = first >> bits_; piece < last;) {
    uint32_t run_end = piece;
    uint64_t bytes = 0;
    while (run_end < last && !HasPiece(run_end)) {
      bytes += PlaceOfPiece(run_end).stored_bytes;
      if (!Fits(bytes) || (run_end > piece && bytes > kReadMax)) break;
      ++run_end;
    }
    if (run_end > piece) RETURN_IF_ERROR(LoadRun(piece, run_end));
    piece = std::max(piece + 1, run_end);
  }
  return {};
}

// Loads the pieces [first, end), which are contiguous, with one read.
Status BlockIndex::LoadRun(uint32_t first, uint32_t end) const {
  if (end - first == 1) return LoadSlowly(first).status();
  const uint64_t start = PlaceOfPiece(first).offset;
  const BlockHandle last = PlaceOfPiece(end - 1);
  const size_t size = last.offset + last.stored_bytes - start;
  const auto buffer = std::make_unique_for_overwrite<char[]>(size);
  ASSIGN_OR_RETURN(const size_t read, file_->file().Read(start, {buffer.get(), size}));
  if (read != size) return file_->Corrupt(start, Mismatch("bytes of block index", size, read));
  for (uint32_t piece = first; piece < end; ++piece) {
    const BlockHandle place = PlaceOfPiece(piece);
    const std::string_view stored(&buffer[place.offset - start], place.stored_bytes);
    RETURN_IF_ERROR(AdmitPiece(piece, stored, /*caches=*/true).status());
  }
  return {};
}

Result<BlockIndex::PieceBlock> BlockIndex::Decode(uint32_t number, const BlockPlace& place,
                                                  std::string_view stored) const {
  auto block = std::make_shared<IndexPieceBlock>();
  RETURN_IF_ERROR(DecodeBlockInto(place, BlockKind::kBlockIndex, stored, block.get()));
  RETURN_IF_ERROR(Check(number, block.get()));
  return PieceBlock(std::move(block));
}

// Checks a piece and sets what is derived from its bytes.
Status BlockIndex::Check(uint32_t number, IndexPieceBlock* block) const {
  const uint32_t first = FirstBlockOf(number);
  const uint32_t count = std::min(size_ - first, mask() + 1);
  if (block->first != first || block->count != count) {
    return block->Corrupt("piece of block index: expected entries " + std::to_string(first) +
                          " to " + std::to_string(first + count - 1) + ", found " +
                          std::to_string(block->count) + " from " + std::to_string(block->first) +
                          " on");
  }
  const auto table = ParseIndexPiece(*block);
  if (!table.has_value()) return block->Corrupt("piece of block index is malformed");
  RETURN_IF_ERROR(CheckEntries(number, *block, *table));
  block->piece = {*table, first, firsts_[number + 1]};
  return {};
}

// Checks that the entries ascend and agree with what the top says about this piece and the next.
Status BlockIndex::CheckEntries(uint32_t number, const Block& block,
                                const IndexTable& table) const {
  std::string stated, found;
  top_.Separator(number, &stated);
  table.Separator(0, &found);
  if (stated != found) return block.Corrupt("piece and top of block index differ in a separator");
  if (number + 1 < piece_count()) {
    table.Separator(table.count() - 1, &found);
    if (top_.IsAtMost(number + 1, found)) {
      return block.Corrupt("separators of the block index do not rise");
    }
  }
  uint32_t first_min = firsts_[number];
  uint64_t offset = data_offsets_[number];  // The end of the previous block.
  const uint64_t end = data_offsets_[number + 1];
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < table.count(); ++i) {
    const uint32_t first = table.FirstOf(i);
    if (first < first_min || first >= firsts_[number + 1] || (i == 0 && first != first_min)) {
      return block.Corrupt("first positions of the block index do not rise");
    }
    const BlockHandle handle = table.HandleOf(i);
    const bool in_place = i == 0 ? handle.offset == offset : handle.offset >= offset;
    if (!in_place || handle.offset > end || handle.offset % kBlockAlignment != 0) {
      return block.Corrupt(Mismatch("offset of row block, at least", offset, handle.offset));
    }
    if (handle.stored_bytes < kBlockHeaderBytes || BlockEnd(handle) > end) {
      return block.Corrupt(
          Mismatch("bytes of row block, at most", end - handle.offset, handle.stored_bytes));
    }
    offset = BlockEnd(handle);
    first_min = first + 1;
    bytes += handle.stored_bytes;
  }
  const uint64_t stated_bytes = DataBytesBefore(number + 1) - DataBytesBefore(number);
  if (bytes == stated_bytes) return {};
  return block.Corrupt(Mismatch("bytes of the row blocks of a piece", stated_bytes, bytes));
}

}  // namespace tandem::format

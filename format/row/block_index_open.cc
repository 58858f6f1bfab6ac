// Opens a block index: by its top, or whole.
#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "format/block/block_codec.h"
#include "format/block/section_table.h"
#include "format/block/sequential_reader.h"
#include "format/corruption.h"
#include "format/row/block_index.h"
#include "format/row/block_index_writer.h"

namespace tandem::format {
namespace {

// The pieces of an index without a top, as they are in the file or recut.
struct WholeIndex {
  std::vector<std::shared_ptr<IndexPieceBlock>> blocks;
  std::vector<IndexTable> tables;
  std::vector<BlockHandle> places;  // Where they can be read again; empty: they were recut.
  uint32_t bits = kBlockIndexPieceBitsMax;

  /// Whether all pieces but the last have 2^bits entries.
  bool IsEven() {
    const uint32_t entries = blocks.front()->count;
    if (blocks.size() > 1) bits = static_cast<uint32_t>(std::countr_zero(entries));
    const auto fits = [&](const BlockRef& block) { return block->count == uint32_t{1} << bits; };
    return std::all_of(blocks.begin(), blocks.end() - 1, fits) &&
           blocks.back()->count <= uint32_t{1} << bits;
  }
  /// False when separators do not ascend.
  bool Cut();
};

template <typename OfBlock>
std::shared_ptr<OfBlock> BlockOver(std::string_view raw, const Block& source, uint32_t first,
                                   uint32_t count) {
  auto block = std::make_shared<OfBlock>();
  block->kind = source.kind;
  block->count = count;
  block->first = first;
  block->raw_bytes = static_cast<uint32_t>(raw.size());
  block->data = base::AllocateInHeap(raw.size());
  raw.copy(block->data.get(), raw.size());
  block->file_name = source.file_name;
  block->offset = source.offset;
  return block;
}

// Recuts the pieces to a common size. An index without a top may have pieces that end early.
bool WholeIndex::Cut() {
  WholeIndex even;
  std::vector<SeparatorEntry> entries;
  std::vector<std::string> separators(size_t{1} << kBlockIndexPieceBits);
  uint32_t first = 0;
  const auto flush = [&](const Block& source) {
    const auto count = static_cast<uint32_t>(entries.size());
    even.blocks.push_back(
        BlockOver<IndexPieceBlock>(EncodeIndexPiece(entries), source, first, count));
    first += count;
    entries.clear();
    const std::optional<IndexTable> table = ParseIndexPiece(*even.blocks.back());
    if (table.has_value()) even.tables.push_back(*table);
    return table.has_value();
  };
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (uint32_t entry = 0; entry < tables[i].count(); ++entry) {
      std::string& separator = separators[entries.size()];
      tables[i].Separator(entry, &separator);
      entries.push_back({separator, tables[i].HandleOf(entry), tables[i].FirstOf(entry)});
      if (entries.size() == separators.size() && !flush(*blocks[i])) return false;
    }
  }
  if (!entries.empty() && !flush(*blocks.back())) return false;
  even.bits = kBlockIndexPieceBits;
  *this = std::move(even);
  return true;
}

// The top that the writer would have written for these pieces.
BlockRef TopOf(const WholeIndex& whole) {
  std::vector<std::string> separators(whole.tables.size());
  std::vector<SeparatorEntry> pieces;
  std::vector<TopEntry> tops;
  uint64_t bytes = 0;
  for (size_t i = 0; i < whole.tables.size(); ++i) {
    const IndexTable& table = whole.tables[i];
    table.Separator(0, &separators[i]);
    const BlockHandle place =
        whole.places.empty() ? BlockHandle{whole.blocks[i]->offset, 0} : whole.places[i];
    pieces.push_back({separators[i], place, table.FirstOf(0)});
    for (uint32_t k = 0; k < table.count(); ++k) bytes += table.HandleOf(k).stored_bytes;
    tops.push_back({table.HandleOf(0).offset, bytes});
  }
  return BlockOver<Block>(EncodeIndexTop(pieces, tops, whole.bits), *whole.blocks.front(), 0,
                          static_cast<uint32_t>(pieces.size()));
}

}  // namespace

Result<BlockIndex> BlockIndex::Open(const BlockFile& file, const IndexPlaces& places,
                                    uint32_t row_count) {
  BlockIndex index(&file);
  RETURN_IF_ERROR(places.top != nullptr ? index.ReadTop(places, row_count)
                                        : index.LoadWhole(places, row_count));
  return index;
}

Status BlockIndex::ReadTop(const IndexPlaces& places, uint32_t row_count) {
  SequentialReader run(*file_, *places.top);
  ASSIGN_OR_RETURN(BlockRef block, run.Next(BlockKind::kBlockIndexTop));
  if (!run.done()) return file_->Corrupt(run.offset(), "section has more than one block");
  if (block->first != 0 || block->count != places.top->count) {
    return block->Corrupt(Mismatch("pieces of block index", places.top->count, block->count));
  }
  // Every entry is a block of at least one row.
  if (places.index->count > row_count) {
    return file_->Corrupt(places.index->offset, Mismatch("entries of block index, at most",
                                                         row_count, places.index->count));
  }
  size_ = static_cast<uint32_t>(places.index->count);
  RETURN_IF_ERROR(SetTop(std::move(block), *places.data, row_count));
  return CheckPlacesOfPieces(*places.index);
}

// Reads and checks the top, except the places of the pieces.
Status BlockIndex::SetTop(BlockRef top, const SectionEntry& data, uint32_t row_count) {
  const auto malformed = [&] {
    return top->Corrupt("block index: its pieces do not rise, or lie elsewhere");
  };
  const uint32_t count = top->count;
  const std::string_view raw = top->raw();
  const uint64_t heads_at = kBlockIndexFixedBytes + uint64_t{count} * kBlockIndexTopEntryBytes;
  if (raw.size() < heads_at) return malformed();
  const uint64_t fixed = LoadAt<uint64_t>(raw, 0);
  bits_ = (fixed >> 16) & 0xff;
  if (fixed >> 24 != 0 || bits_ > kBlockIndexPieceBitsMax) return malformed();
  const std::optional<IndexTable> table = IndexTable::Parse(raw, count, heads_at);
  if (!table.has_value() || (uint64_t{size_} + mask()) >> bits_ != count) return malformed();
  uint64_t before = data.offset, bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t at = kBlockIndexFixedBytes + sizeof(uint64_t) * i;
    const uint64_t offset = LoadAt<uint64_t>(raw, at);
    const uint64_t bytes_with = LoadAt<uint64_t>(raw, at + sizeof(uint64_t) * count);
    const uint32_t first = table->FirstOf(i);
    const bool rises = i == 0 ? first == 0 : first > firsts_.back() && offset > before;
    if (!rises || first >= row_count || offset < before || bytes_with <= bytes) return malformed();
    firsts_.push_back(first);
    data_offsets_.push_back(offset);
    data_bytes_.push_back(bytes_with);
    before = offset;
    bytes = bytes_with;
  }
  if (before > data.offset + data.size_bytes || bytes > data.size_bytes) return malformed();
  firsts_.push_back(row_count);
  data_offsets_.push_back(data.offset + data.size_bytes);
  top_ = *table;
  top_block_ = std::move(top);
  pieces_ = std::make_unique<Lazy<Kept>[]>(count);
  return {};
}

// Checks that the pieces are the blocks of their section, in order and without gaps.
Status BlockIndex::CheckPlacesOfPieces(const SectionEntry& index) const {
  uint64_t at = index.offset;
  const uint64_t end = index.offset + index.size_bytes;
  for (uint32_t piece = 0; piece < piece_count(); ++piece) {
    const BlockHandle place = PlaceOfPiece(piece);
    if (place.offset != at || place.stored_bytes < kBlockHeaderBytes || BlockEnd(place) > end) {
      return top_block_->Corrupt(Mismatch("offset of piece of block index", at, place.offset));
    }
    at = BlockEnd(place);
  }
  if (at == end) return {};
  return top_block_->Corrupt(Mismatch("end of the pieces of the block index", end, at));
}

// Pieces that were recut are in no file, so they are kept whether they fit or not.
Status BlockIndex::LoadWhole(const IndexPlaces& places, uint32_t row_count) {
  WholeIndex whole;
  SequentialReader run(*file_, *places.index);
  while (!run.done()) {
    const uint64_t offset = run.offset();
    ASSIGN_OR_RETURN(const std::string_view stored, run.NextStored());
    auto block = std::make_shared<IndexPieceBlock>();
    RETURN_IF_ERROR(
        DecodeBlockInto(file_->PlaceAt(offset), BlockKind::kBlockIndex, stored, block.get()));
    const std::optional<IndexTable> table = ParseIndexPiece(*block);
    if (!table.has_value() || block->first != size_) {
      return block->Corrupt("piece of block index is malformed");
    }
    size_ += block->count;
    whole.tables.push_back(*table);
    whole.places.push_back({offset, static_cast<uint32_t>(stored.size())});
    whole.blocks.push_back(std::move(block));
  }
  if (size_ != places.index->count) {
    return file_->Corrupt(places.index->offset,
                          Mismatch("entries of block index", places.index->count, size_));
  }
  if (size_ == 0) return file_->Corrupt(places.index->offset, "a block index has no entry");
  if (!whole.IsEven() && !whole.Cut()) {
    return file_->Corrupt(places.index->offset, "separators of the block index do not rise");
  }
  RETURN_IF_ERROR(SetTop(TopOf(whole), *places.data, row_count));
  for (uint32_t piece = 0; piece < piece_count(); ++piece) {
    std::shared_ptr<IndexPieceBlock>& block = whole.blocks[piece];
    RETURN_IF_ERROR(Check(piece, block.get()));
    if (whole.places.empty() || Fits(PlaceOfPiece(piece).stored_bytes)) {
      Keep(piece, std::move(block));
    } else {
      Cache(piece, std::move(block));
    }
  }
  return {};
}

}  // namespace tandem::format

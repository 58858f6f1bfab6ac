// Holds the pieces from the current block on.
#include "format/row/block_places.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::format {
namespace {

constexpr uint64_t kReadBytes = 64 << 10;  // Some ten pieces.

uint64_t EndOfPieces(const BlockIndex& index) {
  const BlockHandle last = index.PlaceOfPiece(index.piece_count() - 1);
  return last.offset + last.stored_bytes;
}

}  // namespace

BlockPlaces::BlockPlaces(const DataSection& data)
    : index_(data.index()),
      window_(&data.blocks().file(), EndOfPieces(index_), kReadBytes),
      charge_(data.blocks().Charge(base::MemoryPart::kFileWindows, 0)) {
  window_.set_charge(data.blocks().Charge(base::MemoryPart::kFileWindows, 0));
}

Result<DataBlock> BlockPlaces::MoveTo(uint32_t block) {
  LetGoBefore(index_.PieceWith(block));
  return At(block);
}

Result<DataBlock> BlockPlaces::At(uint32_t block) {
  ASSIGN_OR_RETURN(const IndexPiece* piece, Piece(index_.PieceWith(block)));
  return piece->At(block);
}

Result<DataBlock> BlockPlaces::MoveToPosition(uint32_t position) {
  const uint32_t number = index_.PieceOf(position, 0);
  LetGoBefore(number);
  ASSIGN_OR_RETURN(const IndexPiece* piece, Piece(number));
  return piece->At(piece->BlockOf(position, 0));
}

// The index may have come to keep a piece that is held.
Result<const IndexPiece*> BlockPlaces::Piece(uint32_t piece) {
  const auto held =
      std::ranges::lower_bound(held_, piece, {}, [](const auto& each) { return each.first; });
  if (held != held_.end() && held->first == piece) return held->second.get();
  if (const IndexPiece* const kept = index_.KeptPiece(piece); kept != nullptr) return kept;
  const BlockHandle place = index_.PlaceOfPiece(piece);
  ASSIGN_OR_RETURN(const std::string_view stored, window_.Read(place.offset, place.stored_bytes));
  ASSIGN_OR_RETURN(IndexPieceRef decoded, index_.DecodePiece(piece, stored));
  const auto added = held_.insert(held, {piece, std::move(decoded)});
  held_bytes_ += place.stored_bytes;
  charge_.Set(held_bytes_);
  return added->second.get();
}

void BlockPlaces::LetGoBefore(uint32_t piece) {
  if (held_.empty() || held_.front().first >= piece) return;
  while (!held_.empty() && held_.front().first < piece) {
    held_bytes_ -= index_.PlaceOfPiece(held_.front().first).stored_bytes;
    held_.pop_front();
  }
  charge_.Set(held_bytes_);
}

}  // namespace tandem::format

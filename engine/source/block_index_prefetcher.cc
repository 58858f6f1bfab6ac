// Reading pieces of a block index ahead of a walk.
#include "engine/source/block_index_prefetcher.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {

BlockIndexPrefetcher::~BlockIndexPrefetcher() {
  for (ReadGroup& group : groups_) queue_->Release(&group);
}

// Moves to the piece of the position; false if it is not in memory.
bool BlockIndexPrefetcher::IsLoaded(uint32_t position) {
  piece_ = index_->PieceOf(position, piece_);
  while (!held_.empty() && held_.front().number < piece_) held_.pop_front();
  current_ = index_->KeptPiece(piece_);
  if (current_ == nullptr && !held_.empty() && held_.front().number == piece_) {
    current_ = held_.front().piece.get();
  }
  if (current_ == nullptr) return false;
  end_ = index_->EndOfPiece(piece_);
  return true;
}

// Those of a failed load, too.
void BlockIndexPrefetcher::ForgetWanted() {
  for (ReadGroup& group : groups_) queue_->Release(&group);
  groups_.clear();
  wanted_.clear();
  wanted_bytes_ = wanted_count_ = 0;
}

// Adds the piece to those to load, unless it is kept or in the block cache. False: enough are.
bool BlockIndexPrefetcher::Want(uint32_t piece) {
  if (index_->HasPiece(piece)) return true;
  const uint64_t bytes = wanted_bytes_ + index_->PlaceOfPiece(piece).stored_bytes;
  const bool fits = index_->Fits(bytes);
  if (wanted_count_ == pieces_max_) return false;
  if (wanted_count_ > 0 && !fits && bytes > kHeldBytesMax) return false;
  wanted_bytes_ = bytes;
  ++wanted_count_;
  format::IndexPieceRef cached = fits ? nullptr : index_->CachedPiece(piece);
  if (cached != nullptr) {
    Hold(piece, std::move(cached));
  } else {
    wanted_.push_back(piece);
  }
  return true;
}

void BlockIndexPrefetcher::Hold(uint32_t piece, format::IndexPieceRef ref) {
  const auto place = std::ranges::lower_bound(held_, piece, {}, &Held::number);
  if (place != held_.end() && place->number == piece) return;
  held_.insert(place, {piece, std::move(ref),
                       data_->blocks().Charge(base::MemoryPart::kReadBuffers,
                                              index_->PlaceOfPiece(piece).stored_bytes)});
}

Status BlockIndexPrefetcher::Advance(std::span<const uint32_t> positions) {
  if (IsLoaded(positions.front())) return {};
  ForgetWanted();
  uint32_t piece = piece_;
  for (auto at = positions.begin(); at != positions.end();) {
    piece = index_->PieceOf(*at, piece);
    if (!Want(piece)) break;
    const uint32_t end = index_->EndOfPiece(piece);
    at = std::lower_bound(at, positions.end(), end);
  }
  RETURN_IF_ERROR(LoadWanted());
  (void)IsLoaded(positions.front());
  return {};
}

Status BlockIndexPrefetcher::AdvanceRange(uint32_t low, uint32_t high) {
  if (IsLoaded(low)) return {};
  ForgetWanted();
  for (uint32_t piece = piece_; Want(piece); ++piece) {
    if (index_->EndOfPiece(piece) >= high) break;
  }
  RETURN_IF_ERROR(LoadWanted());
  (void)IsLoaded(low);
  return {};
}

Status BlockIndexPrefetcher::LoadWanted() {
  started_ = 0;
  StartReads();
  while (!groups_.empty()) {
    RETURN_IF_ERROR(queue_->Finish(&groups_.front()));
    RETURN_IF_ERROR(Admit(groups_.front()));
    queue_->Release(&groups_.front());
    groups_.pop_front();
    StartReads();
  }
  pieces_max_ = std::min(pieces_max_ * 2, kPiecesMax);
  return {};
}

// Starts as many reads as there is room for, one at least.
void BlockIndexPrefetcher::StartReads() {
  std::vector<QueuedRead*> reads;
  const uint64_t most = queue_->ReadBytes();
  while (started_ < wanted_.size() && (groups_.empty() || queue_->HasRoom())) {
    ReadGroup& group = groups_.emplace_back();
    group.first = started_;
    const uint64_t start = index_->PlaceOfPiece(wanted_[started_]).offset;
    uint64_t end = start;
    while (started_ < wanted_.size()) {
      const format::BlockHandle place = index_->PlaceOfPiece(wanted_[started_]);
      const bool joins =
          place.offset - end <= kGapMax && place.offset + place.stored_bytes - start <= most;
      if (started_ > group.first && !joins) break;
      end = place.offset + place.stored_bytes;
      ++started_;
    }
    group.end = started_;
    queue_->Prepare(&data_->blocks().file(), start, end - start, &group);
    reads.push_back(&group);
  }
  queue_->Start(reads);
}

Status BlockIndexPrefetcher::Admit(const ReadGroup& group) {
  const std::string_view read(group.bytes.data(), group.transferred);
  for (uint32_t i = group.first; i < group.end; ++i) {
    const format::BlockHandle place = index_->PlaceOfPiece(wanted_[i]);
    const uint64_t at = place.offset - group.offset;
    // A file that ends early yields fewer bytes, which the block's decoder reports.
    const std::string_view stored =
        at < read.size() ? read.substr(at, place.stored_bytes) : std::string_view();
    ASSIGN_OR_RETURN(format::IndexPieceRef piece, index_->AdmitPiece(wanted_[i], stored, caches_));
    if (!index_->HasPiece(wanted_[i])) Hold(wanted_[i], std::move(piece));
  }
  return {};
}

}  // namespace tandem::engine

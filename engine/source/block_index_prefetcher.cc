// Reading pieces of a block index ahead of a walk.
#include "engine/source/block_index_prefetcher.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::engine {

BlockIndexPrefetcher::~BlockIndexPrefetcher() {
  for (ReadGroup& group : groups_) queue_->Release(&group);
}

// Finds the piece of the position and, if it is loaded, moves end_ to its end.
bool BlockIndexPrefetcher::IsLoaded(uint32_t position) {
  piece_ = index_->PieceOf(position, piece_);
  if (!index_->HasPiece(piece_)) return false;
  end_ = index_->EndOfPiece(piece_);
  return true;
}

Status BlockIndexPrefetcher::Advance(std::span<const uint32_t> positions) {
  if (IsLoaded(positions.front())) return {};
  uint32_t piece = piece_;
  for (auto at = positions.begin(); at != positions.end() && wanted_.size() < pieces_max_;) {
    piece = index_->PieceOf(*at, piece);
    if (!index_->HasPiece(piece)) wanted_.push_back(piece);
    const uint32_t end = index_->EndOfPiece(piece);
    at = std::lower_bound(at, positions.end(), end);
  }
  return LoadWanted();
}

Status BlockIndexPrefetcher::AdvanceRange(uint32_t low, uint32_t high) {
  if (IsLoaded(low)) return {};
  for (uint32_t piece = piece_; wanted_.size() < pieces_max_; ++piece) {
    if (!index_->HasPiece(piece)) wanted_.push_back(piece);
    if (index_->EndOfPiece(piece) >= high) break;
  }
  return LoadWanted();
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
  wanted_.clear();
  pieces_max_ = std::min(pieces_max_ * 2, kPiecesMax);
  end_ = index_->EndOfPiece(piece_);
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
    queue_->Prepare(file_, start, end - start, &group);
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
    RETURN_IF_ERROR(index_->AdmitPiece(wanted_[i], stored));
  }
  return {};
}

}  // namespace tandem::engine

// Walking over the blocks of a family.
#include "engine/source/block_walk.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// While every block is cached: blocks gathered ahead, those among them whose rows are looked up,
// and those whose rows are touched. The stages are far enough apart that each finds in the
// processor's cache what the one before prefetched.
constexpr size_t kGatheredAhead = 12;
constexpr size_t kLookedUpAhead = 8;
constexpr size_t kTouchedAhead = 4;
// Rows touched per block. Those after them are neighbours, or the hardware prefetcher finds them.
constexpr size_t kRowsTouched = 8;
// Blocks gathered once the walk reads from the file: more than a read holds.
constexpr size_t kReadAhead = 256;
constexpr size_t kCautiousAhead = 4;

}  // namespace

BlockWalk::BlockWalk(const format::DataSection& data, ReadQueue* queue, WalkOptions options)
    : data_(&data),
      queue_(queue),
      options_(options),
      index_ahead_(data, queue, {.caches = options.admit, .cautious = options.cautious}),
      ahead_max_(options.cautious ? kCautiousAhead : kGatheredAhead) {}

BlockWalk::~BlockWalk() {
  for (Extent& extent : extents_) queue_->Release(&extent);
}

void BlockWalk::Start(std::span<const uint32_t> positions) {
  positions_ = positions;
  at_ = 0;
}

void BlockWalk::StartRange(uint32_t low, uint32_t high) {
  low_ = low;
  high_ = high;
}

Result<bool> BlockWalk::Next(WalkedBlock* block) {
  // While everything is cached the stages advance with every block.
  if (!has_read_ || planned_ == 0 || MayReadMore()) RETURN_IF_ERROR(LookAhead());
  if (ahead_.empty()) return false;
  Ahead first = ahead_.pop_front();
  rows_handed_out_ += first.rows;
  --planned_;
  if (touched_ > 0) --touched_;
  if (first.extent != nullptr) RETURN_IF_ERROR(Load(&first));
  *block = std::move(first.block);
  return true;
}

// Whether the block after those that are gathered may be needed.
bool BlockWalk::MayGather() const {
  const uint64_t asked = options_.rows_asked;
  return !options_.cautious || ahead_.empty() ||
         rows_gathered_ < (rows_handed_out_ < asked ? asked : 2 * rows_handed_out_);
}

// Whether it pays to start another group of reads. Large ones pay one by one, so that the file is
// read while their blocks are unpacked.
bool BlockWalk::MayReadMore() const {
  const bool reads_are_large = ahead_max_ >= kReadAhead && !extents_.empty() &&
                               extents_.back().buffer.size() >= ReadQueue::kReadBytesMin;
  return (reads_are_large || planned_ <= ahead_max_ / 2) && queue_->HasRoomForMany();
}

Status BlockWalk::LookAhead() {
  while (ahead_.size() < ahead_max_ && MayGather()) {
    ASSIGN_OR_RETURN(const bool more, Gather());
    if (!more) break;
  }
  RETURN_IF_ERROR(Plan());
  const size_t touched_max = std::min(planned_, kTouchedAhead);
  for (; touched_ < touched_max; ++touched_) Touch(ahead_[touched_].block);
  return {};
}

// A walk that may end early reads ahead once it has missed a block that it came to: otherwise each
// run of a query whose rows are cached would read the block after them.
bool BlockWalk::MayReadAhead() const {
  return (has_read_ || !options_.cautious) && queue_->HasRoom();
}

// Gathers the next needed block. False at the end.
Result<bool> BlockWalk::Gather() {
  const bool is_range = low_ < high_;
  if (!is_range && at_ == positions_.size()) return false;
  const uint32_t low = is_range ? low_ : positions_[at_];
  if (low >= index_ahead_.end()) {
    RETURN_IF_ERROR(is_range ? index_ahead_.AdvanceRange(low_, high_)
                             : index_ahead_.Advance(positions_.subspan(at_)));
  }
  const format::IndexPiece& piece = index_ahead_.current();
  hint_ = piece.BlockOf(low, hint_);
  Ahead& ahead = ahead_.push_back({});
  WalkedBlock& block = ahead.block;
  block.low = low;
  data_->PrefetchRows(hint_);
  block.place = piece.At(hint_);
  const uint32_t end = block.place.first + block.place.count;
  if (is_range) {
    block.high = low_ = std::min(high_, end);
    ahead.rows = block.high - low;
    rows_gathered_ += ahead.rows;
    return true;
  }
  const size_t begin = at_;
  while (at_ < positions_.size() && positions_[at_] < end) ++at_;
  block.positions = positions_.subspan(begin, at_ - begin);
  block.high = block.positions.back() + 1;
  ahead.rows = static_cast<uint32_t>(block.positions.size());
  rows_gathered_ += ahead.rows;
  return true;
}

void BlockWalk::LookUp(Ahead* ahead) {
  if (std::exchange(ahead->is_looked_up, true)) return;
  WalkedBlock& block = ahead->block;
  block.rows = data_->CachedRows(block.place);
  if (block.rows == nullptr || block.positions.empty()) return;
  const size_t rows = std::min(block.positions.size(), kRowsTouched);
  for (size_t i = 0; i < rows; ++i) {
    block.rows->PrefetchPlace(block.positions[i] - block.rows->first());
  }
}

// Looks up the rows of the gathered blocks, or starts reads for them.
Status BlockWalk::Plan() {
  if (options_.cautious && has_read_) ahead_max_ = std::min(ahead_max_ * 2, kReadAhead);
  std::vector<QueuedRead*> started;
  while (planned_ < ahead_.size() && (has_read_ || planned_ < kLookedUpAhead)) {
    Ahead& next = ahead_[planned_];
    LookUp(&next);
    if (next.block.rows != nullptr) {
      ++planned_;
    } else if (planned_ == 0 || MayReadAhead()) {
      RETURN_IF_ERROR(ReadTogether(&started));
    } else {
      break;
    }
  }
  queue_->Start(started);
  return {};
}

// Prepares one read for the first block that is not planned and those that can join it.
Status BlockWalk::ReadTogether(std::vector<QueuedRead*>* started) {
  if (!std::exchange(has_read_, true) && !options_.cautious) ahead_max_ = kReadAhead;
  Extent* extent = &extents_.emplace_back();
  const uint64_t start = ahead_[planned_].block.place.handle.offset;
  uint64_t end = start;
  while (true) {
    Ahead& ahead = ahead_[planned_];
    if (ahead.block.rows == nullptr) {
      const format::BlockHandle& handle = ahead.block.place.handle;
      end = handle.offset + handle.stored_bytes;
      ahead.extent = extent;
      ++extent->users;
    }
    ++planned_;
    if (planned_ == ahead_.size()) {
      if (options_.cautious) break;
      ASSIGN_OR_RETURN(const bool more, Gather());
      if (!more) break;
    }
    Ahead& next = ahead_[planned_];
    const format::BlockHandle& handle = next.block.place.handle;
    if (handle.offset < end || handle.offset - end > kGapMax) break;
    if (handle.offset + handle.stored_bytes - start > queue_->ReadBytes()) break;
    LookUp(&next);
  }
  queue_->Prepare(&data_->blocks().file(), start, end - start, extent);
  started->push_back(extent);
  return {};
}

void BlockWalk::Touch(const WalkedBlock& block) const {
  if (block.rows == nullptr) return;
  const size_t rows = std::min(block.positions.size(), kRowsTouched);
  for (size_t i = 0; i < rows; ++i) {
    block.rows->PrefetchRow(block.positions[i] - block.rows->first());
  }
}

Status BlockWalk::Load(Ahead* ahead) {
  Extent* extent = ahead->extent;
  while (queue_->WaitBefore(*extent)) {
    // A walk that may end early looks further ahead only when a block is requested.
    if (ahead_max_ >= kReadAhead && MayReadMore()) RETURN_IF_ERROR(LookAhead());
  }
  RETURN_IF_ERROR(extent->status);
  const std::string_view read(extent->bytes.data(), extent->transferred);
  const format::DataBlock& place = ahead->block.place;
  const uint64_t at = place.handle.offset - extent->offset;
  // A file that ends early yields fewer bytes, which the block's decoder reports.
  const std::string_view stored =
      at < read.size() ? read.substr(at, place.handle.stored_bytes) : std::string_view();
  ASSIGN_OR_RETURN(ahead->block.rows, options_.admit ? data_->AdmitRows(place, stored)
                                                     : data_->DecodeRows(place, stored));
  if (--extent->users == 0) {
    queue_->Release(extent);
    extents_.remove_if([=](const Extent& other) { return &other == extent; });
  }
  return {};
}

}  // namespace tandem::engine

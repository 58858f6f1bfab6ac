// Walking over the blocks of a file.
#include "engine/block_walk.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// Blocks that the walk looks ahead once it reads from the file: more than a read holds.
constexpr size_t kAheadMax = 256;
constexpr size_t kCautiousAhead = 4;

}  // namespace

BlockWalk::BlockWalk(const FileSource& source, ReadQueue* queue, WalkOptions options)
    : file_(source.file), queue_(queue), options_(options) {}

BlockWalk::~BlockWalk() {
  for (const std::unique_ptr<Extent>& extent : extents_) queue_->Release(extent.get());
}

void BlockWalk::Start(std::span<const uint32_t> ordinals) {
  ordinals_ = ordinals;
  at_ = 0;
}

void BlockWalk::StartRange(uint32_t low, uint32_t high) {
  low_ = low;
  high_ = high;
}

Result<bool> BlockWalk::Next(WalkedBlock* block) {
  const bool is_low = ahead_.size() <= ahead_max_ / 2 && queue_->IsHalfEmpty();
  if (ahead_.empty() || (ahead_max_ > 1 && is_low)) LookAhead();
  if (ahead_.empty()) return false;
  Ahead first = std::move(ahead_.front());
  ahead_.pop_front();
  if (first.extent != nullptr) RETURN_IF_ERROR(Load(&first));
  *block = std::move(first.block);
  return true;
}

// Finds the needed block after those in ahead_. False when there is none.
bool BlockWalk::FindNext() {
  if (has_next_) return true;
  const bool is_range = low_ < high_;
  if (!is_range && at_ == ordinals_.size()) return false;
  WalkedBlock& next = next_.block;
  const uint32_t first = is_range ? low_ : ordinals_[at_];
  next.block = hint_ = file_->BlockOf(format::Ordinal(first), hint_);
  const format::DataBlock place = file_->BlockAt(next.block);
  const uint32_t end = place.first + place.count;
  next.low = first;
  if (is_range) {
    next.high = low_ = std::min(high_, end);
  } else {
    const size_t begin = at_;
    while (at_ < ordinals_.size() && ordinals_[at_] < end) ++at_;
    next.ordinals = ordinals_.subspan(begin, at_ - begin);
    next.high = next.ordinals.back() + 1;
  }
  next.rows = file_->CachedRows(next.block);
  next_.handle = place.handle;
  has_next_ = true;
  return true;
}

void BlockWalk::LookAhead() {
  if (options_.cautious && ahead_max_ > 1) ahead_max_ = std::min(ahead_max_ * 2, kAheadMax);
  std::vector<QueuedRead*> started;
  while (ahead_.size() < ahead_max_ && (ahead_.empty() || queue_->HasRoom()) && FindNext()) {
    if (next_.block.rows != nullptr) {
      AddCached();
    } else {
      AddExtent(&started);
    }
  }
  queue_->Start(started);
}

void BlockWalk::AddCached() {
  next_.extent = nullptr;
  ahead_.push_back(std::move(next_));
  has_next_ = false;
}

// Starts a read with the next block and takes in those that join it.
void BlockWalk::AddExtent(std::vector<QueuedRead*>* started) {
  if (ahead_max_ == 1) ahead_max_ = options_.cautious ? kCautiousAhead : kAheadMax;
  Extent* extent = extents_.emplace_back(std::make_unique<Extent>()).get();
  const uint64_t start = next_.handle.offset;
  uint64_t end = start;
  do {
    if (next_.block.rows != nullptr) {
      AddCached();
      continue;
    }
    end = next_.handle.offset + next_.handle.stored_bytes;
    next_.extent = extent;
    ++extent->users;
    ahead_.push_back(std::move(next_));
    has_next_ = false;
  } while ((!options_.cautious || ahead_.size() < ahead_max_) && FindNext() && Joins(start, end));
  queue_->Prepare(&file_->blocks().file(), start, end - start, extent);
  started->push_back(extent);
}

// Whether the next block may be part of a read of [start, end).
bool BlockWalk::Joins(uint64_t start, uint64_t end) const {
  const uint64_t offset = next_.handle.offset;
  return offset >= end && offset - end <= kGapMax &&
         offset + next_.handle.stored_bytes - start <= kReadMax;
}

Status BlockWalk::Load(Ahead* ahead) {
  Extent* extent = ahead->extent;
  RETURN_IF_ERROR(queue_->Finish(extent));
  const std::string_view read(extent->bytes.get(), extent->transferred);
  const uint64_t at = ahead->handle.offset - extent->offset;
  // A file that ends early yields fewer bytes, which the block's decoder reports.
  const std::string_view stored =
      at < read.size() ? read.substr(at, ahead->handle.stored_bytes) : std::string_view();
  const uint32_t block = ahead->block.block;
  ASSIGN_OR_RETURN(ahead->block.rows, options_.admit ? file_->AdmitRows(block, stored)
                                                     : file_->DecodeRows(block, stored));
  if (--extent->users == 0) {
    queue_->Release(extent);
    std::erase_if(extents_, [=](const auto& other) { return other.get() == extent; });
  }
  return {};
}

}  // namespace tandem::engine

// Merges within one another have one thread, so of a region they begin and end like calls.
#include "engine/region/running_merges.h"

#include <algorithm>

namespace tandem::engine {
namespace {

// Merges that give way to one another: each is at most half as large as the one before.
constexpr uint32_t kDepthMax = 4;
// A merge has at least a third of its thread.
constexpr uint64_t kGivenPart = 2;

}  // namespace

// And those of the merges within it.
void RunningMerges::SetCancelFlag(RunningMerge* merge) const {
  bool is_ended = merge->description_.within != nullptr && merge->description_.within->is_ended();
  for (; merge != nullptr; merge = merge->inner_) {
    const RunningMerge::Description& description = merge->description_;
    const bool ends = description.kind == MergeKind::kDue
                          ? regions_.at(merge->region_.id()).callers_waiting > 0 ||
                                description.input_bytes > due_bytes_max_
                          : is_closing_;
    is_ended = is_ended || merge->is_retired_ || ends;
    merge->end_.store(is_ended, std::memory_order_relaxed);
  }
}

void RunningMerges::SetCancelFlags(const OfRegion& of) const {
  for (RunningMerge* merge = of.innermost; merge != nullptr; merge = merge->enclosing_) {
    SetCancelFlag(merge);
  }
}

void RunningMerges::EraseIfUnused(format::RegionId region) {
  const auto found = regions_.find(region);
  if (found->second.innermost == nullptr && found->second.callers_waiting == 0) {
    regions_.erase(found);
  }
}

void RunningMerges::CallersWait(const Region& region, int change) {
  base::MutexLock lock(mutex_);
  OfRegion& of = regions_[region.id()];
  of.callers_waiting += static_cast<uint32_t>(change);
  SetCancelFlags(of);
  EraseIfUnused(region.id());
}

void RunningMerges::EndAllOf(const Region& region) {
  base::MutexLock lock(mutex_);
  WithdrawLocked(region.id(), offers());
  const auto found = regions_.find(region.id());
  if (found == regions_.end()) return;
  for (RunningMerge* merge = found->second.innermost; merge != nullptr; merge = merge->enclosing_) {
    merge->is_retired_ = true;
  }
  SetCancelFlags(found->second);
}

void RunningMerges::Close(uint64_t input_bytes) {
  base::MutexLock lock(mutex_);
  is_closing_ = true;
  due_bytes_max_ = input_bytes;
  for (const auto& [region, of] : regions_) SetCancelFlags(of);
}

void RunningMerges::Begin(RunningMerge* merge) {
  base::MutexLock lock(mutex_);
  OfRegion& of = regions_[merge->region_.id()];
  merge->enclosing_ = of.innermost;
  of.innermost = merge;
  if (merge->description_.within != nullptr) merge->description_.within->inner_ = merge;
  SetCancelFlag(merge);
}

void RunningMerges::End(RunningMerge* merge) {
  base::MutexLock lock(mutex_);
  regions_[merge->region_.id()].innermost = merge->enclosing_;
  if (merge->description_.within != nullptr) merge->description_.within->inner_ = nullptr;
  EraseIfUnused(merge->region_.id());
}

size_t RunningMerges::BusyRuns(const RegionVersion& version, const RegionRuns& runs) const {
  const LiveFile* newest = nullptr;
  {
    base::MutexLock lock(mutex_);
    const auto found = regions_.find(version.id);
    if (found == regions_.end() || found->second.innermost == nullptr) return 0;
    newest = found->second.innermost->description_.newest;
  }
  const auto file = std::ranges::find(version.files, newest,
                                      [](const FileSlice& slice) { return slice.file.get(); });
  if (file == version.files.end()) return 0;
  const auto place = static_cast<size_t>(file - version.files.begin());
  const auto after = std::ranges::upper_bound(runs.firsts, place);
  return static_cast<size_t>(after - runs.firsts.begin());
}

void RunningMerges::Offer(Region& region) {
  base::MutexLock lock(mutex_);
  const Number number = offers() + 1;
  Number& offered = offered_[region.id()];  // 0: it is new.
  by_number_.emplace(number, region.weak_from_this());
  by_number_.erase(offered);
  offered = number;
  offers_.store(number, std::memory_order_relaxed);
}

void RunningMerges::Withdraw(const Region& region, Number last) {
  base::MutexLock lock(mutex_);
  WithdrawLocked(region.id(), last);
}

void RunningMerges::WithdrawLocked(format::RegionId region, Number last) {
  const auto offered = offered_.find(region);
  if (offered == offered_.end() || offered->second > last) return;
  by_number_.erase(offered->second);
  offered_.erase(offered);
}

std::shared_ptr<Region> RunningMerges::NextOffer(RunningMerge* merge) const {
  base::MutexLock lock(mutex_);
  for (auto next = by_number_.upper_bound(merge->seen_); next != by_number_.end(); ++next) {
    merge->seen_ = next->first;
    if (std::shared_ptr<Region> region = next->second.lock()) return region;
  }
  merge->seen_ = offers();
  return nullptr;
}

RunningMerge::RunningMerge(RunningMerges* merges, Region& region, const Description& description)
    : merges_(*merges),
      region_(region),
      description_(description),
      depth_(description.within == nullptr ? 0 : description.within->depth_ + 1) {
  merges_.Begin(this);
}

bool RunningMerge::IsAwaited() const {
  for (const RunningMerge* merge = this; merge != nullptr; merge = merge->description_.within) {
    if (merge->description_.kind == MergeKind::kByHand) return true;
    if (merge->region_.IsAwaited(Region::Work::kCompaction)) return true;
  }
  return false;
}

bool RunningMerge::GivesWay(uint64_t read_bytes) {
  if (read_bytes < read_bytes_) given_bytes_ = 0;
  read_bytes_ = read_bytes;
  if (!gives_way_ || depth_ + 1 >= kDepthMax) return false;
  if (merges_.offers() == seen_) return false;
  // A copy of a file ends soon then.
  const bool is_repair = description_.kind == MergeKind::kRepair;
  if (is_repair && region_.IsAwaited(Region::Work::kCompaction)) return false;
  return given_bytes_ <= kGivenPart * read_bytes;
}

bool RunningMerge::HasTurnOf(const Region& region) const {
  for (const RunningMerge* merge = this; merge != nullptr; merge = merge->description_.within) {
    if (&merge->region_ == &region) return true;
  }
  return false;
}

}  // namespace tandem::engine

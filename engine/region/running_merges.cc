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

void RunningMerges::SetCancelFlag(const OfRegion& of, RunningMerge* merge) const {
  const RunningMerge::Description& description = merge->description_;
  const bool gives_way = description.kind == MergeKind::kDue
                             ? of.callers_waiting > 0 || description.input_bytes > due_bytes_max_
                             : is_closing_;
  merge->end_.store(merge->is_retired_ || gives_way, std::memory_order_relaxed);
}

void RunningMerges::SetCancelFlags(const OfRegion& of) const {
  for (RunningMerge* merge = of.innermost; merge != nullptr; merge = merge->enclosing_) {
    SetCancelFlag(of, merge);
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
  SetCancelFlag(of, merge);
}

void RunningMerges::End(RunningMerge* merge) {
  base::MutexLock lock(mutex_);
  regions_[merge->region_.id()].innermost = merge->enclosing_;
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
  std::erase_if(offered_, [](const auto& one) { return one.second.first.expired(); });
  Offered& offered = offered_[region.id()];
  offered = {region.weak_from_this(), offers_.load(std::memory_order_relaxed) + 1};
  offers_.store(offered.second, std::memory_order_relaxed);
}

void RunningMerges::Withdraw(const Region& region) {
  base::MutexLock lock(mutex_);
  offered_.erase(region.id());
}

std::vector<std::shared_ptr<Region>> RunningMerges::OffersTo(RunningMerge* merge) const {
  std::vector<std::shared_ptr<Region>> regions;
  base::MutexLock lock(mutex_);
  for (const auto& [id, offered] : offered_) {
    if (offered.second <= merge->seen_) continue;
    if (std::shared_ptr<Region> region = offered.first.lock()) regions.push_back(std::move(region));
  }
  merge->seen_ = offers_.load(std::memory_order_relaxed);
  return regions;
}

RunningMerge::RunningMerge(RunningMerges* merges, Region& region, const Description& description)
    : merges_(*merges),
      region_(region),
      description_(description),
      depth_(description.within == nullptr ? 0 : description.within->depth_ + 1) {
  merges_.Begin(this);
}

bool RunningMerge::is_ended() const {
  for (const RunningMerge* merge = this; merge != nullptr; merge = merge->description_.within) {
    if (merge->end_.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

bool RunningMerge::GivesWay(uint64_t read_bytes) const {
  if (!gives_way_ || depth_ + 1 >= kDepthMax) return false;
  if (merges_.offers_.load(std::memory_order_relaxed) == seen_) return false;
  return given_bytes_ <= kGivenPart * read_bytes;
}

bool RunningMerge::HasTurnOf(const Region& region) const {
  for (const RunningMerge* merge = this; merge != nullptr; merge = merge->description_.within) {
    if (&merge->region_ == &region) return true;
  }
  return false;
}

}  // namespace tandem::engine

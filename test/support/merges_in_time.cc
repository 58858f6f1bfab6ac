// The rules are the engine's: compaction/pick and engine/region/running_merges.
#include "test/support/merges_in_time.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compaction/pick.h"
#include "engine/region/region.h"
#include "engine/region/running_merges.h"
#include "test/support/empty_region.h"

namespace tandem::test {
namespace {

using compaction::MergePolicy;
using compaction::RunDescription;
using compaction::RunRange;
using engine::Region;
using engine::RunningMerge;
using engine::RunningMerges;

constexpr uint64_t kFlushBytes = 1 << 20;
constexpr uint64_t kStepBytes = kFlushBytes / 16;

class Simulation {
 public:
  explicit Simulation(const TimedLoad& load) : load_(load) {
    for (size_t i = 0; i < load.regions; ++i) regions_.push_back({.region = EmptyRegion(i + 1)});
  }

  TimedOutcome Run() {
    while (flushed_ < load_.flushes) {
      while (flushed_ < load_.flushes && time_ >= next_flush_) Flush();
      Work();
    }
    while (!merges_.empty()) merges_.pop_back();
    outcome_.time = time_ / static_cast<double>(load_.flushes);
    outcome_.written = static_cast<double>(load_.flushes * kFlushBytes + merged_bytes_) /
                       static_cast<double>(load_.flushes * kFlushBytes);
    return outcome_;
  }

 private:
  struct SimulatedRegion {
    std::shared_ptr<Region> region;
    std::vector<uint64_t> runs = {};  // Their bytes.
    size_t busy = 0;                  // The first of them that are being merged.
  };
  struct Merge {
    SimulatedRegion* of;
    RunRange range;
    size_t busy_before;
    uint64_t bytes, read = 0;
    std::unique_ptr<RunningMerge> running;
  };

  // Waits while the region has as many runs as it may have.
  void Flush() {
    SimulatedRegion& to = regions_[flushed_ % regions_.size()];
    if (to.runs.size() >= 15) {
      if (!waits_since_.has_value()) waits_since_ = next_flush_;
      next_flush_ = time_ + 0.01;
      return;
    }
    if (waits_since_.has_value()) {
      outcome_.waited_max = std::max(outcome_.waited_max, time_ - *waits_since_);
    }
    waits_since_.reset();
    to.runs.push_back(kFlushBytes);
    outcome_.runs_max = std::max(outcome_.runs_max, to.runs.size());
    merging_.Offer(*to.region);
    ++flushed_;
    const double doublings = static_cast<double>(to.runs.size()) - 10;
    const double slow = doublings < 0 ? 0 : 6 / load_.merge_rate * std::exp2(doublings);
    next_flush_ = std::max(next_flush_ + std::max(slow, 1.0), time_);
  }

  // A step of the innermost merge, or the first that is due, or nothing until the next flush.
  void Work() {
    if (merges_.empty() && !BeginFirst()) {
      time_ = next_flush_;
      return;
    }
    Merge& merge = merges_.back();
    if (load_.gives_way && merge.running->GivesWay(merge.read) && BeginWithin(&merge)) return;
    merge.read += kStepBytes;
    merged_bytes_ += kStepBytes;
    time_ += static_cast<double>(kStepBytes) / static_cast<double>(kFlushBytes) / load_.merge_rate;
    if (merge.read >= merge.bytes) End();
  }

  bool BeginFirst() {
    for (size_t i = 0; i < regions_.size(); ++i) {
      if (Begin(&regions_[(next_region_ + i) % regions_.size()], UINT64_MAX, nullptr)) {
        next_region_ += i + 1;
        return true;
      }
    }
    return false;
  }

  bool BeginWithin(Merge* merge) {
    RunningMerge* const running = merge->running.get();
    while (const std::shared_ptr<Region> offered = merging_.NextOffer(running)) {
      const auto region = std::ranges::find(regions_, offered, &SimulatedRegion::region);
      if (Begin(&*region, running->given_bytes_max(), running)) return true;
    }
    return false;
  }

  bool Begin(SimulatedRegion* region, uint64_t bytes_max, RunningMerge* within) {
    std::vector<RunDescription> described;
    for (const uint64_t bytes : region->runs) {
      described.push_back({.bytes = bytes, .rows = bytes, .deletes = 0, .dead = 0});
    }
    const MergePolicy policy{.runs_max = 8, .bytes_max = bytes_max};
    const auto picked = compaction::PickMerge(described, policy, region->busy);
    if (!picked.has_value()) return false;
    uint64_t bytes = 0;
    for (size_t i = picked->first; i < picked->end; ++i) bytes += region->runs[i];
    merges_.push_back(
        {region, *picked, region->busy, bytes, 0,
         std::make_unique<RunningMerge>(&merging_, *region->region,
                                        RunningMerge::Description{.kind = engine::MergeKind::kDue,
                                                                  .input_bytes = bytes,
                                                                  .newest = nullptr,
                                                                  .within = within})});
    region->busy = picked->end;
    return true;
  }

  // Offers that a merge within it could not take come again with the next flush of the region.
  void End() {
    const Merge merge = std::move(merges_.back());
    merges_.pop_back();
    std::vector<uint64_t>& runs = merge.of->runs;
    const auto first = runs.begin() + static_cast<ptrdiff_t>(merge.range.first);
    runs.erase(first + 1, runs.begin() + static_cast<ptrdiff_t>(merge.range.end));
    runs[merge.range.first] = merge.bytes;
    merge.of->busy = merge.busy_before;
    if (!merges_.empty()) merges_.back().running->Gave(merge.bytes);
    merging_.Offer(*merge.of->region);
  }

  const TimedLoad load_;
  RunningMerges merging_;
  std::vector<SimulatedRegion> regions_;
  std::vector<Merge> merges_;  // The last one is innermost.
  uint64_t flushed_ = 0, merged_bytes_ = 0;
  size_t next_region_ = 0;
  double time_ = 0, next_flush_ = 0;
  std::optional<double> waits_since_;
  TimedOutcome outcome_;
};

}  // namespace

TimedOutcome SimulateMerges(const TimedLoad& load) { return Simulation(load).Run(); }

}  // namespace tandem::test

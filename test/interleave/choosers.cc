// See choosers.h.
#include "test/interleave/choosers.h"

#include <algorithm>

namespace tandem::test {

size_t ScheduleChooser::Choose(const Decision& decision) {
  while (next_ < schedule_.size() && schedule_[next_].first < decision.index) ++next_;
  if (next_ == schedule_.size() || schedule_[next_].first != decision.index) return 0;
  const auto& ready = *decision.ready;
  const auto found = std::find(ready.begin(), ready.end(), schedule_[next_].second);
  return found == ready.end() ? 0 : static_cast<size_t>(found - ready.begin());
}

size_t SystematicChooser::Choose(const Decision& decision) {
  const auto count = static_cast<uint32_t>(decision.ready->size());
  if (decision.point == Point::kUnlock) return 0;
  // Once in some ten thousand runs one is no function of its choices. It is still a run; the walk
  // continues from where it left the path.
  if (depth_ < path_.size() && path_[depth_].count != count) {
    ++strays_;
    path_.resize(depth_);
  }
  if (depth_ == path_.size()) {
    path_.push_back({.count = count, .is_preemption = decision.current != kNoThread});
  }
  return path_[depth_++].chosen;
}

bool SystematicChooser::Advance() {
  path_.resize(depth_);
  depth_ = 0;
  uint32_t preemptions = 0, turns = 0;
  for (const Node& node : path_) {
    if (node.chosen != 0) ++(node.is_preemption ? preemptions : turns);
  }
  while (!path_.empty()) {
    Node& last = path_.back();
    uint32_t& used = last.is_preemption ? preemptions : turns;
    if (last.chosen != 0) --used;
    const uint32_t most = last.is_preemption ? preemptions_max_ : turns_max_;
    if (used < most && last.chosen + 1 < last.count) {
      ++last.chosen;
      return true;
    }
    path_.pop_back();
  }
  return false;
}

PriorityChooser::PriorityChooser(uint64_t seed, uint64_t length, uint32_t changes) : dice_(seed) {
  for (; changes > 0; --changes) changes_.push_back(dice_.Below(std::max<uint64_t>(length, 1)));
  std::sort(changes_.begin(), changes_.end());
}

int64_t PriorityChooser::PriorityOf(ThreadId thread) {
  if (priorities_.size() <= thread) priorities_.resize(thread + 1);
  int64_t& priority = priorities_[thread];
  if (priority == 0) priority = 1 + static_cast<int64_t>(dice_.Below(1 << 30));
  return priority;
}

size_t PriorityChooser::Choose(const Decision& decision) {
  const auto& ready = *decision.ready;
  if (decision.point == Point::kPick) return dice_.Below(ready.size());
  while (changes_made_ < changes_.size() && changes_[changes_made_] <= decision.index) {
    ++changes_made_;
    if (decision.current == kNoThread) continue;
    (void)PriorityOf(decision.current);
    priorities_[decision.current] = -static_cast<int64_t>(changes_made_);
  }
  size_t best = 0;
  for (size_t i = 1; i < ready.size(); ++i) {
    if (PriorityOf(ready[i]) > PriorityOf(ready[best])) best = i;
  }
  return best;
}

}  // namespace tandem::test

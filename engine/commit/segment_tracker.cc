// A list is enough: there are few segments.
#include "engine/commit/segment_tracker.h"

#include <algorithm>

namespace tandem::engine {

void SegmentTracker::PrepareSeal() {
  base::MutexLock lock(mutex_);
  if (sealed_.size() == sealed_.capacity()) sealed_.reserve(2 * sealed_.size() + 1);
}

void SegmentTracker::Seal(format::FileNumber segment, format::SequenceNumber last) {
  base::MutexLock lock(mutex_);
  sealed_.push_back({.number = segment, .last = last});
}

std::vector<format::FileNumber> SegmentTracker::Droppable(
    format::SequenceNumber oldest_needed) const {
  base::MutexLock lock(mutex_);
  std::vector<format::FileNumber> segments;
  for (const Sealed& sealed : sealed_) {
    if (sealed.last >= oldest_needed) break;
    segments.push_back(sealed.number);
  }
  return segments;
}

std::optional<format::SequenceNumber> SegmentTracker::OldestEnd() const {
  base::MutexLock lock(mutex_);
  if (sealed_.empty()) return std::nullopt;
  return sealed_.front().last;
}

void SegmentTracker::Forget(const std::vector<format::FileNumber>& segments) {
  base::MutexLock lock(mutex_);
  std::erase_if(sealed_, [&segments](const Sealed& sealed) {
    return std::find(segments.begin(), segments.end(), sealed.number) != segments.end();
  });
}

size_t SegmentTracker::size() const {
  base::MutexLock lock(mutex_);
  return sealed_.size();
}

std::vector<SegmentTracker::Sealed> SegmentTracker::sealed() const {
  base::MutexLock lock(mutex_);
  return sealed_;
}

}  // namespace tandem::engine

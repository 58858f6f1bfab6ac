// A single writer is expected after a group of one: it never waits.
#include "engine/commit/commit_delay.h"

#include <algorithm>

namespace tandem::engine {
namespace {

// The weight of the last sync in the average is one in this many.
constexpr int64_t kAveragedSyncs = 8;

}  // namespace

void CommitDelay::NoteGroup(uint32_t writers, uint32_t queued, int64_t micros) {
  expected_ = writers + queued;
  const int64_t bounded = std::clamp<int64_t>(micros, 0, micros_max_);
  sync_micros_ = sync_micros_ == 0
                     ? bounded
                     : (sync_micros_ * (kAveragedSyncs - 1) + bounded) / kAveragedSyncs;
}

bool CommitDelay::IsDue(uint32_t queued) {
  if (queued >= expected_) return false;
  if ((expected_ - queued) * kWriterMicros > sync_micros_) return false;
  if (skips_left_ == 0) return true;
  --skips_left_;
  return false;
}

void CommitDelay::NoteDelay(uint32_t queued) {
  skips_ = queued >= expected_ ? 0 : std::clamp(skips_ * 2, 1u, kSkippedMax);
  skips_left_ = skips_;
}

}  // namespace tandem::engine

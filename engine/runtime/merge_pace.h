// How fast merges in the background go (Options::compaction_bytes_per_second). The limit is one for
// all of them. What they hold up decides by how much it is raised: see WriteThrottle::MergeFactor.
//
// A merge that waits has a thread of the background. Meanwhile it runs the flushes that are due, so
// that none of them waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "engine/runtime/monitor.h"
#include "engine/runtime/rate_limit.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class MergePace {
 public:
  /// All outlive it.
  struct Dependencies {
    base::Clock* clock = nullptr;
    uint64_t bytes_per_second = 0;  ///< Of inputs; 0: no limit.
    /// See RateLimit::Factor.
    std::function<uint32_t()> factor;
    /// Runs a task of high priority that is due (BackgroundJobs::RunUrgent).
    std::function<void()> run_urgent;
    Monitor* monitor = nullptr;
  };
  explicit MergePace(Dependencies dependencies)
      : deps_(std::move(dependencies)), limit_(deps_.clock, deps_.bytes_per_second) {}

  /// The bytes that a merge has passed and has not waited for yet. Threads: one at a time.
  struct Passed {
    uint64_t bytes = 0;       ///< That it has read, from its beginning on.
    uint64_t waited_for = 0;  ///< Of these.
  };
  /// Whether the merge goes on at the limit, or without one; an error ends it.
  using Look = std::function<Result<bool>()>;

  /// The merge has read that many bytes; less than before: it has begun again. Waits every
  /// 256 KiB or so. Errors: those of `look`, which is asked again and again meanwhile.
  Status Pass(uint64_t read_bytes, const Look& look, Passed* passed);

 private:
  const Dependencies deps_;
  RateLimit limit_;
};

}  // namespace tandem::engine

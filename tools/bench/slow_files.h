// A file system whose reads take longer, as those of a disk that is far away do.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file_system.h"

namespace tandem::bench {

/// Every read takes a latency more. Reads that a queue has in flight wait side by side, as those of
/// a device that serves any number of them at once; a read that is a call of its own keeps its
/// thread waiting. Nothing else is delayed. Threads: any. Lifetime: `beneath` and `clock` outlive
/// it, and it outlives all that it opens.
class SlowFileSystem final : public base::FileSystem {
 public:
  SlowFileSystem(base::FileSystem* beneath, base::Clock* clock)
      : beneath_(beneath), clock_(clock) {}

  /// Of the reads that begin from now on; 0 at first.
  void SetLatency(int64_t micros) { latency_micros_.store(micros, std::memory_order_relaxed); }

  Result<std::unique_ptr<base::Directory>> OpenDirectory(const std::string& path,
                                                         bool create) override;
  std::unique_ptr<base::IoQueue> NewQueue(uint32_t depth) override;
  std::string_view name() const override { return "slow"; }

  // For its files and queues.
  /// When a read that begins now is done.
  int64_t EndOfRead() const {
    return clock_->MonotonicMicros() + latency_micros_.load(std::memory_order_relaxed);
  }
  void WaitUntil(int64_t micros) const;

 private:
  base::FileSystem* const beneath_;
  base::Clock* const clock_;
  std::atomic<int64_t> latency_micros_{0};  // Relaxed: it orders nothing else.
};

}  // namespace tandem::bench

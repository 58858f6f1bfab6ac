// Writers look at three cached figures; only when one is high do they look at the regions.
#include "engine/commit/write_throttle.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/status_macros.h"
#include "engine/runtime/rate_limit.h"

namespace tandem::engine {
namespace {

// A region with this many memstores waiting slows writers down, or stops them.
constexpr size_t kWaitingSlow = 2;
constexpr size_t kWaitingStop = 4;
// How long that slows a write.
constexpr int64_t kSlowMicros = 1000;
// Above this part of their memory, while a flush is going to free some, writers are slowed.
constexpr double kMemorySlow = 0.6;
// The most that memory delays one write: a memstore that is nearly full stops writers anyway.
constexpr int64_t kMemoryDelayMicrosMax = 4000;
// Merges go about as fast as flushes, and write each byte this often.
constexpr uint64_t kRewrites = 6;
// Flushes of little take as long as their syncs: no slower than this part of a memstore a second.
constexpr uint64_t kLeastPart = 16;
// The most that too many runs delay one write. With one or two runs less than what stops writers it
// is more: merges that get little of the processor are waited for in many short steps.
constexpr int64_t kRunsDelayMicrosMax = 16'000;
constexpr int64_t kLastDelaysMicrosMax[] = {256'000, 64'000};  // The last of these runs first.
constexpr size_t kDoublingsMax = 10;
// A wait times out after this and checks again, so a lost wake-up does no harm.
constexpr int64_t kLookAgainMicros = 100'000;

// Counts waiting memstores as the runs that they will become.
size_t RunsToBe(const RegionVersion& version) {
  return RunCount(version) + version.memstores.size() - 1;
}

Status Hindered(const std::string& reason, const Status& hindrance) {
  const bool is_full = hindrance.code() == StatusCode::kNoSpace;
  return Status(
      hindrance.code(),
      reason + (is_full ? ", and that waits for disk space: " : ", and that is tried again: ") +
          std::string(hindrance.message()));
}

}  // namespace

Status WriteThrottle::Admit(const Request& request) {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  RETURN_IF_ERROR(WaitWhileStopped(request));
  if (request.no_wait) return {};
  const Delay delay = DelayOf(request);
  if (delay.micros == 0) return {};
  WriteWait wait(deps_.monitor->delays());
  wait.WaitFor(delay.cause, {});
  deps_.clock->SleepMicros(delay.micros);
  return {};
}

Status WriteThrottle::WaitWhileStopped(const Request& request) {
  Stall stall(deps_.monitor);
  for (bool waited = false;; waited = true) {
    const Reason reason = ReasonToWait(request.tables);
    if (reason.text.empty()) return {};
    if (request.no_wait) return Status::Busy(reason.text);
    const Status hindrance = HindranceOf(request.tables);
    // An inline executor runs jobs inside the wait, so the hindrance may be gone after it.
    const bool may_be_over = deps_.executor->runs_inline() && !waited;
    if (!hindrance.ok() && !may_be_over) return Hindered(reason.text, hindrance);
    if (waited && deps_.executor->runs_inline()) return Status::Busy(reason.text);
    stall.Begin(reason.cause, reason.text);
    RETURN_IF_ERROR(WaitForFlush());
  }
}

WriteThrottle::Delay WriteThrottle::DelayOf(const Request& request) {
  if (waiting_max_.load(std::memory_order_relaxed) >= kWaitingSlow) {
    return {.cause = WaitCause::kMemstores, .micros = kSlowMicros};
  }
  // Both count the bytes of the write.
  const Delay memory{.cause = WaitCause::kMemory, .micros = DelayForMemory(request)};
  const Delay runs{.cause = WaitCause::kRuns, .micros = DelayForRuns(request)};
  return memory.micros < runs.micros ? runs : memory;
}

// Bytes a second that writers may add: as many as a flush frees when half of the ramp is used, more
// before that and less after it, so that the last of the memory lasts as long as a flush may take.
// Negative: as many as they can.
double WriteThrottle::RateForMemory() const {
  const uint64_t bytes = memstore_bytes_.load(std::memory_order_relaxed);
  const auto total = static_cast<double>(deps_.memstores_total_bytes);
  const double used = (static_cast<double>(bytes) / total - kMemorySlow) / (1 - kMemorySlow);
  if (used <= 0 || waiting_max_.load(std::memory_order_relaxed) == 0) return -1;
  return static_cast<double>(deps_.monitor->FlushRate(deps_.memstore_bytes)) *
         std::max(1 - used, 0.0) / used;
}

int64_t WriteThrottle::DelayForMemory(const Request& request) {
  const double rate = RateForMemory();
  if (rate < 0) return 0;
  return memory_schedule_.Delay({.now_micros = deps_.clock->MonotonicMicros(),
                                 .bytes = request.bytes,
                                 .bytes_per_second = rate,
                                 .delay_micros_max = kMemoryDelayMicrosMax});
}

int64_t WriteThrottle::DelayForRuns(const Request& request) {
  if (runs_max_.load(std::memory_order_relaxed) < runs_slow()) return 0;
  size_t runs = 0;
  for (const auto& table : request.tables) {
    for (const auto& region : table->regions) {
      runs = std::max(runs, RunsFrom(runs_slow(), *region));
    }
  }
  if (runs == 0) return 0;
  const size_t doublings = std::min(runs - runs_slow(), kDoublingsMax);
  const size_t left = runs < runs_stop() ? runs_stop() - runs - 1 : 0;
  const int64_t delay_max =
      left < std::size(kLastDelaysMicrosMax) ? kLastDelaysMicrosMax[left] : kRunsDelayMicrosMax;
  const uint64_t rate =
      std::max(deps_.monitor->FlushRate(kRewrites * deps_.memstore_bytes) / kRewrites,
               deps_.memstore_bytes / kLeastPart);
  return runs_schedule_.Delay(
      {.now_micros = deps_.clock->MonotonicMicros(),
       .bytes = request.bytes,
       .bytes_per_second = std::ldexp(static_cast<double>(rate), -static_cast<int>(doublings)),
       .delay_micros_max = delay_max});
}

size_t WriteThrottle::RunsFrom(size_t least, const Region& region) const {
  const size_t runs = RunsToBe(*region.version());
  return runs < least || region.merges_fail() ? 0 : runs;
}

WriteThrottle::Reason WriteThrottle::ReasonToWait(const Tables& tables) const {
  const uint64_t bytes = memstore_bytes_.load(std::memory_order_relaxed);
  if (bytes > deps_.memstores_total_bytes) {
    return {.cause = WaitCause::kMemory,
            .text = "the memstores hold " + std::to_string(bytes) + " bytes, their limit is " +
                    std::to_string(deps_.memstores_total_bytes)};
  }
  if (waiting_max_.load(std::memory_order_relaxed) < kWaitingStop &&
      runs_max_.load(std::memory_order_relaxed) < runs_stop()) {
    return {};
  }
  for (const auto& table : tables) {
    for (const auto& region : table->regions) {
      Reason reason = ReasonToWait(*region);
      if (!reason.text.empty()) return reason;
    }
  }
  return {};
}

WriteThrottle::Reason WriteThrottle::ReasonToWait(const Region& region) const {
  const size_t waiting = region.waiting_memstores();
  if (waiting >= kWaitingStop) {
    return {.cause = WaitCause::kMemstores,
            .text = region.Describe() + " has " + std::to_string(waiting) +
                    " memstores waiting to be flushed"};
  }
  const size_t runs = RunsFrom(runs_stop(), region);
  if (runs == 0) return {};
  return {.cause = WaitCause::kRuns,
          .text = region.Describe() + " has " + std::to_string(runs) +
                  " runs of store files waiting to be merged"};
}

Status WriteThrottle::HindranceOf(const Tables& tables) const {
  Status hindrance = deps_.health->hindrance();
  if (!hindrance.ok()) return hindrance;
  for (const auto& table : tables) {
    for (const auto& region : table->regions) {
      if (!region->lacks_space(Region::Rewriting::kDueMerge)) continue;
      if (RunsFrom(runs_stop(), *region) == 0) continue;
      region->tasks().merge.Schedule();
      return Status::NoSpace("the disk has too little for a merge");
    }
  }
  return {};
}

Status WriteThrottle::WaitForFlush() {
  if (deps_.executor->runs_inline()) {
    deps_.executor->Drain();
  } else {
    base::MutexLock lock(mutex_);
    (void)changed_.WaitFor(mutex_, kLookAgainMicros);
  }
  Look();
  return deps_.health->CheckWritable();
}

uint32_t WriteThrottle::MergeFactor() const {
  if (lacks_space_.load(std::memory_order_relaxed)) return RateLimit::kNoLimit;
  const size_t runs = merging_runs_max_.load(std::memory_order_relaxed);
  if (runs >= deps_.runs_max) return RateLimit::kNoLimit;
  const size_t calm = deps_.runs_max / 2;
  return runs <= calm ? 1 : uint32_t{1} << std::min(runs - calm, kDoublingsMax);
}

void WriteThrottle::Update() {
  Look();
  base::MutexLock lock(mutex_);
  changed_.NotifyAll();
}

void WriteThrottle::Look() {
  MemstoreSum sum;
  size_t waiting_max = 0, runs_max = 0, merging_runs_max = 0;
  bool lacks_space = false;
  for (const auto& region : deps_.regions->regions()) {
    const std::shared_ptr<const RegionVersion> version = region->version();
    sum.Add(*version);
    waiting_max = std::max(waiting_max, version->memstores.size() - 1);
    runs_max = std::max(runs_max, RunsToBe(*version));
    lacks_space |= region->lacks_space(Region::Rewriting::kDueMerge);
    if (region->merges_fail()) continue;
    merging_runs_max = std::max(merging_runs_max, RunsToBe(*version));
  }
  memstore_bytes_.store(sum.bytes(), std::memory_order_relaxed);
  waiting_max_.store(waiting_max, std::memory_order_relaxed);
  runs_max_.store(runs_max, std::memory_order_relaxed);
  merging_runs_max_.store(merging_runs_max, std::memory_order_relaxed);
  lacks_space_.store(lacks_space, std::memory_order_relaxed);
}

}  // namespace tandem::engine

// Writers look at two cached figures; only when one is high do they look at the regions.
#include "engine/commit/backpressure.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// A region with this many memstores waiting slows writers down, or stops them.
constexpr size_t kWaitingSlow = 2;
constexpr size_t kWaitingStop = 4;
constexpr int64_t kSlowMicros = 1000;
// Waits end by themselves after this, to look again: nobody depends on a lost wake-up.
constexpr int64_t kLookAgainMicros = 100'000;

Status Hindered(const std::string& reason, const Status& hindrance) {
  const bool is_full = hindrance.code() == StatusCode::kNoSpace;
  return Status(
      hindrance.code(),
      reason + (is_full ? ", and that waits for disk space: " : ", and that is tried again: ") +
          std::string(hindrance.message()));
}

}  // namespace

Status WriteGate::Admit(const std::vector<std::shared_ptr<const Table>>& tables, bool no_wait) {
  RETURN_IF_ERROR(parts_.health->CheckWritable());
  Stall stall(parts_.monitor);
  for (bool waited = false;; waited = true) {
    const std::string reason = ReasonToWait(tables);
    if (reason.empty()) break;
    if (no_wait) return Status::Busy(reason);
    const Status hindrance = parts_.health->hindrance();
    if (!hindrance.ok()) return Hindered(reason, hindrance);
    if (waited && parts_.executor->runs_inline()) return Status::Busy(reason);
    stall.Begin(reason);
    RETURN_IF_ERROR(WaitForFlush());
  }
  if (!no_wait && waiting_max_.load(std::memory_order_relaxed) >= kWaitingSlow) {
    parts_.monitor->CountDelayedWrite();
    parts_.clock->SleepMicros(kSlowMicros);
  }
  return Status();
}

std::string WriteGate::ReasonToWait(const std::vector<std::shared_ptr<const Table>>& tables) const {
  const uint64_t bytes = memstore_bytes_.load(std::memory_order_relaxed);
  if (bytes > parts_.memstores_total_bytes) {
    return "the memstores hold " + std::to_string(bytes) + " bytes, their limit is " +
           std::to_string(parts_.memstores_total_bytes);
  }
  if (waiting_max_.load(std::memory_order_relaxed) < kWaitingStop) return {};
  for (const auto& table : tables) {
    for (const auto& region : table->regions) {
      const size_t waiting = region->waiting_memstores();
      if (waiting < kWaitingStop) continue;
      return region->Describe() + " has " + std::to_string(waiting) +
             " memstores waiting to be flushed";
    }
  }
  return {};
}

Status WriteGate::WaitForFlush() {
  if (parts_.executor->runs_inline()) {
    parts_.executor->Drain();
  } else {
    base::MutexLock lock(mutex_);
    (void)changed_.WaitFor(mutex_, kLookAgainMicros);
  }
  Look();
  return parts_.health->CheckWritable();
}

void WriteGate::Update() {
  Look();
  base::MutexLock lock(mutex_);
  changed_.NotifyAll();
}

void WriteGate::Look() {
  uint64_t bytes = 0;
  size_t waiting_max = 0;
  for (const auto& region : parts_.regions->regions()) {
    bytes += region->memstore_bytes();
    waiting_max = std::max(waiting_max, region->waiting_memstores());
  }
  memstore_bytes_.store(bytes, std::memory_order_relaxed);
  waiting_max_.store(waiting_max, std::memory_order_relaxed);
}

}  // namespace tandem::engine

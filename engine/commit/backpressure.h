// Backpressure: writers slow down and then wait when flushes fall behind or the memstores together
// pass their budget. They wait before they join the commit line, so the leader is never held up.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "engine/region/region_set.h"
#include "engine/runtime/background.h"
#include "engine/runtime/health.h"
#include "engine/runtime/monitor.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class WriteGate {
 public:
  struct Parts {
    const RegionSet* regions = nullptr;
    Health* health = nullptr;
    Monitor* monitor = nullptr;
    base::Executor* executor = nullptr;
    base::Clock* clock = nullptr;
    uint64_t memstores_total_bytes = 0;  ///< Writers wait above it.
  };
  /// What `parts` points to outlives this.
  explicit WriteGate(const Parts& parts) : parts_(parts) {}

  /// Returns when a write to the tables may go on. Errors: kReadOnly; kBusy with the reason
  /// (`no_wait`, or nobody is left who could flush); kNoSpace when what it waits for waits for disk
  /// space.
  Status Admit(const std::vector<std::shared_ptr<const Table>>& tables, bool no_wait);
  /// Looks at the memstores anew and wakes those that wait: to be called whenever a memstore was
  /// switched or flushed, or the database's health changed.
  void Update() EXCLUDES(mutex_);

 private:
  void Look();
  /// Why a write has to wait; empty: it need not.
  std::string ReasonToWait(const std::vector<std::shared_ptr<const Table>>& tables) const;
  Status WaitForFlush() EXCLUDES(mutex_);

  const Parts parts_;
  // Stored by Update, loaded by writers; relaxed, since being late by a moment does no harm.
  std::atomic<uint64_t> memstore_bytes_{0};
  std::atomic<size_t> waiting_max_{0};  // Of any region.
  base::Mutex mutex_;
  base::CondVar changed_;
};

}  // namespace tandem::engine

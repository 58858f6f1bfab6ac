// Whether the database accepts writes, and where it reports what happens to it. It turns read-only
// for good when a promise of durability can no longer be kept; a lack of space, memory or
// descriptors is temporary.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "engine/runtime/monitor.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class Health {
 public:
  /// `monitor` (may be null: nothing is reported) outlives it.
  explicit Health(Monitor* monitor) : monitor_(monitor) {}

  /// Gives the line to the monitor. Requires: no lock is held (the sink is the user's).
  void Log(std::string_view line) const;

  /// OK, or kReadOnly with the reason.
  Status CheckWritable() const EXCLUDES(mutex_);
  /// Makes every later write fail with "WHAT: CAUSE". The first reason is kept.
  void TurnReadOnly(std::string_view what, const Status& cause) EXCLUDES(mutex_);
  /// Refuses writes from the start, without a line in the log.
  void OpenReadOnly() EXCLUDES(mutex_);
  /// Empty while writes are accepted.
  std::string read_only_reason() const EXCLUDES(mutex_);

  /// Records that a flush failed for a reason that may pass (base/passing.h) and will be retried,
  /// or that one succeeded (OK).
  void SetHindrance(const Status& status) EXCLUDES(mutex_);
  /// OK, or what hindered the last flush: space, memory, descriptors.
  Status hindrance() const EXCLUDES(mutex_);

 private:
  Monitor* const monitor_;
  mutable base::Mutex mutex_;
  std::atomic<bool> read_only_{false};  // Release after reason_ is set; acquire before it is read.
  std::string reason_ GUARDED_BY(mutex_);
  Status hindrance_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine

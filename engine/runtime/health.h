// Whether the database accepts writes, and where it tells what happens to it. It turns read-only
// for good when a durable promise cannot be kept any more; lack of space, memory or descriptors is
// a state that passes.
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
  /// From now on every write fails with "WHAT: CAUSE". The first reason stays.
  void TurnReadOnly(std::string_view what, const Status& cause) EXCLUDES(mutex_);
  /// Refuses writes from the start, without a line in the log.
  void OpenReadOnly() EXCLUDES(mutex_);
  /// Empty while writes are accepted.
  std::string read_only_reason() const EXCLUDES(mutex_);

  /// A flush failed for a reason that may pass (base/passing.h) and is tried again, or one ended
  /// well (OK).
  void SetHindrance(const Status& status) EXCLUDES(mutex_);
  /// OK, or what hindered the last flush: space, memory, descriptors.
  Status hindrance() const EXCLUDES(mutex_);

 private:
  Monitor* const monitor_;
  mutable base::Mutex mutex_;
  std::atomic<bool> read_only_{
      false};  // Release after the reason stands; acquire before it is read.
  std::string reason_ GUARDED_BY(mutex_);
  Status hindrance_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine

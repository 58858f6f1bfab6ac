// Notices that a call does not come back. Nothing can be done about the thread that makes it: what
// is left is to say so, from another thread, and usually to end the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace tandem::test {

/// What is under way in a slot.
struct Underway {
  size_t slot = 0;
  int64_t micros = 0;  ///< Since it began.
  bool hangs = false;  ///< For longer than the limit.
  std::string what;
};

/// Threads: any; one at a time uses a slot. Slots share no lock, so that watching two threads does
/// not bring their work into an order in which it was not before.
class Watchdog {
 public:
  struct Setup {
    size_t slots = 1;
    int64_t limit_micros = 10'000'000;  ///< 0: nothing is watched.
    /// Called once, on a thread of the watchdog, with all that is under way, the longest first.
    std::function<void(const std::vector<Underway>&)> on_hang = {};
  };

  explicit Watchdog(Setup setup);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Something begins in the slot and must end before the limit has passed; it ends what began
  /// before. `describe` is called on the watchdog's thread, at most until the end.
  void Begin(size_t slot, std::function<std::string()> describe);
  void End(size_t slot);

  int64_t limit_micros() const { return setup_.limit_micros; }

 private:
  struct Slot {
    base::Mutex mutex;
    int64_t begin_micros GUARDED_BY(mutex) = 0;
    std::function<std::string()> describe GUARDED_BY(mutex);  ///< Empty: nothing is under way.
  };

  void Watch() EXCLUDES(mutex_);
  /// Whether something hangs; then `found` has all that is under way.
  bool Look(std::vector<Underway>* found);
  int64_t PauseMicros() const;

  const Setup setup_;
  const std::unique_ptr<base::Clock> clock_;
  std::vector<Slot> slots_;
  // Time in which this process ran: stored by the watchdog alone, loaded by all; orders nothing.
  std::atomic<int64_t> now_micros_{0};
  base::Mutex mutex_;
  base::CondVar over_;
  bool is_over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // The last, since it uses all the others.
};

}  // namespace tandem::test

// Ends the program when a call hangs: nothing else can be done about a thread that does not come
// back.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace tandem::prove {

/// Threads: one uses a slot at a time.
class Watchdog {
 public:
  static constexpr size_t kSlots = 2;
  static constexpr int64_t kHangMicros = 10'000'000;

  explicit Watchdog(const std::string& suite);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Something begins in the slot that must end before kHangMicros have passed; it ends what began
  /// before. `describe` is called on another thread if it does not.
  void Begin(size_t slot, std::function<std::string()> describe) EXCLUDES(mutex_);
  void End(size_t slot) EXCLUDES(mutex_);

 private:
  struct Watched {
    int64_t begin_micros = 0;
    std::function<std::string()> describe;  ///< Empty: nothing is under way.
  };
  void Look() EXCLUDES(mutex_);

  const std::string suite_;
  const std::unique_ptr<base::Clock> clock_;
  base::Mutex mutex_;
  std::array<Watched, kSlots> slots_ GUARDED_BY(mutex_);
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace tandem::prove

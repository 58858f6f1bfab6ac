// Ends the program when a call of a suite hangs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "tools/simulation/watchdog.h"

namespace tandem::reliability {

/// Threads: one uses a slot at a time.
class Watchdog {
 public:
  static constexpr size_t kSlots = 2;
  static constexpr int64_t kHangMicros = 10'000'000;

  explicit Watchdog(const std::string& suite);

  /// Something begins in the slot that must end before kHangMicros have passed; it ends what began
  /// before. `describe` is called on another thread if it does not.
  void Begin(size_t slot, std::function<std::string()> describe) {
    watchdog_.Begin(slot, std::move(describe));
  }
  void End(size_t slot) { watchdog_.End(slot); }

 private:
  test::Watchdog watchdog_;
};

}  // namespace tandem::reliability

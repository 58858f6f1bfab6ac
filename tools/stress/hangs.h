// How a run ends when an operation does not come back: the watchdog of the run says which, on which
// thread and for how long, and the process ends at once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tools/simulation/watchdog.h"
#include "tools/stress/stress.h"

namespace tandem::stress {

/// Where an operation takes milliseconds: the disk is simulated, and waits for nobody.
inline constexpr int64_t kHangMicrosSimulated = 10'000'000;
/// On real files a sync takes as long as a busy disk likes.
inline constexpr int64_t kHangMicrosReal = 60'000'000;

/// What is watched, and what the report says.
struct HangWatch {
  int64_t limit_micros = 0;
  size_t slots = 1;
  std::function<std::string(size_t)> name_of = {};  ///< Of a slot's thread; empty: there is one.
  std::string kept;                                 ///< Lines: what there is to look at afterwards.
};

/// A watchdog that ends the process through `environment.end_hanging`.
std::unique_ptr<test::Watchdog> NewHangWatchdog(const HangWatch& watch,
                                                const RunEnvironment& environment);

}  // namespace tandem::stress

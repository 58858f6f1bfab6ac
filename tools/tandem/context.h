// The environment of a verb: three streams, a clock, and whether Ctrl-C was pressed.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "tandem/event_listener.h"

namespace tandem::tools {

/// Numbers are what the shell sees; tests and scripts rely on them.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kNotFound = 3,
  kCorrupt = 4,
  kRefused = 5,
  kLocked = 6,
  kUnsupported = 7,
  kFindings = 8,
  kInterrupted = 130,
};

/// Not owned; outlives the run. stdout is data only; messages and progress go to `err`.
struct Context {
  std::FILE* in = nullptr;
  std::FILE* out = nullptr;
  std::FILE* err = nullptr;
  base::Clock* clock = nullptr;
  /// Set by a signal; ordering is relaxed, it guards nothing.
  const std::atomic<bool>* interrupted = nullptr;
  /// How the program was called, for commands that it suggests.
  std::string program = "tandem";
  /// Lines that the engine logs go to `err`.
  bool verbose = false;
  /// Of databases that are opened; null: none.
  std::shared_ptr<EventListener> listener = {};
  int64_t slow_query_micros = 0;  ///< As Options has it.

  bool is_interrupted() const {
    return interrupted != nullptr && interrupted->load(std::memory_order_relaxed);
  }
};

}  // namespace tandem::tools

// A process that has the database open: an engine on any file system, with a clock that only the
// test moves and background jobs that run only when the test says so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engine/engine.h"
#include "test/reliability/call_guard.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::reliability {

inline constexpr const char* kDatabasePath = "db";
inline constexpr int64_t kFirstMicros = 1'700'000'000'000'000;

/// Threads: one.
class Machine {
 public:
  struct Setup {
    base::FileSystem* files = nullptr;  ///< Outlives the machine.
    engine::Tuning tuning{};
    uint64_t seed = 1;  ///< Of the ids that the engine draws.
    int64_t wall_micros = kFirstMicros;
    CallGuard* guard = nullptr;  ///< Around each call of the engine and job. Outlives the machine.
  };
  explicit Machine(const Setup& setup);
  ~Machine() { LetGo(); }

  /// Who hears of events from the next Open on.
  void Hear(std::shared_ptr<EventListener> listener) { listener_ = std::move(listener); }
  /// Opens the database and creates it where it is absent. Requires: it is not open.
  Status Open();
  /// Closes it, and releases it unless it continues after an error.
  Status Close();
  /// Runs the next job of the background, if there is any.
  void RunJob();
  /// Destroys the engine as it is, which closes itself as well as it can.
  void LetGo();

  bool is_open() const { return engine_ != nullptr; }
  engine::Engine& engine() { return *engine_; }
  test::ManualClock& clock() { return clock_; }
  test::InlineExecutor& executor() { return *executor_; }
  base::FileSystem& files() { return *setup_.files; }

 private:
  const Setup setup_;
  std::shared_ptr<EventListener> listener_;
  test::ManualClock clock_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<test::InlineExecutor> executor_;  // Outlives the engine.
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace tandem::reliability

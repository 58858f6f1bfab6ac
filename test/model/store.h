// A database under test and the world around it: disk, clock, executor, randomness. Everything but
// the kernel's part of a real disk follows from one seed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "engine/engine.h"
#include "test/support/temporary_directory.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/program_functions.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {

enum class DiskKind : uint8_t { kSimulated, kPosix, kUring };

class Store {
 public:
  struct Setup {
    DiskKind disk = DiskKind::kSimulated;
    std::string parent{};  ///< Of the directory on a real disk; empty: the usual one.
    uint64_t seed = 1;
    int64_t wall_micros = 1'700'000'000'000'000;
    engine::Tuning tuning{};
  };
  explicit Store(const Setup& setup);
  ~Store();

  /// Empty when the disk is of the kind that was asked for; otherwise why it is not.
  const std::string& fallback_reason() const { return fallback_reason_; }

  /// Opens the database, which is made when it does not exist. Requires: it is not open.
  Status Open(const format::FunctionRegistry& functions = ProgramFunctions());
  /// Closes cleanly; the database stays open when that fails.
  Status Close();
  /// Lets go of the engine, which then closes itself as well as it can. For the end of a process,
  /// end it on the disk first.
  void Abandon();

  engine::Engine& engine() { return *engine_; }
  bool is_open() const { return engine_ != nullptr; }
  /// The last operation that is visible; Info says it, too, but describes every table.
  uint64_t LastSequence();
  ManualClock& clock() { return clock_; }
  InlineExecutor& executor() { return *executor_; }
  base::FileSystem& file_system() { return *file_system_; }
  const std::string& path() const { return path_; }
  /// nullptr on a real disk.
  SimulatedDisk* simulated() { return simulated_.get(); }

 private:
  Setup setup_;
  ManualClock clock_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<SimulatedDisk> simulated_;
  std::optional<TemporaryDirectory> directory_;
  std::unique_ptr<base::FileSystem> real_;
  base::FileSystem* file_system_ = nullptr;
  std::string fallback_reason_;
  std::string path_;
  std::unique_ptr<InlineExecutor> executor_;  // Outlives the engine.
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace tandem::test

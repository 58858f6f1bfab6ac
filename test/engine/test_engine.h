// An engine on a simulated disk with a manual clock and an executor that runs when the test says
// so: what every test of the engine starts from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/engine.h"
#include "tools/generator/tuning.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {

/// A table "t" with one family "d" of that many versions, and an index "by_c" over d:c (bytes).
TableOptions SimpleTable(uint32_t max_versions = 1, int64_t ttl_micros = 0);

class TestEngine {
 public:
  explicit TestEngine(uint64_t seed = 1);
  /// `observer` watches the disk instead of the usual one; may be null.
  TestEngine(uint64_t seed, std::unique_ptr<DiskObserver> observer);

  /// Opens the database "db", creating it. Requires: it is not open.
  Status Open();
  /// Drops the engine as a process that dies does: nothing is flushed or closed.
  void Kill();
  /// Cuts the power and comes back on what the disk kept.
  void Crash(const CrashPolicy& policy);
  Status Close();
  /// Destroys the engine as it is; it closes itself as well as it can.
  void Drop() { engine_.reset(); }

  engine::Engine& operator*() { return *engine_; }
  engine::Engine* operator->() { return engine_.get(); }
  bool is_open() const { return engine_ != nullptr; }

  Status Put(std::string_view row, std::string_view qualifier, std::string_view value,
             Durability durability = Durability::kWritten,
             std::optional<int64_t> timestamp = std::nullopt);
  Status Write(const WriteBatch& batch, Durability durability = Durability::kWritten);
  /// The newest value of d:qualifier in "t"; "-" when there is none, "!" and the error otherwise.
  std::string Value(std::string_view row, std::string_view qualifier);
  /// All versions of d:qualifier, newest first: "value@timestamp value@timestamp".
  std::string Versions(std::string_view row, std::string_view qualifier);
  /// All rows of the table as "row{qualifier=value ...}", in key order.
  std::string Rows(std::string_view table = "t");
  uint64_t FileCount();

  SimulatedDisk disk;
  ManualClock clock;
  InlineExecutor executor;
  engine::Tuning tuning = SmallTuning();
  Options options;
  std::vector<std::string> log;

 private:
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace tandem::test

// An engine on a simulated disk without threads, for one trial or for making an image.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "engine/engine.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::reliability {

/// The files of a database, by name.
using Files = std::map<std::string, std::string>;

inline constexpr char kShapePath[] = "db";

/// Threads: one.
class SimulatedEngine {
 public:
  explicit SimulatedEngine(uint64_t seed, const engine::Tuning& tuning);
  ~SimulatedEngine();

  /// Opens the database; a writer makes it when it is not there.
  Status Open(bool read_only);
  /// Requires: it is open.
  engine::Engine& engine() { return *engine_; }
  test::ManualClock& clock() { return clock_; }
  /// Closes cleanly. Errors: as Engine::Close.
  Status Close();
  /// Lets go of the engine without closing, as the end of the process does.
  void Kill();

  void Load(const Files& files);
  /// The files as the running system sees them.
  Files Take() const;

 private:
  test::SimulatedDisk disk_;
  test::ManualClock clock_;
  test::InlineExecutor executor_;
  std::unique_ptr<base::RandomSource> random_;
  engine::Tuning tuning_;
  std::unique_ptr<engine::Engine> engine_;
};

/// What the shapes are made with: little memory, sections at multiples of 64.
engine::Tuning ShapeTuning();

}  // namespace tandem::reliability

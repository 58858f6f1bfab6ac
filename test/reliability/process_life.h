// The lives of a database on real files, each in a process that is ended by force: two writers with
// batches over tables, regions and indexes, beside flushes and compactions. What batch n of a
// writer writes is a function of the seed and n, so the state after n batches is known without a
// journal.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tools/simulation/model.h"

namespace tandem::reliability {

inline constexpr size_t kLifeWriters = 2;
using LifeCounts = std::array<uint64_t, kLifeWriters>;

struct LifePlan {
  uint64_t seed = 1;
  std::string path{};  ///< Of the database; the directory above it exists.
  bool uring = false;
  bool no_losses = true;  ///< The process alone dies: what was written stays.
};

/// Shared between the process that lives and the one that judges. All orders are sequentially
/// consistent.
struct LifeProgress {
  std::atomic<bool> is_open{false};
  /// Last batch of each writer that was begun, acknowledged as written or better, and as synced.
  std::array<std::atomic<uint64_t>, kLifeWriters> begun{}, written{}, synced{};
  /// What the check found: how many batches are there, and what is wrong.
  std::array<std::atomic<uint64_t>, kLifeWriters> found{};
  std::atomic<bool> checked{false};
  char wrong[800] = {};

  void Reset(const LifeCounts& counts);
  void Tell(const std::string& text);
};

/// Shared memory with a LifeProgress in it.
class SharedProgress {
 public:
  SharedProgress();
  ~SharedProgress();
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  LifeProgress* operator->() { return progress_; }
  LifeProgress* get() { return progress_; }

 private:
  LifeProgress* progress_;
};

/// Opens the database, makes its tables in its first life, and writes from where `counts` ends
/// until it is killed or an error comes. An error before anybody ended it goes to Tell.
void Live(const LifePlan& plan, const LifeCounts& counts, LifeProgress* progress);

/// What the database has to hold, by writer.
class LifeModel {
 public:
  explicit LifeModel(uint64_t seed);
  const LifeCounts& counts() const { return counts_; }
  /// Advances to the state after that many batches. Requires: it is not beyond it.
  void AdvanceTo(const LifeCounts& counts);
  /// Compares with all reads. Empty: equal.
  std::string Difference(engine::Engine& engine) const;

 private:
  std::string WriterDifference(engine::Engine& engine, size_t writer) const;

  uint64_t seed_;
  LifeCounts counts_{};
  std::array<test::Model, kLifeWriters> models_;
};

/// Opens the database after its process ended and checks it against `model` and `progress`, which
/// gets the outcome; then closes it, or with `dies` leaves it open for good. In a process of its
/// own.
void CheckLife(const LifePlan& plan, LifeModel model, bool dies, LifeProgress* progress);

}  // namespace tandem::reliability

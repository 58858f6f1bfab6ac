// What one thread does to a database that others use too.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/generator/dice.h"
#include "tools/stress/lists.h"
#include "tools/stress/shelves.h"
#include "tools/stress/stressed.h"
#include "tools/stress/transfers.h"

namespace tandem::stress {

/// Threads: one.
class Worker {
 public:
  Worker(const Stressed& stressed, uint32_t thread, uint64_t seed)
      : stressed_(stressed), workload_(*stressed.workload), thread_(thread), dice_(seed) {}
  ~Worker() {
    held_.reset();
    stressed_.End();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// One random operation. Errors: a Mismatch, or that of the database.
  Status Step();

 private:
  struct Held {
    Snapshot snapshot;
    Bounds bounds;
    StockBounds stock;
  };

  Status Write();
  Status WriteLoose();
  Status Increment();
  Status Echoes();
  Status MoveMoney();
  Status Append();
  Durability Level();
  Status Get(bool own);
  Status Scan();
  Status Mirrors();
  Status Markers();
  Status Query();
  Status CompareIndexed(const Snapshot& snapshot, const Predicate& predicate);
  Status CompareOrder(const Snapshot& snapshot, const Predicate& predicate);
  Status CompareCounts(const Snapshot& snapshot, const Predicate& predicate, uint64_t rows);
  Status Stock();
  Status Keep();
  Status Hold();
  Status Past();
  Status Care();
  Status Split(const std::string& table);
  Status MergeRegions(const std::string& table);
  Status ChangeIndex(const std::string& table);
  Status AlterFamily(const std::string& table);
  Status ChangeFamily(const std::string& table);
  std::string_view TableOf(uint32_t slot);

  const Stressed stressed_;
  const Workload& workload_;
  const uint32_t thread_;
  test::Dice dice_;
  std::optional<Held> held_;
  std::array<uint64_t, kCounters> sums_ = {};  // What the last increment of each returned.
  LastMoves moves_ = {};
  LastLengths lengths_ = {};
};

}  // namespace tandem::stress

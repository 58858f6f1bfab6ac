// A database under stress with what is expected of it: what worker threads and checks share.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/database.h"
#include "tools/simulation/model.h"
#include "tools/simulation/watchdog.h"
#include "tools/stress/expected.h"
#include "tools/stress/operation_log.h"
#include "tools/stress/workload.h"

namespace tandem::stress {

/// Not owned. A copy is for the use of one thread.
struct Stressed {
  Database* database = nullptr;
  const Workload* workload = nullptr;
  Expected* expected = nullptr;
  OperationLog* log = nullptr;
  test::Watchdog* watchdog = nullptr;
  std::string directory = {};  ///< For files outside the database.
  size_t slot = 0;             ///< Of the watchdog; that of the thread.

  /// Says to the watchdog what comes next, a constant text, and that what came before is over.
  void Begin(const char* what) const {
    watchdog->Begin(slot, [what] { return std::string(what); });
  }
  void End() const { watchdog->End(slot); }
};

/// The generations that a row may have: those of each slot when something was read.
struct Bounds {
  std::vector<uint64_t> low, high;  ///< By slot; inclusive.
};

/// A row that a read has found, or has not.
struct Sighting {
  std::string_view what;  ///< Which read, for the finding.
  uint32_t slot = 0;
  std::string_view table;
  const std::optional<test::ModelRow>* row = nullptr;
  test::ModelRead read = {0, 1, {}};
};

/// The generation from `high` down to `low` that the row is of; nullopt: of none.
std::optional<uint64_t> GenerationOf(const Workload& workload, const Sighting& sighting,
                                     uint64_t low, uint64_t high);
/// OK when there is one; otherwise a Mismatch.
Status CheckSighting(const Workload& workload, const Sighting& sighting, uint64_t low,
                     uint64_t high);

/// Every generation that is acknowledged when a read begins, and begun when it ends.
Bounds BeginBounds(const Stressed& stressed);
void EndBounds(const Stressed& stressed, Bounds* bounds);
/// A snapshot with its bounds.
Result<Snapshot> TakeBounded(const Stressed& stressed, Bounds* bounds);

/// The rows of slots first..last of Workload::SlotsOf(table), read by one scan; absent ones count.
/// `bounds` are those of the snapshot. Errors: a Mismatch, or that of the database.
Status CheckScan(const Stressed& stressed, const Snapshot& snapshot, const Bounds& bounds,
                 std::string_view table, size_t first, size_t last);
/// All rows of all tables. Requires: nobody writes.
Status CheckEverything(const Stressed& stressed);
/// Every version of every row of north from `start` on, `limit` rows, equals that of south.
Status CheckMirrors(const Stressed& stressed, const Snapshot& snapshot, const std::string& start,
                    uint64_t limit);
/// verify --deep has no finding.
Status CheckDeep(const Stressed& stressed);

/// Writes the next generation of slots of `thread`, as expected.h prescribes. Requires: at most
/// kTouchedMax slots, all of them loose exactly when the level is kMemory.
enum class Way : uint8_t {
  kBlind,
  kChecked,  ///< If the first row has the generation that it should have; not for loose ones.
};
Status WriteSlots(const Stressed& stressed, uint32_t thread, const std::vector<uint32_t>& slots,
                  Durability durability, Way way = Way::kBlind);
/// As WriteSlots, of one slot that has `found` and gets `generation`.
Status WriteGeneration(const Stressed& stressed, const Touched& touched, Durability durability);

/// After the end of a process: finds for every thread how many of its batches survived, for every
/// loose row which generation, and goes on from there. Rows that lost something begin anew.
/// Errors: a Mismatch where something is lost that must not be, or half there.
Status Recover(const Stressed& stressed);

}  // namespace tandem::stress

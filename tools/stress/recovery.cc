// What a process that was killed left, compared with the expected state.
//
// 1. Of each thread, the batches from `kept` to `begun` may be there or not, but only the first of
//    them up to some number: for each such number the rows that they touch must all have the
//    generation that they had then. The largest number that fits is taken.
// 2. Over all threads, and over counters, accounts and lists as well (the log has no hole): where
//    an operation is there, every one that was acknowledged before it began is there (survival.h).
// 3. Every other logged row has exactly its generation.
// 4. A loose row has any generation from the one that was flushed to the one that was begun.
// 5. A counter has a number from the one that was kept to the one that was begun.
// 6. So it is with the transfers of an account; all balances have the sum that they always have.
// 7. A list begins with what was kept of it, every token is where a call has returned it, and those
//    of each thread are there without a hole.
// 8. A shelf has one generation, from the one that was kept to the one that was begun, or it is
//    empty where a truncation that had begun may have come after that. So a bulk load is there with
//    all of its rows or with none (shelves.h).
// 9. Snapshots with names, and tables that are copied as files, hold what they held, or what they
//    were to hold when the process ended.
// 10. A row that lost generations gets a new one that owes nothing to them, so that they are never
//    written again, and could be distinguished from what comes.
#include <algorithm>
#include <limits>
#include <map>

#include "base/status_macros.h"
#include "tools/stress/claims.h"
#include "tools/stress/copies.h"
#include "tools/stress/finding.h"
#include "tools/stress/lists.h"
#include "tools/stress/passing.h"
#include "tools/stress/saved.h"
#include "tools/stress/schema.h"
#include "tools/stress/stock.h"
#include "tools/stress/stressed.h"
#include "tools/stress/sums.h"
#include "tools/stress/survival.h"
#include "tools/stress/transfers.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelRow;
using tools::Format;

constexpr uint32_t kAllVersions = std::numeric_limits<uint32_t>::max();

class Recovery {
 public:
  explicit Recovery(const Stressed& stressed)
      : stressed_(stressed),
        workload_(*stressed.workload),
        expected_(*stressed.expected),
        survived_(workload_.thread_count()) {}

  Status Run();

 private:
  struct Survived {
    uint64_t least = 0, most = 0;  // Batches; both account for what is there.
  };

  Status RecoverThread(uint32_t thread);
  Status Fits(uint32_t thread, uint64_t batches) const;
  std::map<uint32_t, uint64_t> GenerationsAt(uint32_t thread, uint64_t batches) const;
  void NoteBatches();
  Status TakeOver(uint32_t thread);
  Status RecoverLoose();
  Status BeginAnew();
  Result<std::optional<ModelRow>> Read(std::string_view table, uint32_t slot) const;

  const Stressed& stressed_;
  const Workload& workload_;
  Expected& expected_;
  std::vector<Survived> survived_;
  Survival survival_;
  std::vector<Touched> lost_;  // Slots with what they have, and what they had begun.
};

Status Recovery::Run() {
  for (uint32_t thread = 0; thread < workload_.thread_count(); ++thread) {
    RETURN_IF_ERROR(RecoverThread(thread));
  }
  NoteBatches();
  for (uint32_t thread = 0; thread < workload_.thread_count(); ++thread) {
    RETURN_IF_ERROR(TakeOver(thread));
  }
  RETURN_IF_ERROR(RecoverLoose());
  RETURN_IF_ERROR(RecoverSums(stressed_, &survival_));
  RETURN_IF_ERROR(RecoverAccounts(stressed_, &survival_));
  RETURN_IF_ERROR(RecoverLists(stressed_, &survival_));
  RETURN_IF_ERROR(survival_.Check());
  RETURN_IF_ERROR(RecoverPassing(stressed_));
  RETURN_IF_ERROR(RecoverClaims(stressed_));
  RETURN_IF_ERROR(RecoverStock(stressed_));
  RETURN_IF_ERROR(RecoverSaved(stressed_));
  RETURN_IF_ERROR(RecoverCopies(stressed_));
  RETURN_IF_ERROR(CheckEverything(stressed_));
  expected_.Add(Count::kRecoveries);
  return BeginAnew();
}

Result<std::optional<ModelRow>> Recovery::Read(std::string_view table, uint32_t slot) const {
  ReadOptions read;
  read.versions = kAllVersions;
  stressed_.Begin("get after recovery");
  const auto row = stressed_.database->Get(read, table, workload_.key(slot));
  if (!row.has_value()) return In(Format("{}: get after recovery", table), row.error());
  std::optional<ModelRow> found;
  if (row->has_value()) found.emplace((*row)->view());
  return found;
}

/// The generations of all rows that batches since the last kept one touch, where so many batches
/// survived.
std::map<uint32_t, uint64_t> Recovery::GenerationsAt(uint32_t thread, uint64_t batches) const {
  const ThreadState& state = expected_.thread(thread);
  std::map<uint32_t, uint64_t> generations;
  for (uint64_t number = state.kept; number < state.begun; ++number) {
    const Entry& entry = state.entries[number % kEntries];
    for (uint64_t i = 0; i < entry.touched_count; ++i) {
      const Touched& touched = entry.touched[i];
      generations.emplace(touched.slot, touched.previous);
      if (number < batches) generations[touched.slot] = touched.generation;
    }
  }
  return generations;
}

Status Recovery::Fits(uint32_t thread, uint64_t batches) const {
  for (const auto& [slot, generation] : GenerationsAt(thread, batches)) {
    for (const char* const table : {kNorth, kSouth}) {
      ASSIGN_OR_RETURN(const std::optional<ModelRow> row, Read(table, slot));
      const std::string where = Format(
          "after recovery, of thread {} batches 1 to {} have to be there and {} were begun; with "
          "{} of them",
          thread, expected_.thread(thread).kept.load(), expected_.thread(thread).begun.load(),
          batches);
      RETURN_IF_ERROR(CheckSighting(workload_, {where, slot, table, &row, {0, kAllVersions, {}}},
                                    generation, generation));
    }
  }
  return {};
}

Status Recovery::RecoverThread(uint32_t thread) {
  const ThreadState& state = expected_.thread(thread);
  Status nearest;
  std::optional<uint64_t> most;
  for (uint64_t batches = state.begun + 1; batches > state.kept; --batches) {
    const Status status = Fits(thread, batches - 1);
    if (status.ok()) {
      survived_[thread].least = batches - 1;
      if (!most.has_value()) most = batches - 1;
    } else if (!IsMismatch(status)) {
      return status;
    } else {
      nearest = status;  // In the end that of the fewest batches: those that have to be there.
    }
  }
  survived_[thread].most = most.value_or(0);
  return most.has_value() ? Status() : nearest;
}

void Recovery::NoteBatches() {
  for (uint32_t thread = 0; thread < workload_.thread_count(); ++thread) {
    const ThreadState& state = expected_.thread(thread);
    const auto what = [&](uint64_t number) {
      return Format("batch {} of thread {}", number + 1, thread);
    };
    const uint64_t there = survived_[thread].least;
    if (there != 0 && there + kEntries > state.begun) {
      survival_.Survived(state.entries[(there - 1) % kEntries].begin_stamp, what(there - 1));
    }
    for (uint64_t number = survived_[thread].most; number < state.begun; ++number) {
      const uint64_t acked = state.entries[number % kEntries].ack_stamp;
      if (acked != 0) survival_.Lost(acked, what(number));
    }
  }
}

Status Recovery::TakeOver(uint32_t thread) {
  ThreadState& state = expected_.thread(thread);
  const uint64_t most = survived_[thread].most;
  for (const auto& [slot, generation] : GenerationsAt(thread, most)) {
    SlotState& about = expected_.slot(slot);
    uint64_t begun = about.begun;
    for (uint64_t number = most; number < state.begun; ++number) {
      const Entry& entry = state.entries[number % kEntries];
      for (uint64_t i = 0; i < entry.touched_count; ++i) {
        if (entry.touched[i].slot == slot) begun = std::max(begun, entry.touched[i].generation);
      }
    }
    if (begun != generation) lost_.push_back({slot, generation, begun});
    about.acked = generation;
    about.begun = generation;
  }
  expected_.Add(Count::kLost, state.begun - most);
  state.kept = state.begun.load();
  return {};
}

Status Recovery::RecoverLoose() {
  for (const uint32_t slot : workload_.SlotsOf(kLoose)) {
    SlotState& about = expected_.slot(slot);
    ASSIGN_OR_RETURN(const std::optional<ModelRow> row, Read(kLoose, slot));
    const Sighting sighting{"after recovery", slot, kLoose, &row, {0, kAllVersions, {}}};
    const auto found = GenerationOf(workload_, sighting, about.kept, about.begun);
    if (!found.has_value()) return CheckSighting(workload_, sighting, about.kept, about.begun);
    if (*found != about.begun) lost_.push_back({slot, *found, about.begun});
    about.acked = *found;
    about.begun = *found;
    about.kept = *found;
  }
  return {};
}

Status Recovery::BeginAnew() {
  for (const Touched& lost : lost_) {
    const bool loose = workload_.is_loose(lost.slot);
    if (workload_.is_marker(lost.slot)) continue;  // A generation begins with a deletion.
    RETURN_IF_ERROR(
        WriteGeneration(stressed_, {lost.slot, lost.previous, Workload::NextReset(lost.generation)},
                        loose ? Durability::kMemory : Durability::kWritten));
  }
  return {};
}

}  // namespace

Status Recover(const Stressed& stressed) { return Recovery(stressed).Run(); }

}  // namespace tandem::stress

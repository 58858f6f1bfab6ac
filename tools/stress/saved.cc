// See saved.h.
#include "tools/stress/saved.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "tools/generator/dice.h"
#include "tools/stress/contents.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/stress/shelves.h"
#include "tools/stress/stock.h"
#include "tools/stress/transfers.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::Dice;
using tools::Format;

constexpr uint64_t kSavedRowsMax = 100;

std::string NameOf(uint32_t thread) { return Format("saved-{}", thread); }

/// All tables that stay, as one number.
Result<uint64_t> ContentOfSaved(const Stressed& stressed, const Snapshot& snapshot) {
  uint64_t content = 0;
  for (const char* const table : {kNorth, kSouth, kLoose, kSums, kBank, kClaims, kStock}) {
    const auto part = ContentOf(stressed, table, &snapshot);
    if (!part.has_value()) return In(Format("{}: scan at a named snapshot", table), part.error());
    content = test::Mix(content, *part);
  }
  return content;
}

/// What is true of every snapshot.
Status CheckPart(const Stressed& stressed, const Snapshot& snapshot, Dice* dice) {
  RETURN_IF_ERROR(CheckMirrors(stressed, snapshot, dice->Pick(stressed.workload->keys()),
                               1 + dice->Below(kSavedRowsMax)));
  return CheckBalances(stressed, &snapshot);
}

/// A snapshot that was just created shows what was acknowledged before.
Status CheckNew(const Stressed& stressed, const Snapshot& snapshot, const Bounds& bounds,
                const StockBounds& stock) {
  for (const char* const table : {kNorth, kLoose}) {
    const size_t count = stressed.workload->SlotsOf(table).size();
    RETURN_IF_ERROR(CheckScan(stressed, snapshot, bounds, table, 0, count - 1));
  }
  return CheckStockAt(stressed, snapshot, stock, 0);
}

Result<Snapshot> OpenSaved(const Stressed& stressed, uint32_t thread) {
  stressed.Begin("open of a named snapshot");
  auto snapshot = stressed.database->OpenSnapshot(NameOf(thread));
  if (!snapshot.has_value()) return In("open of snapshot " + NameOf(thread), snapshot.error());
  return snapshot;
}

Status Create(const Stressed& stressed, uint32_t thread, Dice* dice) {
  ContentState& state = stressed.expected->header().saved[thread];
  StockBounds stock = BeginStockBounds(stressed.expected);
  Bounds bounds = BeginBounds(stressed);
  stressed.Begin("creation of a named snapshot");
  RETURN_IF_ERROR(ChangeContent(&state, kUnread, [&] {
    return In("creation of snapshot " + NameOf(thread),
              stressed.database->CreateSnapshot(NameOf(thread)));
  }));
  EndBounds(stressed, &bounds);
  EndStockBounds(stressed.expected, &stock);
  stressed.expected->Add(Count::kNamedSnapshots);
  ASSIGN_OR_RETURN(const Snapshot snapshot, OpenSaved(stressed, thread));
  RETURN_IF_ERROR(CheckNew(stressed, snapshot, bounds, stock));
  RETURN_IF_ERROR(CheckPart(stressed, snapshot, dice));
  ASSIGN_OR_RETURN(state.now, ContentOfSaved(stressed, snapshot));
  state.next = state.now.load();
  return {};
}

Status Compare(const Stressed& stressed, uint32_t thread) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, OpenSaved(stressed, thread));
  ASSIGN_OR_RETURN(const uint64_t content, ContentOfSaved(stressed, snapshot));
  const uint64_t expected = stressed.expected->header().saved[thread].now;
  if (content == expected) return {};
  return Mismatch("snapshot " + NameOf(thread) + " shows something else than before",
                  Format("content {:016x}", expected), Format("content {:016x}", content));
}

}  // namespace

Status ChangeSaved(const Stressed& stressed, uint32_t thread, uint64_t seed) {
  Dice dice(seed);
  ContentState& state = stressed.expected->header().saved[thread];
  stressed.Begin("change of a named snapshot");
  stressed.log->Add(Format("{} change {}", thread, NameOf(thread)));
  if (state.now == kNothing) return Create(stressed, thread, &dice);
  if (dice.Chance(50)) return Compare(stressed, thread);
  stressed.Begin("drop of a named snapshot");
  return ChangeContent(&state, kNothing, [&] {
    return In("drop of snapshot " + NameOf(thread),
              stressed.database->DropSnapshot(NameOf(thread)));
  });
}

Status ReadSaved(const Stressed& stressed, uint64_t seed) {
  Dice dice(seed);
  const auto snapshot = OpenSaved(stressed, static_cast<uint32_t>(dice.Below(kSavedSnapshots)));
  if (snapshot.status().code() == StatusCode::kNotFound) return {};
  if (!snapshot.has_value()) return snapshot.error();
  return CheckPart(stressed, *snapshot, &dice);
}

Status RecoverSaved(const Stressed& stressed) {
  stressed.Begin("list of named snapshots");
  const auto listed = stressed.database->ListSnapshots();
  if (!listed.has_value()) return In("list of named snapshots", listed.error());
  size_t known = 0;
  for (uint32_t thread = 0; thread < kSavedSnapshots; ++thread) {
    uint64_t content = kNothing;
    if (std::ranges::count(*listed, NameOf(thread), &NamedSnapshotInfo::name) > 0) {
      ++known;
      ASSIGN_OR_RETURN(const Snapshot snapshot, OpenSaved(stressed, thread));
      ASSIGN_OR_RETURN(content, ContentOfSaved(stressed, snapshot));
    }
    RETURN_IF_ERROR(RecoverContent("snapshot " + NameOf(thread), content,
                                   &stressed.expected->header().saved[thread]));
  }
  if (known == listed->size()) return {};
  return Mismatch("after recovery: named snapshots", std::to_string(known),
                  std::to_string(listed->size()));
}

}  // namespace tandem::stress

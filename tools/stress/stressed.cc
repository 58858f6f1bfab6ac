// See stressed.h; recovery.cc has Recover.
#include "tools/stress/stressed.h"

#include <algorithm>
#include <limits>

#include "base/status_macros.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelRow;
using tools::Format;

constexpr uint32_t kAllVersions = std::numeric_limits<uint32_t>::max();

constexpr std::string_view kLevelNames[] = {"memory", "buffered", "written", "synced"};

Status StatusOf(const Status& status) { return status; }
Status StatusOf(const Result<bool>& result) { return result.status(); }

/// What `write` returns when nobody has set the observers of a table beside it.
template <typename Write>
auto TryAgain(const Write& write) {
  auto result = write();
  while (StatusOf(result).code() == StatusCode::kConflict) result = write();
  return result;
}

/// That a row of north has a generation.
Predicate HasGeneration(const Workload& workload, uint32_t slot, uint64_t generation) {
  const auto row = workload.StateAt(slot, generation, kNorth, {0, 1, {}});
  if (row.has_value()) {
    const auto cell = std::ranges::find(row->cells, "gen", &test::ModelCell::qualifier);
    if (cell != row->cells.end()) return Predicate::Equal("d:gen", cell->value);
  }
  return Predicate::IsNull("d:gen");
}

/// Writes the batch if the row has its generation; and shows that it is not written if the row has
/// another.
Status WriteChecked(const Stressed& stressed, const Touched& row, const WriteOptions& options,
                    const WriteBatch& batch) {
  const std::string& key = stressed.workload->key(row.slot);
  const std::pair<Predicate, bool> checks[] = {
      {Predicate::Equal("d:gen", "-1"), false},
      {HasGeneration(*stressed.workload, row.slot, row.previous), true}};
  for (const auto& [condition, holds] : checks) {
    stressed.Begin("write with a condition");
    const auto applied = TryAgain(
        [&] { return stressed.database->CheckAndMutate(options, kNorth, key, condition, batch); });
    if (!applied.has_value()) return applied.error();
    if (*applied == holds) continue;
    return Mismatch(Format("north: {} of row {}", condition.ToString(), test::Shown(key)),
                    holds ? "it holds" : "it does not hold", *applied ? "applied" : "not applied");
  }
  stressed.expected->Add(Count::kChecked);
  return {};
}

/// Writes the next generations of slots that were entered.
Status WriteEntered(const Stressed& stressed, const std::vector<Touched>& touched,
                    Durability durability, Way way) {
  WriteBatch batch;
  std::string line = Format("{} write {}", stressed.workload->OwnerOf(touched[0].slot),
                            kLevelNames[static_cast<size_t>(durability)]);
  for (const Touched& one : touched) {
    stressed.expected->slot(one.slot).begun = one.generation;
    stressed.workload->AddTo(one.slot, one.generation, &batch);
    line += Format(" {}:{}", one.slot, one.generation);
  }
  stressed.Begin("write");
  stressed.log->Add(line);
  WriteOptions options;
  options.durability = durability;
  const Status status = way == Way::kChecked
                            ? WriteChecked(stressed, touched[0], options, batch)
                            : TryAgain([&] { return stressed.database->Write(options, batch); });
  if (!status.ok()) return In(line, status);
  stressed.expected->Add(Count::kWrites);
  return {};
}

Status WriteTouched(const Stressed& stressed, uint32_t thread, const std::vector<Touched>& touched,
                    Durability durability, Way way) {
  Expected& expected = *stressed.expected;
  ThreadState& state = expected.thread(thread);
  const uint64_t number = state.begun;
  Entry& entry = state.entries[number % kEntries];
  const bool logged = durability != Durability::kMemory;
  if (logged) {
    entry.begin_stamp = expected.NextStamp();
    entry.ack_stamp = 0;
    entry.touched_count = touched.size();
    std::ranges::copy(touched, entry.touched);
    state.begun = number + 1;
  }
  RETURN_IF_ERROR(WriteEntered(stressed, touched, durability, way));
  if (logged) entry.ack_stamp = expected.NextStamp();
  for (const Touched& one : touched) expected.slot(one.slot).acked = one.generation;
  if (durability >= Durability::kWritten) state.kept = number + 1;
  return {};
}

}  // namespace

std::optional<uint64_t> GenerationOf(const Workload& workload, const Sighting& sighting,
                                     uint64_t low, uint64_t high) {
  for (uint64_t generation = high;; --generation) {
    if (workload.StateAt(sighting.slot, generation, sighting.table, sighting.read) ==
        *sighting.row) {
      return generation;
    }
    if (generation == low) return std::nullopt;
  }
}

Status CheckSighting(const Workload& workload, const Sighting& sighting, uint64_t low,
                     uint64_t high) {
  if (GenerationOf(workload, sighting, low, high).has_value()) return {};
  std::string expected =
      Describe(workload.StateAt(sighting.slot, high, sighting.table, sighting.read));
  if (low != high) {
    expected += Format("\n            or one of the {} generations before, from {} to {}",
                       high - low, low, high);
  }
  return Mismatch(Format("{}: {}: row {}, slot {} of thread {}, generation {}", sighting.table,
                         sighting.what, test::Shown(workload.key(sighting.slot)), sighting.slot,
                         workload.OwnerOf(sighting.slot), high),
                  expected, Describe(*sighting.row));
}

Bounds BeginBounds(const Stressed& stressed) {
  Bounds bounds;
  bounds.low.resize(stressed.workload->slot_count());
  for (uint32_t i = 0; i < bounds.low.size(); ++i) bounds.low[i] = stressed.expected->slot(i).acked;
  return bounds;
}

void EndBounds(const Stressed& stressed, Bounds* bounds) {
  bounds->high.resize(bounds->low.size());
  for (uint32_t i = 0; i < bounds->high.size(); ++i) {
    bounds->high[i] = stressed.expected->slot(i).begun;
  }
}

Result<Snapshot> TakeBounded(const Stressed& stressed, Bounds* bounds) {
  *bounds = BeginBounds(stressed);
  stressed.Begin("snapshot");
  auto snapshot = stressed.database->TakeSnapshot();
  if (!snapshot.has_value()) return In("snapshot", snapshot.error());
  EndBounds(stressed, bounds);
  stressed.expected->Add(Count::kSnapshots);
  return snapshot;
}

Status CheckScan(const Stressed& stressed, const Snapshot& snapshot, const Bounds& bounds,
                 std::string_view table, size_t first, size_t last) {
  const Workload& workload = *stressed.workload;
  const std::vector<uint32_t>& slots = workload.SlotsOf(table);
  ReadOptions read;
  read.snapshot = &snapshot;
  read.versions = kAllVersions;
  ScanOptions scan;
  scan.start = workload.key(slots[first]);
  scan.end = last + 1 < slots.size() ? workload.key(slots[last + 1]) : "";
  const std::string where =
      Format("scan from {} to {} at a snapshot", test::Shown(scan.start), test::Shown(scan.end));
  stressed.Begin("scan");
  auto rows = ReadAll(stressed.database->Scan(read, table, scan));
  if (!rows.has_value()) return In(Format("{}: {}", table, where), rows.error());
  stressed.expected->Add(Count::kScans);
  stressed.expected->Add(Count::kRowsChecked, last - first + 1);
  auto row = rows->begin();
  for (size_t at = first; at <= last; ++at) {
    const uint32_t slot = slots[at];
    std::optional<ModelRow> found;
    if (row != rows->end() && row->key < workload.key(slot)) break;
    if (row != rows->end() && row->key == workload.key(slot)) found = std::move(*row++);
    RETURN_IF_ERROR(CheckSighting(workload, {where, slot, table, &found, {0, kAllVersions, {}}},
                                  bounds.low[slot], bounds.high[slot]));
  }
  if (row == rows->end()) return {};
  return Mismatch(Format("{}: {}", table, where),
                  "only rows that somebody wrote, in the order of their keys", Describe(*row));
}

Status CheckEverything(const Stressed& stressed) {
  Bounds bounds;
  ASSIGN_OR_RETURN(const Snapshot snapshot, TakeBounded(stressed, &bounds));
  for (const char* const table : {kNorth, kSouth, kLoose}) {
    const size_t count = stressed.workload->SlotsOf(table).size();
    RETURN_IF_ERROR(CheckScan(stressed, snapshot, bounds, table, 0, count - 1));
  }
  return CheckMirrors(stressed, snapshot, "", 0);
}

Status CheckMirrors(const Stressed& stressed, const Snapshot& snapshot, const std::string& start,
                    uint64_t limit) {
  ReadOptions read;
  read.snapshot = &snapshot;
  read.versions = kAllVersions;
  ScanOptions scan;
  scan.start = start;
  scan.limit = limit;
  stressed.Begin("scan of north beside its mirror");
  const auto north = ReadAll(stressed.database->Scan(read, kNorth, scan));
  if (!north.has_value()) return In("north: scan beside its mirror", north.error());
  stressed.Begin("scan of south beside its mirror");
  const auto south = ReadAll(stressed.database->Scan(read, kSouth, scan));
  if (!south.has_value()) return In("south: scan beside its mirror", south.error());
  stressed.expected->Add(Count::kMirrored);
  return SameRows("south is no mirror of north at a snapshot", *north, *south);
}

Status CheckDeep(const Stressed& stressed) {
  stressed.Begin("verify --deep");
  const auto report = stressed.database->Verify(true);
  if (!report.has_value()) return In("verify", report.error());
  stressed.expected->Add(Count::kVerifications);
  if (report->findings.empty()) return {};
  return Mismatch(
      "verify --deep", "no finding",
      Format("{} findings, first: {}", report->findings.size(), report->findings[0].text));
}

Status WriteSlots(const Stressed& stressed, uint32_t thread, const std::vector<uint32_t>& slots,
                  Durability durability, Way way) {
  std::vector<Touched> touched;
  for (const uint32_t slot : slots) {
    const uint64_t now = stressed.expected->slot(slot).acked;
    touched.push_back({slot, now, now + 1});
  }
  return WriteTouched(stressed, thread, touched, durability, way);
}

Status WriteGeneration(const Stressed& stressed, const Touched& touched, Durability durability) {
  return WriteTouched(stressed, stressed.workload->OwnerOf(touched.slot), {touched}, durability,
                      Way::kBlind);
}

}  // namespace tandem::stress

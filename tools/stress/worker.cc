// See worker.h.
#include "tools/stress/worker.h"

#include <algorithm>

#include "base/status_macros.h"
#include "tools/stress/claims.h"
#include "tools/stress/comparison.h"
#include "tools/stress/copies.h"
#include "tools/stress/echoes.h"
#include "tools/stress/finding.h"
#include "tools/stress/ids.h"
#include "tools/stress/loads.h"
#include "tools/stress/passing.h"
#include "tools/stress/saved.h"
#include "tools/stress/schema.h"
#include "tools/stress/stock.h"
#include "tools/stress/sums.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelRead;
using test::ModelRow;
using tools::Format;

constexpr uint64_t kScanRowsMax = 60;
/// Batches that may be lost at the end of the process; entries of the expected state hold more.
constexpr uint64_t kUnkeptMax = 40;

}  // namespace

Status Worker::Step() {
  const uint64_t choice = dice_.Below(1000);
  if (choice < 310) return Write();
  if (choice < 330) return ChangeClaims(stressed_, thread_, dice_.Next());
  if (choice < 335) return CheckOneName(stressed_, dice_.Next());
  if (choice < 350) return Append();
  if (choice < 375) return Stock();
  if (choice < 400) return Increment();
  if (choice < 405) return TakeIds(stressed_, dice_.Next());
  if (choice < 430) return MoveMoney();
  if (choice < 470) return WriteLoose();
  if (choice < 590) return Get(true);
  if (choice < 700) return Get(false);
  if (choice < 760) return Scan();
  if (choice < 800) return Mirrors();
  if (choice < 830) return Markers();
  if (choice < 838) return CheckBalances(stressed_);
  if (choice < 841) return Echoes();
  if (choice < 843) return ChangeObservers(stressed_, dice_.Chance(60));
  if (choice < 900) return Query();
  if (choice < 950) return Hold();
  if (choice < 991) return Past();
  if (choice < 995) return Keep();
  return Care();
}

Durability Worker::Level() {
  const uint64_t level = dice_.Below(50);
  return level == 0   ? Durability::kSynced
         : level < 15 ? Durability::kBuffered
                      : Durability::kWritten;
}

Status Worker::Increment() {
  const auto counter = static_cast<uint32_t>(dice_.Below(kCounters));
  const Durability durability = Level();
  using Way = SumIncrement::Way;
  const Way way =
      dice_.Pick(std::vector{Way::kIncrement, Way::kIncrement, Way::kTransaction, Way::kCheck});
  return IncrementSum(stressed_, {.counter = counter, .durability = durability, .way = way},
                      &sums_[counter]);
}

Status Worker::Echoes() {
  stressed_.Begin("snapshot");
  const auto snapshot = stressed_.database->TakeSnapshot();
  if (!snapshot.has_value()) return In("snapshot", snapshot.error());
  return CheckEchoes(stressed_, &*snapshot);
}

Status Worker::MoveMoney() {
  constexpr uint64_t kAmounts = 50;
  Transfer transfer;
  transfer.from = static_cast<uint32_t>(dice_.Below(kAccounts));
  transfer.to = (transfer.from + 1 + static_cast<uint32_t>(dice_.Below(kAccounts - 1))) % kAccounts;
  transfer.amount = static_cast<int64_t>(dice_.Below(kAmounts));
  transfer.durability = Level();
  transfer.by_increments = dice_.Chance(50);
  return stress::MoveMoney(stressed_, transfer, &moves_);
}

Status Worker::Append() {
  const auto list = static_cast<uint32_t>(dice_.Below(kLists));
  if (dice_.Chance(30)) return ReadList(stressed_, list);
  return AppendToList(
      stressed_,
      {.list = list, .thread = thread_, .durability = Level(), .in_transaction = dice_.Chance(30)},
      &lengths_);
}

/// What outlives the process beside the tables: named snapshots, and tables as files.
Status Worker::Keep() {
  const uint64_t seed = dice_.Next();
  if (thread_ < kCopies && dice_.Chance(30)) return CopyNorth(stressed_, thread_, seed);
  if (thread_ < kSavedSnapshots && dice_.Chance(60)) return ChangeSaved(stressed_, thread_, seed);
  return ReadSaved(stressed_, seed);
}

/// The shelf of the thread changes, all are read, and now and then all are emptied.
Status Worker::Stock() {
  const uint64_t choice = dice_.Below(100);
  if (choice < 2) return TruncateStock(stressed_);
  if (choice < 40) return WriteShelf(stressed_, thread_, Level());
  if (choice < 60) {
    return LoadShelf(stressed_, {.thread = thread_,
                                 .seed = dice_.Next(),
                                 .any_order = dice_.Chance(50),
                                 .is_abandoned = dice_.Chance(10),
                                 .writes_meanwhile = dice_.Chance(25)});
  }
  if (choice < 80) return CheckStock(stressed_);
  StockBounds bounds = BeginStockBounds(stressed_.expected);
  stressed_.Begin("snapshot");
  const auto snapshot = stressed_.database->TakeSnapshot();
  if (!snapshot.has_value()) return In("snapshot", snapshot.error());
  EndStockBounds(stressed_.expected, &bounds);
  const auto thread = static_cast<uint32_t>(dice_.Below(workload_.thread_count()));
  return CheckStockAt(stressed_, *snapshot, bounds, thread);
}

Status Worker::Write() {
  const ThreadState& state = stressed_.expected->thread(thread_);
  Durability durability = Level();
  if (state.begun - state.kept >= kUnkeptMax) durability = Durability::kWritten;
  const Way way = dice_.Chance(20) ? Way::kChecked : Way::kBlind;
  if (dice_.Chance(15)) {
    return WriteSlots(stressed_, thread_, workload_.MarkersOf(thread_), durability, way);
  }
  std::vector<uint32_t> slots;
  for (uint64_t count = dice_.Chance(50) ? 1 : 1 + dice_.Below(5); count > 0; --count) {
    const uint32_t slot = dice_.Pick(workload_.MirroredOf(thread_));
    if (std::ranges::find(slots, slot) == slots.end()) slots.push_back(slot);
  }
  return WriteSlots(stressed_, thread_, slots, durability, way);
}

Status Worker::WriteLoose() {
  const std::vector<uint32_t>& own = workload_.LooseOf(thread_);
  if (!dice_.Chance(4))
    return WriteSlots(stressed_, thread_, {dice_.Pick(own)}, Durability::kMemory);
  stressed_.Begin("flush loose");
  const Status status = stressed_.database->Flush(kLoose);
  if (!status.ok()) return In("flush loose", status);
  stressed_.expected->Add(Count::kFlushes);
  for (const uint32_t slot : own) {
    SlotState& about = stressed_.expected->slot(slot);
    about.kept = about.acked.load();
  }
  return {};
}

std::string_view Worker::TableOf(uint32_t slot) {
  if (workload_.is_loose(slot)) return kLoose;
  return dice_.Chance(50) ? kNorth : kSouth;
}

Status Worker::Get(bool own) {
  const uint32_t slot = own ? dice_.Chance(20) ? dice_.Pick(workload_.LooseOf(thread_))
                                               : dice_.Pick(workload_.MirroredOf(thread_))
                            : static_cast<uint32_t>(dice_.Below(workload_.slot_count()));
  const std::string_view table = TableOf(slot);
  const SlotState& about = stressed_.expected->slot(slot);
  ReadOptions read;
  read.versions = 1 + static_cast<uint32_t>(dice_.Below(4));
  if (dice_.Chance(20)) read.families = {"d"};
  const uint64_t low = about.acked;
  stressed_.Begin(own ? "get by the owner of a row" : "get");
  const auto row = stressed_.database->Get(read, table, workload_.key(slot));
  const uint64_t high = about.begun;
  if (!row.has_value()) return In(Format("{}: get", table), row.error());
  std::optional<ModelRow> found;
  if (row->has_value()) found.emplace((*row)->view());
  stressed_.expected->Add(Count::kGets);
  const ModelRead as_read{0, read.versions, {}, read.families};
  return CheckSighting(workload_, {own ? "get by its owner" : "get", slot, table, &found, as_read},
                       low, high);
}

Status Worker::Scan() {
  Bounds bounds;
  ASSIGN_OR_RETURN(const Snapshot snapshot, TakeBounded(stressed_, &bounds));
  const std::string_view table = dice_.Chance(20) ? kLoose : TableOf(0);
  const size_t count = workload_.SlotsOf(table).size();
  const size_t first = dice_.Below(count);
  const size_t last = std::min<size_t>(count - 1, first + dice_.Below(kScanRowsMax));
  return CheckScan(stressed_, snapshot, bounds, table, first, last);
}

Status Worker::Mirrors() {
  stressed_.Begin("snapshot");
  auto snapshot = stressed_.database->TakeSnapshot();
  if (!snapshot.has_value()) return In("snapshot", snapshot.error());
  return CheckMirrors(stressed_, *snapshot, dice_.Pick(workload_.keys()),
                      1 + dice_.Below(kScanRowsMax));
}

/// The markers of a thread lie in all regions of two tables, and one batch writes them all: no
/// snapshot sees two generations.
Status Worker::Markers() {
  const auto thread = static_cast<uint32_t>(dice_.Below(workload_.thread_count()));
  Bounds bounds;
  ASSIGN_OR_RETURN(const Snapshot snapshot, TakeBounded(stressed_, &bounds));
  ReadOptions read;
  read.snapshot = &snapshot;
  std::optional<uint64_t> first;
  for (const uint32_t slot : workload_.MarkersOf(thread)) {
    for (const char* const table : {kNorth, kSouth}) {
      stressed_.Begin("get of a marker");
      const auto row = stressed_.database->Get(read, table, workload_.key(slot));
      if (!row.has_value()) return In(Format("{}: get a marker", table), row.error());
      std::optional<ModelRow> found;
      if (row->has_value()) found.emplace((*row)->view());
      const Sighting sighting{"marker at a snapshot", slot, table, &found};
      const auto generation =
          GenerationOf(workload_, sighting, bounds.low[slot], bounds.high[slot]);
      if (!generation.has_value()) {
        return CheckSighting(workload_, sighting, bounds.low[slot], bounds.high[slot]);
      }
      if (first.value_or(*generation) != *generation) {
        return Mismatch(Format("{}: markers of thread {}, all written by each of its batches, at "
                               "one snapshot",
                               table, thread),
                        Format("generation {}", *first),
                        Format("{} in slot {}", *generation, slot));
      }
      first = generation;
    }
  }
  return {};
}

Status Worker::Query() {
  stressed_.Begin("snapshot");
  auto snapshot = stressed_.database->TakeSnapshot();
  if (!snapshot.has_value()) return In("snapshot", snapshot.error());
  const Predicate predicate = test::Generator(&dice_, &workload_.tables()[0]).NewPredicate();
  stressed_.expected->Add(Count::kQueries);
  return dice_.Chance(70) ? CompareIndexed(*snapshot, predicate)
                          : CompareOrder(*snapshot, predicate);
}

/// By index and by scan, in a table and in its mirror: the same rows.
Status Worker::CompareIndexed(const Snapshot& snapshot, const Predicate& predicate) {
  ReadOptions read;
  read.snapshot = &snapshot;
  const std::string where = "query " + predicate.ToString() + " at a snapshot";
  Database& database = *stressed_.database;
  stressed_.Begin("query by scan");
  const auto scanned = ReadAll(
      database.Query(read, kNorth, predicate, {.order_by = {}, .use_index = {}, .no_index = true}));
  if (!scanned.has_value()) return In("north: " + where + " by scan", scanned.error());
  for (const char* const table : {kNorth, kSouth}) {
    stressed_.Begin("query by index");
    const auto found = ReadAll(database.Query(read, table, predicate));
    if (!found.has_value()) return In(Format("{}: {}", table, where), found.error());
    RETURN_IF_ERROR(
        SameRows(Format("{}: {}, compared with a scan", table, where), *scanned, *found));
  }
  return CompareCounts(snapshot, predicate, scanned->size());
}

Status Worker::CompareCounts(const Snapshot& snapshot, const Predicate& predicate, uint64_t rows) {
  ReadOptions read;
  read.snapshot = &snapshot;
  const std::string where = "query " + predicate.ToString() + " at a snapshot";
  stressed_.Begin("count");
  const auto count = stressed_.database->Count(read, kNorth, predicate);
  if (!count.has_value()) return In("north: counted " + where, count.error());
  if (*count != rows) {
    return Mismatch("north: counted " + where, std::to_string(rows), std::to_string(*count));
  }
  stressed_.Begin("explain");
  const auto explained = stressed_.database->Explain(read, kSouth, predicate);
  if (!explained.has_value()) return In("south: explained " + where, explained.error());
  if (explained->rows == rows) return {};
  return Mismatch("south: explained " + where, std::to_string(rows),
                  std::to_string(explained->rows));
}

/// In the order of an index: the same rows as by scan, but for those without a value.
Status Worker::CompareOrder(const Snapshot& snapshot, const Predicate& predicate) {
  ReadOptions read;
  read.snapshot = &snapshot;
  QueryOptions ordered, scanned;
  ordered.order_by = "size";
  ordered.descending = dice_.Chance(50);
  scanned.no_index = true;
  const Predicate sized = Predicate::And({predicate, Predicate::IsNotNull("w:size")});
  const std::string where = "south: query " + predicate.ToString() + " by size at a snapshot";
  stressed_.Begin("query in the order of an index");
  auto found = ReadAll(stressed_.database->Query(read, kSouth, predicate, ordered));
  if (!found.has_value()) return In(where, found.error());
  stressed_.Begin("query by scan");
  const auto all = ReadAll(stressed_.database->Query(read, kSouth, sized, scanned));
  if (!all.has_value()) return In(where + ", by scan", all.error());
  const auto size_of = [](const ModelRow& row) {
    const auto cell = std::ranges::find(row.cells, "size", &test::ModelCell::qualifier);
    return cell == row.cells.end() ? 0 : std::stoll(cell->value);
  };
  for (size_t i = 1; i < found->size(); ++i) {
    const int64_t before = size_of((*found)[i - 1]), after = size_of((*found)[i]);
    if (ordered.descending ? before >= after : before <= after) continue;
    return Mismatch(where, Format("after a size of {} none of {}", before, after),
                    Describe((*found)[i]));
  }
  std::ranges::sort(*found, {}, &ModelRow::key);
  return SameRows(where + ", compared with a scan", *all, *found);
}

/// Takes a snapshot and looks at it later, again and again.
Status Worker::Hold() {
  if (!held_.has_value()) {
    Bounds bounds;
    StockBounds stock = BeginStockBounds(stressed_.expected);
    ASSIGN_OR_RETURN(Snapshot snapshot, TakeBounded(stressed_, &bounds));
    EndStockBounds(stressed_.expected, &stock);
    held_.emplace(Held{std::move(snapshot), std::move(bounds), std::move(stock)});
    return {};
  }
  if (dice_.Chance(10)) {
    stressed_.Begin("release of a snapshot");
    held_.reset();
    return {};
  }
  if (dice_.Chance(15)) {
    return CheckStockAt(stressed_, held_->snapshot, held_->stock, thread_);
  }
  const std::string_view table = dice_.Chance(20) ? kLoose : TableOf(0);
  const size_t count = workload_.SlotsOf(table).size();
  const size_t first = dice_.Below(count);
  const size_t last = std::min<size_t>(count - 1, first + dice_.Below(kScanRowsMax));
  return CheckScan(stressed_, held_->snapshot, held_->bounds, table, first, last);
}

/// An own row as of an earlier generation: of the versions that are kept, those of that time.
Status Worker::Past() {
  const uint32_t slot = dice_.Pick(workload_.MirroredOf(thread_));
  const uint64_t now = stressed_.expected->slot(slot).acked;
  const uint64_t then = now - std::min(now, dice_.Below(kGenerationsOfReset));
  const std::string_view table = TableOf(slot);
  ReadOptions read;
  read.versions = 3;
  read.as_of = Workload::TimeOf(then);
  stressed_.Begin("get as of the past");
  const auto row = stressed_.database->Get(read, table, workload_.key(slot));
  if (!row.has_value()) return In(Format("{}: get as of {}", table, *read.as_of), row.error());
  std::optional<ModelRow> found;
  if (row->has_value()) found.emplace((*row)->view());
  stressed_.expected->Add(Count::kPasts);
  const std::string where = Format("get as of {}", *read.as_of);
  return CheckSighting(workload_, {where, slot, table, &found, {0, 3, {}, {}, read.as_of}}, now,
                       now);
}

Status Worker::Split(const std::string& table) {
  constexpr size_t kRegionsUsed = 64;
  const Result<DatabaseInfo> database = stressed_.database->Info();
  if (!database.has_value()) return In("info", database.error());
  for (const TableInfo& info : database->tables) {
    if (info.options.name == table && info.regions.size() >= kRegionsUsed) return {};
  }
  stressed_.Begin("split");
  stressed_.log->Add(Format("{} split {}", thread_, table));
  const Status status = stressed_.database->Split(table).status();
  if (status.code() == StatusCode::kInvalidArgument) return {};  // It has no boundary.
  if (status.ok()) stressed_.expected->Add(Count::kSplits);
  return In("split " + table, status);
}

Status Worker::MergeRegions(const std::string& table) {
  stressed_.Begin("merge regions");
  stressed_.log->Add(Format("{} merge regions of {}", thread_, table));
  const Status status = stressed_.database->MergeRegions(table).status();
  if (status.code() == StatusCode::kInvalidArgument) return {};  // There is one.
  if (status.ok()) stressed_.expected->Add(Count::kRegionMerges);
  return In("merge regions of " + table, status);
}

/// Drops an index or makes it again. The index that orders stays.
Status Worker::ChangeIndex(const std::string& table) {
  const IndexOptions index = dice_.Pick(table == kStock   ? NewStock().indexes
                                        : table == kNorth ? workload_.tables()[0].options.indexes
                                                          : workload_.tables()[1].options.indexes);
  if (index.name == "size") return {};
  const bool drops = dice_.Chance(50);
  stressed_.Begin(drops ? "drop of an index" : "creation of an index");
  stressed_.log->Add(
      Format("{} {} index {} of {}", thread_, drops ? "drop" : "create", index.name, table));
  const Status status = drops ? stressed_.database->DropIndex(table, index.name)
                              : stressed_.database->CreateIndex(table, index);
  // Another thread may have done it before.
  if (status.code() == (drops ? StatusCode::kNotFound : StatusCode::kAlreadyExists)) return {};
  if (status.ok()) stressed_.expected->Add(Count::kIndexChanges);
  return In(Format("{} index {} of {}", drops ? "drop" : "create", index.name, table), status);
}

/// Other limits of a family that nobody writes to. Merges that run beside it begin again, and later
/// ones give the cells of all families another sequence.
Status Worker::AlterFamily(const std::string& table) {
  const auto versions = 1 + static_cast<uint32_t>(dice_.Below(5));
  stressed_.Begin("alteration of a family");
  stressed_.log->Add(Format("{} alter family extra of {} to {}", thread_, table, versions));
  const Status status =
      stressed_.database->AlterFamily(table, {.name = "extra", .max_versions = versions});
  // It may not be there, and limits are changed a number of times until the table is compacted.
  const bool is_refused =
      status.code() == StatusCode::kNotFound || status.code() == StatusCode::kUnsupported;
  if (status.ok()) stressed_.expected->Add(Count::kFamilyChanges);
  return is_refused ? Status() : In("alter family extra of " + table, status);
}

/// Adds a family that nobody writes to, or drops it, beside all that reads and writes the others.
Status Worker::ChangeFamily(const std::string& table) {
  if (dice_.Chance(40)) return AlterFamily(table);
  const bool drops = dice_.Chance(50);
  stressed_.Begin(drops ? "drop of a family" : "addition of a family");
  stressed_.log->Add(Format("{} {} family extra of {}", thread_, drops ? "drop" : "add", table));
  const Status status = drops ? stressed_.database->DropFamily(table, "extra")
                              : stressed_.database->AddFamily(table, {.name = "extra"});
  // Another thread may have done it before, and a table has a number of families in its life.
  if (status.code() == (drops ? StatusCode::kNotFound : StatusCode::kAlreadyExists)) return {};
  if (!drops && status.code() == StatusCode::kInvalidArgument) return {};
  if (status.ok()) stressed_.expected->Add(Count::kFamilyChanges);
  return In(Format("{} family extra of {}", drops ? "drop" : "add", table), status);
}

Status Worker::Care() {
  if (dice_.Chance(30)) {
    const std::string changed = dice_.Chance(20) ? kStock : dice_.Chance(50) ? kNorth : kSouth;
    return dice_.Chance(70) ? ChangeIndex(changed) : ChangeFamily(changed);
  }
  if (dice_.Chance(15)) return PassTable(stressed_, thread_, Level());
  const char* const small =
      dice_.Pick(std::vector{kStock, kStock, kSums, kEcho, kBank, kListsTable, kClaims});
  const std::string table = dice_.Chance(30) ? small : dice_.Chance(50) ? kNorth : kSouth;
  if (dice_.Chance(75)) {
    stressed_.Begin("flush");
    stressed_.log->Add(Format("{} flush {}", thread_, table));
    stressed_.expected->Add(Count::kFlushes);
    return In("flush " + table, stressed_.database->Flush(table));
  }
  if (dice_.Chance(70)) {
    stressed_.Begin("compact");
    stressed_.log->Add(Format("{} compact {}", thread_, table));
    stressed_.expected->Add(Count::kCompactions);
    return In("compact " + table, stressed_.database->Compact(table));
  }
  if (dice_.Chance(50)) return dice_.Chance(60) ? Split(table) : MergeRegions(table);
  stressed_.Begin("verify");
  const auto report = stressed_.database->Verify(false);
  if (!report.has_value()) return In("verify", report.error());
  stressed_.expected->Add(Count::kVerifications);
  if (report->findings.empty()) return {};
  return Mismatch("verify beside writers", "no finding", report->findings[0].text);
}

}  // namespace tandem::stress

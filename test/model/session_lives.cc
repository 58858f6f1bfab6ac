// How a session opens the database, and ends it: closes, kills and power cuts.
#include <algorithm>
#include <limits>
#include <set>

#include "test/model/session.h"
#include "test/model/tables.h"
#include "tools/simulation/same_observer.h"

namespace tandem::test {

void Session::Create() {
  tables_ = NewTables(&dice_, plan_.rows);
  if (plan_.seed % 2 == 0) tables_[1].options.observers = {kSameObserver};
  RequireOk(store_.Open(), "open");
  std::vector<std::string> logged, unlogged;
  for (const TablePlan& plan : tables_) {
    RequireOk(store_.engine().CreateTable(plan.options), "create table " + plan.options.name);
    model_.CreateTable(plan.options);
    (plan.unlogged ? unlogged : logged).push_back(plan.options.name);
  }
  logged_ = std::make_unique<Journal>(logged, model_);
  unlogged_ = std::make_unique<Journal>(unlogged, model_);
  LearnTime();
}

/// One put shows which time the engine uses: it may be ahead of the clock, never behind.
void Session::LearnTime() {
  ModelOperation put{ModelOperation::Kind::kPut,
                     tables_[0].options.name,
                     "a row for the time",
                     "d",
                     {{"note", "7"}},  // It fits an index of any type.
                     std::nullopt};
  WriteBatch batch;
  put.AddTo(&batch);
  RequireOk(store_.engine().Write({}, batch), "write after opening");
  const auto row = store_.engine().Get({}, put.table, put.row);
  RequireOk(row.status(), "read after opening");
  if (!row->has_value()) throw Failure("the row written last is not there");
  const int64_t assigned = (*row)->cells()[0].timestamp;
  if (assigned < now() || assigned <= last_timestamp_) {
    throw Failure("an assigned timestamp went back: " + std::to_string(assigned));
  }
  store_.clock().Advance(std::max<int64_t>(0, assigned - store_.clock().WallMicros()));
  last_timestamp_ = assigned;
  SessionAction acknowledged;
  acknowledged.batch.push_back(put);
  JournalBatch entry;
  entry.operations.push_back(put);
  entry.now_micros = now();
  entry.timestamp = assigned;
  Acknowledge(acknowledged, std::move(entry));
}

void Session::LetGo() {
  cursors_.clear();
  snapshots_.clear();
}

void Session::Reopen() {
  BringClockBack();
  if (!cursors_.empty() || !snapshots_.empty()) {
    const Status busy = store_.Close();
    if (busy.code() != StatusCode::kBusy) {
      throw Failure("closing under open cursors or snapshots: " + busy.ToString());
    }
  }
  LetGo();
  RequireOk(store_.Close(), "close");
  logged_->MarkDurable();
  unlogged_->MarkDurable();
  store_.clock().Advance(static_cast<int64_t>(own_dice_.Below(50'000)));
  if (store_.simulated() != nullptr && own_dice_.Chance(50)) {
    store_.simulated()->Crash({.kept = CrashPolicy::Kept::kNone});  // Nothing is left to lose.
  }
  if (own_dice_.Chance(30)) LiveWithoutFunctions();
  RequireOk(store_.Open(), "reopen");
  const DatabaseInfo info = store_.engine().Info();
  if (info.recovered_operations != 0 || info.torn_bytes != 0) {
    throw Failure("a clean close left " + std::to_string(info.recovered_operations) +
                  " operations to recover and " + std::to_string(info.torn_bytes) + " torn bytes");
  }
  ++counters_.reopens;
  LearnTime();
  for (const TablePlan& plan : tables_) checker_.CheckTable(Now(), plan, 0);
}

// Opens the database with other functions than those that its indexes call, and closes it again.
// Files that are written meanwhile have no sections of these.
void Session::LiveWithoutFunctions() {
  const bool is_version = own_dice_.Chance(50);
  RequireOk(store_.Open(is_version ? ProgramFunctions(2) : format::FunctionRegistry()),
            "open without functions");
  // No write can tell, as after other opens.
  now_micros_ = std::max(now(), store_.engine().Info().time_micros);
  for (const TablePlan& plan : tables_) {
    checker_.CheckWithoutCalls(Now(), plan, is_version);
    if (own_dice_.Chance(30)) {
      RequireOk(store_.engine().Compact(plan.options.name), "compact without functions");
    }
  }
  Verify();
  ++counters_.lives_without_functions;
  RequireOk(store_.Close(), "close without functions");
}

void Session::EndByCrash(const SessionAction& action) {
  if (action.power_off_at != 0) {
    store_.simulated()->control().PowerOffAt(action.power_off_at);
    RunUntilPowerFails(action.until);
  }
  LetGo();
  bool killed = action.kind == SessionAction::Kind::kKill;
  OpenAfterCrash(&killed);
  Recover(killed);
}

/// Goes on as if nothing had happened until something fails.
void Session::RunUntilPowerFails(const std::vector<SessionAction>& actions) {
  using Kind = SessionAction::Kind;
  for (const SessionAction& action : actions) {
    store_.clock().Advance(action.advance_micros);
    if (action.seed != 0) own_dice_ = Dice(action.seed);
    if (action.kind == Kind::kWrite && !Write(action).ok()) return;
    if (action.kind == Kind::kFlush && !Flush(action.table).ok()) return;
    if (action.kind == Kind::kCompact && !store_.engine().Compact(action.table).ok()) return;
    if (action.kind == Kind::kSplit && !Split(action).ok()) return;
    if (action.kind == Kind::kMergeRegions && !MergeRegions(action).ok()) return;
    if (action.kind == Kind::kTruncate && !Empty(action).ok()) return;
    if (action.kind == Kind::kAlterFamily && !AlterFamily(action).ok()) return;
    if (action.kind == Kind::kChangeIndexes && !ChangeIndexes(action).ok()) {
      indexes_in_doubt_ = action.table;
      return;
    }
    if (action.kind == Kind::kDrain) store_.executor().Drain();
  }
}

void Session::OpenAfterCrash(bool* killed) {
  BringClockBack();
  SimulatedDisk& disk = *store_.simulated();
  for (int attempt = 0;; ++attempt) {
    if (*killed) {
      disk.control().PowerOn();
      disk.KillProcess();
      ++counters_.kills;
    } else {
      constexpr auto kRandom = CrashPolicy::Kept::kRandom;
      constexpr CrashPolicy::Kept kKept[] = {
          CrashPolicy::Kept::kNone, CrashPolicy::Kept::kAll, kRandom, kRandom, kRandom, kRandom};
      CrashPolicy policy{.kept = kKept[own_dice_.Below(6)],
                         .seed = own_dice_.Next(),
                         .torn = own_dice_.Chance(70)};
      policy.fills_reserved = policy.seed % 4 == 0;
      disk.Crash(policy);
      ++counters_.power_cuts;
    }
    // Only now: an engine that is let go closes itself, as far as its files still answer.
    store_.Abandon();
    // Ahead of every time and timestamp so far: the first reads come before LearnTime.
    store_.clock().SetWall(std::max(now(), last_timestamp_ + 1) +
                           static_cast<int64_t>(own_dice_.Below(50'000)));
    const bool fails_again = attempt < 3 && own_dice_.Chance(30);
    if (fails_again) disk.control().PowerOffAt(1 + own_dice_.Below(60));
    const Status status = store_.Open();
    disk.control().PowerOn();
    if (status.ok()) return;
    if (!fails_again || status.code() == StatusCode::kCorruption) {
      throw Failure("opening after a crash: " + status.ToString());
    }
    ++counters_.interrupted_recoveries;
    *killed = false;
  }
}

// A change that was under way may show or not.
void Session::TakeIndexes(const DatabaseInfo& info) {
  const auto names = [](const TableOptions& options) {
    std::set<std::string> all;
    for (const IndexOptions& index : options.indexes) all.insert(index.name);
    return all;
  };
  for (TablePlan& plan : tables_) {
    const auto table = std::find_if(
        info.tables.begin(), info.tables.end(),
        [&](const TableInfo& found) { return found.options.name == plan.options.name; });
    if (table == info.tables.end()) throw Failure("table " + plan.options.name + " is gone");
    if (names(table->options) == names(plan.options)) continue;
    if (plan.options.name != indexes_in_doubt_) {
      throw Failure("table " + plan.options.name + " has other indexes after a crash");
    }
    plan.options.indexes = table->options.indexes;
    plan.options.columns = table->options.columns;
  }
  indexes_in_doubt_.clear();
}

// What a family is after a crash, where it was being altered. Rows were compared before: if nobody
// could see the change, the model may not have it.
void Session::TakeFamilies(const DatabaseInfo& info, TablePlan* plan) {
  const std::string& name = plan->options.name;
  for (const TableInfo& table : info.tables) {
    if (table.options.name != name) continue;
    for (const FamilyOptions& found : table.options.families) {
      const std::vector<FamilyOptions>& known = model_.table(name).families;
      const auto same = [&found](const FamilyOptions& family) {
        return family.name == found.name && family.max_versions == found.max_versions &&
               family.ttl_micros == found.ttl_micros;
      };
      if (std::ranges::any_of(known, same)) continue;
      model_.AlterFamily(name, found, now());
      (plan->unlogged ? *unlogged_ : *logged_).TakeFamily(name, found, now());
    }
    plan->options.families = table.options.families;
  }
}

void Session::Recover(bool killed) {
  const DatabaseInfo info = store_.engine().Info();
  TakeIndexes(info);
  counters_.replayed_operations += info.recovered_operations;
  counters_.torn_tails += info.torn_bytes > 0 ? 1 : 0;
  Journal::Recovered recovered;
  recovered.now_micros = now();
  recovered.killed = killed;
  ReadOptions read;
  read.versions = std::numeric_limits<uint32_t>::max();
  for (const TablePlan& plan : tables_) {
    const std::string& table = plan.options.name;
    for (ModelRow& row : ReadAll(store_.engine().Scan(read, table, {}), "scan after a crash")) {
      recovered.content[table].emplace(row.key, row);
    }
    recovered.content[table];
  }
  recovered.last_sequence = info.last_sequence;
  const Model logged = logged_->Recover(recovered);
  recovered.killed = false;
  const Model unlogged = unlogged_->Recover(recovered);
  for (TablePlan& plan : tables_) {
    model_.TakeTable(plan.options.name, plan.unlogged ? unlogged : logged);
    TakeFamilies(info, &plan);
    model_.TakeSchema(plan.options);
  }
  LearnTime();
  CheckEverything();
  Verify();
}

}  // namespace tandem::test

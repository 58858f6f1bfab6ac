// Choosing what to do next; how it is done is in session_actions.cc and session_lives.cc.
#include "test/model/session.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "test/model/paths.h"
#include "tools/generator/tuning.h"

namespace tandem::test {
namespace {

// What rewrites files, or gives them to other regions.
SessionAction::Kind PickReshaping(Dice* dice) {
  using Kind = SessionAction::Kind;
  constexpr Kind kKinds[] = {Kind::kSplit, Kind::kMergeRegions, Kind::kCompact};
  return kKinds[dice->Below(std::size(kKinds))];
}

SessionAction::Kind PickSchemaEdit(Dice* dice) {
  using Kind = SessionAction::Kind;
  constexpr Kind kKinds[] = {Kind::kTruncate, Kind::kDropAndCreate, Kind::kRenameTwice,
                             Kind::kRenewFamily};
  return kKinds[dice->Below(std::size(kKinds))];
}

}  // namespace

Session::Session(const SessionPlan& plan, Counters* counters)
    : plan_(plan),
      counters_(*counters),
      dice_(3 * plan.seed + static_cast<uint64_t>(plan.disk)),
      own_dice_(plan.seed),
      store_({.disk = plan.disk,
              .parent = plan.parent,
              .seed = plan.seed,
              .tuning = RandomTuning(plan.seed)}),
      checker_(&own_dice_, counters) {
  if (plan_.trace != nullptr) plan_.trace->Watch(store_.simulated(), store_.path());
}

Session::~Session() {
  if (plan_.trace != nullptr) plan_.trace->StopWatching();
  LetGo();
}

void Session::Run() {
  Create();
  while (written_ < plan_.operations) {
    ++step_;
    Step();
  }
  Finish();
}

void Session::Replay(const std::vector<SessionAction>& actions) {
  Create();
  for (const SessionAction& action : actions) {
    ++step_;
    Do(action);
  }
  Finish();
}

int64_t Session::now() {
  if (!is_clock_ahead_) now_micros_ = std::max(now_micros_, store_.clock().WallMicros());
  return now_micros_;
}

Moment Session::Now() { return {&store_.engine(), &model_, nullptr, now()}; }

void Session::Step() {
  next_advance_micros_ = static_cast<int64_t>(dice_.Below(60));
  const uint64_t choice = dice_.Below(1000);
  if (choice < 900) return Work();
  if (choice < 945) return Maintain();
  if (choice < 965) return Hold();
  if (choice < 990) return Do({.kind = SessionAction::Kind::kAdvanceCursor});
  if (choice < 993) return WriteBad();
  if (choice < 995) return Do({.kind = SessionAction::Kind::kSetClock});
  if (written_ * 2 <= plan_.rows || !dice_.Chance(20)) return;
  if (store_.simulated() == nullptr || dice_.Chance(30)) {
    return Do({.kind = SessionAction::Kind::kReopen});
  }
  // Crashes come in storms: what a recovery left is put to the test before anything else made it
  // durable.
  Crash();
  while (dice_.Chance(35)) Crash();
}

void Session::Work() {
  using Kind = SessionAction::Kind;
  const SessionAction batch = NewBatch();
  // A logged batch among others that are not: what it rests on is lost soonest by a crash at once.
  const bool is_risky = IsUnlogged(batch) && batch.durability != Durability::kMemory;
  Do(batch);
  if (is_risky && store_.simulated() != nullptr && dice_.Chance(5)) Crash();
  if (written_ < next_check_) {
    if (dice_.Chance(2)) {
      Do({.kind = Kind::kCheckRows, .table = dice_.Pick(tables_).options.name});
    }
    return;
  }
  const uint64_t rows = std::min<uint64_t>(plan_.rows, 500);
  next_check_ = written_ + 200 + 2 * rows + dice_.Below(4 * rows + 1);
  Check();
}

SessionAction Session::NewBatch() {
  SessionAction action;
  const bool unlogged = dice_.Chance(4);
  if (unlogged && !dice_.Chance(25)) {
    action.durability = Durability::kMemory;
  } else {
    const uint64_t level = dice_.Below(20);
    action.durability = level == 0  ? Durability::kSynced
                        : level < 6 ? Durability::kBuffered
                                    : Durability::kWritten;
  }
  for (uint64_t count = dice_.Chance(50) ? 1 : 1 + dice_.Below(7); count > 0; --count) {
    const TablePlan* table = &dice_.Pick(tables_);
    while (table->unlogged != unlogged || (table->large_puts > 0 && !dice_.Chance(5))) {
      table = &dice_.Pick(tables_);
    }
    action.batch.push_back(Generator(&dice_, table).Operation(now()));
  }
  return action;
}

void Session::WriteBad() {
  const TablePlan& table = tables_[dice_.Below(3)];
  SessionAction action = NewBatch();
  if (IsUnlogged(action)) return;
  action.kind = SessionAction::Kind::kWriteBad;
  const auto at = static_cast<std::ptrdiff_t>(dice_.Below(action.batch.size() + 1));
  const ModelOperation bad = Generator(&dice_, &table).BadPut();
  if (!model_.Refuses(bad)) throw Failure("the test's bad put is good: " + bad.Describe());
  action.batch.insert(action.batch.begin() + at, bad);
  Do(std::move(action));
}

/// Fills the memstore quickly.
void Session::WriteFiller(const TablePlan& plan) {
  SessionAction action;
  action.durability = plan.unlogged ? Durability::kMemory : Durability::kBuffered;
  action.batch.push_back(Generator(&dice_, &plan).Put(now()));
  action.batch[0].columns = {{"note", std::string(2000 + dice_.Below(3000), 'f')}};
  Do(std::move(action));
}

void Session::Maintain() {
  using Kind = SessionAction::Kind;
  const uint64_t choice = dice_.Below(20);
  if (choice < 12) return Do({.kind = Kind::kRunOne});
  if (choice < 15) return Do({.kind = Kind::kDrain});
  if (choice < 18) {
    const bool all = dice_.Chance(10);
    return Do({.kind = Kind::kFlush, .table = all ? "" : dice_.Pick(tables_).options.name});
  }
  const TablePlan& plan = dice_.Pick(tables_);
  if (choice < 19) {
    const bool alters = !plan.unlogged && dice_.Chance(30);
    const Kind edit = alters ? Kind::kAlterFamily : Kind::kChangeIndexes;
    return Do({.kind = edit, .table = plan.options.name});
  }
  const bool edits_schema = !plan.unlogged && dice_.Chance(15);
  const Kind kind = edits_schema ? PickSchemaEdit(&dice_) : PickReshaping(&dice_);
  Do({.kind = kind, .table = plan.options.name});
}

void Session::Hold() {
  using Kind = SessionAction::Kind;
  if (dice_.Chance(50)) {
    const bool takes = snapshots_.size() < 3 && dice_.Chance(60);
    return Do({.kind = takes ? Kind::kTakeSnapshot : Kind::kReleaseSnapshot});
  }
  if (cursors_.size() >= 3) return;
  Do({.kind = Kind::kOpenCursor, .table = dice_.Pick(tables_).options.name});
}

/// Writes and flushes until the table has 3 files and 2 memstores, or for a while.
void Session::Deepen(const TablePlan& plan) {
  for (int i = 0; i < 60 && !IsDeep(plan); ++i) {
    const DatabaseInfo info = store_.engine().Info();
    size_t files = 0;
    for (const TableInfo& table : info.tables) {
      if (table.options.name != plan.options.name) continue;
      for (const RegionInfo& region : table.regions) files = std::max(files, region.files.size());
    }
    if (files >= 3) {
      WriteFiller(plan);
      continue;
    }
    for (int count = 0; count < 4; ++count) Do(NewBatch());
    WriteFiller(plan);
    Do({.kind = SessionAction::Kind::kFlush, .table = plan.options.name});
  }
}

void Session::Check() {
  using Kind = SessionAction::Kind;
  const TablePlan& plan = dice_.Pick(tables_);
  if (plan.large_puts > 0 && dice_.Chance(50)) return;
  if (dice_.Chance(80)) Deepen(plan);
  Do({.kind = Kind::kCheckTable, .table = plan.options.name});
  const bool has_snapshots = !snapshots_.empty() || !named_snapshots_.empty();
  if (has_snapshots) Do({.kind = Kind::kCheckSnapshot, .table = plan.options.name});
  if (dice_.Chance(5)) Do({.kind = Kind::kVerify});
}

void Session::Crash() {
  SessionAction action{.kind = SessionAction::Kind::kKill};
  if (!dice_.Chance(25)) {
    action.kind = SessionAction::Kind::kCrash;
    if (dice_.Chance(80)) {
      action.power_off_at = 1 + dice_.Below(dice_.Chance(50) ? 30 : 300);
      action.until = NewWorkUntilPowerFails();
    }
  }
  Do(std::move(action));
}

/// More than is done before something fails.
std::vector<SessionAction> Session::NewWorkUntilPowerFails() {
  using Kind = SessionAction::Kind;
  std::vector<SessionAction> actions;
  for (int i = 0; i < 80; ++i) {
    const auto advance_micros = static_cast<int64_t>(dice_.Below(60));
    const uint64_t choice = dice_.Below(10);
    if (choice < 8) {
      actions.push_back(NewBatch());
    } else if (choice < 9) {
      actions.push_back({.kind = Kind::kFlush, .table = dice_.Pick(tables_).options.name});
    } else if (dice_.Chance(50)) {
      const TablePlan& plan = dice_.Pick(tables_);
      const bool truncates = !plan.unlogged && dice_.Chance(15);
      const bool alters = !plan.unlogged && dice_.Chance(20);
      const Kind kind = truncates          ? Kind::kTruncate
                        : alters           ? Kind::kAlterFamily
                        : dice_.Chance(20) ? Kind::kChangeIndexes
                                           : PickReshaping(&dice_);
      actions.push_back({.kind = kind, .table = plan.options.name});
      actions.back().seed = dice_.Next() | 1;
    } else {
      actions.push_back({.kind = Kind::kDrain});
    }
    actions.back().advance_micros = advance_micros;
  }
  return actions;
}

}  // namespace tandem::test

// See small_world.h.
#include "test/model/small_world.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>

#include "base/status_macros.h"
#include "test/model/checker.h"
#include "test/model/journal.h"
#include "test/model/paths.h"
#include "test/model/store.h"
#include "tools/generator/tuning.h"
#include "tools/simulation/bulk_load.h"
#include "tools/simulation/minimize.h"

namespace tandem::test {
namespace {

SmallStep NewStep(Dice* dice, const TablePlan& plan) {
  using Kind = SmallStep::Kind;
  SmallStep step;
  step.argument = dice->Next();
  const uint64_t choice = dice->Below(100);
  if (choice < 55) {
    for (uint64_t count = dice->Chance(75) ? 1 : 1 + dice->Below(3); count > 0; --count) {
      step.batch.push_back(Generator(dice, &plan).Operation(0));
    }
    step.synced = dice->Chance(30);
    return step;
  }
  step.kind = choice < 70   ? Kind::kFlush
              : choice < 76 ? Kind::kCompact
              : choice < 82 ? Kind::kRunOne
              : choice < 87 ? Kind::kTakeSnapshot
              : choice < 89 ? Kind::kReleaseSnapshot
              : choice < 91 ? Kind::kAdvanceClock
              : choice < 93 ? Kind::kAlter
              : choice < 95 ? (step.argument % 4 == 0 ? Kind::kTruncate : Kind::kChangeIndex)
              : choice < 96 ? Kind::kReopen
              : choice < 98 ? Kind::kCrash
                            : Kind::kKill;
  return step;
}

class SmallRun {
 public:
  SmallRun(const SmallWorld& world, Counters* counters, RunTrace* trace);
  ~SmallRun() {
    if (trace_ != nullptr) trace_->StopWatching();
  }
  void Run();

 private:
  struct HeldSnapshot {
    Snapshot snapshot;
    Model model;
    int64_t now_micros;
    std::vector<Checker::Reading> readings = {};
  };

  void NoteIn(RunTrace* trace, const SmallStep& step);
  void Live(const SmallStep& step);
  bool IsLoad(const SmallStep& step) const;
  Status Load(const SmallStep& step, int64_t* begun_micros);
  Status WriteOf(const SmallStep& step);
  Result<bool> WriteChecked(const SmallStep& step);
  void FinishBuilds();
  void Write(const SmallStep& step);
  void Alter(const SmallStep& step);
  void Truncate();
  void ChangeIndex(const SmallStep& step);
  void ChangeIndexes(const std::function<void(std::vector<IndexOptions>*)>& change);
  void Crash(const SmallStep& step);
  enum class FunctionsOfLife : uint8_t { kSame, kVersion, kNone };
  FunctionsOfLife FunctionsOf(uint64_t argument) const {
    if (!world_.calls || argument / 4 % 2 == 0) return FunctionsOfLife::kSame;
    return argument / 8 % 2 == 0 ? FunctionsOfLife::kVersion : FunctionsOfLife::kNone;
  }
  void OpenAgain(uint64_t argument, const char* context);
  void LiveWithoutFunctions(uint64_t argument);
  void Check(bool thoroughly);
  const std::vector<Predicate>& Predicates() const;
  void BeginReadings(HeldSnapshot* held);
  void CheckMoment(const Moment& moment, bool thoroughly);
  void Verify();
  int64_t now() { return store_.clock().WallMicros(); }

  const SmallWorld& world_;
  Counters& counters_;
  RunTrace* const trace_;
  Dice dice_;
  Store store_;
  Checker checker_;
  TablePlan plan_;
  std::vector<Predicate> joined_;  // Of several columns.
  Model model_;
  std::unique_ptr<Journal> journal_;
  std::vector<HeldSnapshot> snapshots_;
  int64_t last_timestamp_ = 0;
};

WriteBatch BatchOf(const SmallStep& step) {
  WriteBatch batch;
  for (const ModelOperation& operation : step.batch) operation.AddTo(&batch);
  return batch;
}

WriteOptions OptionsOf(const SmallStep& step) {
  return {step.synced ? Durability::kSynced : Durability::kWritten, false};
}

// What an index made of the types of columns stays with it.
void TakeIndexes(const TableOptions& from, Model* model) {
  TableOptions options = model->table(from.name);
  options.indexes = from.indexes;
  options.columns = from.columns;
  model->TakeSchema(options);
}

Store::Setup SetupOf(const SmallWorld& world) {
  Store::Setup setup{.disk = DiskKind::kSimulated,
                     .seed = world.seed,
                     .wall_micros = 1,
                     .tuning = RandomTuning(world.seed)};
  if (world.switches_memstores) setup.tuning.memstore_bytes = 1;
  return setup;
}

SmallRun::SmallRun(const SmallWorld& world, Counters* counters, RunTrace* trace)
    : world_(world),
      counters_(*counters),
      trace_(trace),
      dice_(world.seed),
      store_(SetupOf(world)),
      checker_(&dice_, counters),
      plan_(PlanOf(world)) {
  AddJoinedPredicates(world, &joined_);
  if (trace_ != nullptr) trace_->Watch(store_.simulated(), store_.path());
}

void SmallRun::Run() {
  RequireOk(store_.Open(), "open");
  RequireOk(store_.engine().CreateTable(plan_.options), "create table");
  model_.CreateTable(plan_.options);
  journal_ = std::make_unique<Journal>(std::vector<std::string>{"w"}, model_);
  for (const SmallStep& step : world_.steps) {
    // The checks after a step are its own, so that they stay when other steps are cut away.
    dice_ = Dice(step.argument);
    Live(step);
    Check(false);
    if (trace_ != nullptr) NoteIn(trace_, step);
  }
  dice_ = Dice(world_.seed);
  Check(true);
  Verify();
}

// What was answered equals the model's answers, so their counts say it all.
void SmallRun::NoteIn(RunTrace* trace, const SmallStep& step) {
  trace->Add(step.Describe());
  trace->Add(counters_.Describe());
  trace->Add(store_.executor().due_count());
  trace->Add(store_.LastSequence());
}

void SmallRun::Live(const SmallStep& step) {
  using Kind = SmallStep::Kind;
  switch (step.kind) {
    case Kind::kWrite:
      return Write(step);
    case Kind::kFlush:
      RequireOk(store_.engine().Flush("w"), "flush");
      ++counters_.flushes;
      return journal_->MarkDurableThrough("w");
    case Kind::kCompact:
      RequireOk(store_.engine().Compact("w"), "compact");
      ++counters_.compactions;
      return;
    case Kind::kRunOne:
      store_.executor().RunOne();
      return;
    case Kind::kTakeSnapshot: {
      auto snapshot = store_.engine().TakeSnapshot();
      RequireOk(snapshot.status(), "take a snapshot");
      snapshots_.push_back({*std::move(snapshot), model_, now()});
      return BeginReadings(&snapshots_.back());
    }
    case Kind::kReleaseSnapshot:
      if (!snapshots_.empty()) {
        snapshots_.erase(snapshots_.begin() +
                         static_cast<std::ptrdiff_t>(step.argument % snapshots_.size()));
      }
      return;
    case Kind::kAdvanceClock:
      return store_.clock().Advance(static_cast<int64_t>(step.argument % 4));
    case Kind::kAlter:
      return Alter(step);
    case Kind::kTruncate:
      return Truncate();
    case Kind::kChangeIndex:
      return ChangeIndex(step);
    case Kind::kReopen:
      snapshots_.clear();
      RequireOk(store_.Close(), "close");
      journal_->MarkDurable();
      OpenAgain(step.argument, "reopen");
      LiveWithoutFunctions(step.argument);
      ++counters_.reopens;
      return Verify();
    case Kind::kCrash:
    case Kind::kKill:
      return Crash(step);
  }
}

// Of a table with a unique index it would be refused.
bool SmallRun::IsLoad(const SmallStep& step) const {
  const bool is_unique = world_.unique_a || world_.unique_all;
  return world_.loads && !is_unique && step.argument % 3 == 0 && MayBeLoaded(step.batch);
}

// Its cells have the time of its begin; it may wait for flushes afterwards.
Status SmallRun::Load(const SmallStep& step, int64_t* begun_micros) {
  ++counters_.bulk_loads;
  return LoadInBulk(&store_.engine(), step.batch, [&] { *begun_micros = now(); });
}

Status SmallRun::WriteOf(const SmallStep& step) {
  return store_.engine().Write(OptionsOf(step), BatchOf(step));
}

// The batch, if a column of its first row has a value or none; whether it was applied.
Result<bool> SmallRun::WriteChecked(const SmallStep& step) {
  const ModelOperation& first = step.batch.front();
  const ColumnPlan& column = plan_.columns[step.argument / 16 % plan_.columns.size()];
  const std::string name = column.family + ":" + column.qualifier;
  const Predicate condition =
      step.argument / 64 % 2 == 0 ? Predicate::Equal(name, "1") : Predicate::IsNull(name);
  ASSIGN_OR_RETURN(
      const bool applied,
      store_.engine().CheckAndMutate(OptionsOf(step), "w", first.row, condition, BatchOf(step)));
  ++counters_.checked_writes;
  // Back pressure may have let time pass before the batch was looked at, and cells expire.
  std::string value;  // Empty: there is none.
  const ModelRead newest{.now_micros = now(), .columns = {{column.family, column.qualifier}}};
  if (const auto row = model_.Get("w", first.row, newest)) value = row->cells.front().value;
  const bool holds = condition.kind() == Predicate::Kind::kIsNull ? value.empty() : value == "1";
  if (applied == holds) return applied;
  throw Failure(condition.ToString() + " of row " + first.row + (holds ? " holds" : " is false") +
                " and the batch was " + (applied ? "applied" : "not applied"));
}

// A batch of a build that came in between would take the timestamp of the next batch. A build that
// waits is due within a tenth of a second.
void SmallRun::FinishBuilds() {
  const auto is_building = [this] {
    for (const TableInfo& table : store_.engine().Info().tables) {
      for (const IndexInfo& index : table.indexes) {
        if (index.is_building && index.unusable.empty()) return true;
      }
    }
    return false;
  };
  for (int i = 0; i < 100 && is_building(); ++i) {
    store_.clock().Advance(100'000);
    store_.executor().Drain();
    last_timestamp_ = now();
  }
}

void SmallRun::Write(const SmallStep& step) {
  JournalBatch entry;
  entry.operations = step.batch;
  if (world_.loads) FinishBuilds();
  // The clock is ahead of every timestamp so far, so the batch's is the time. Batches that build a
  // global index after a load have some too.
  const int64_t ahead = world_.loads ? 1'000 : 1;
  store_.clock().Advance(std::max<int64_t>(0, last_timestamp_ + ahead - now()));
  const bool is_load = IsLoad(step);
  int64_t begun_micros = 0;
  const bool is_checked = !is_load && step.argument % 4 == 1;
  Status status;
  if (is_checked) {
    const Result<bool> applied = WriteChecked(step);
    status = applied.status();
    if (status.ok() && !*applied) {
      last_timestamp_ = now();  // It took one.
      return;
    }
  } else {
    status = is_load ? Load(step, &begun_micros) : WriteOf(step);
  }
  const int64_t timestamp = is_load ? begun_micros : now();
  Model after = model_;
  for (const ModelOperation& operation : step.batch) after.Apply(operation, timestamp, now());
  const std::optional<std::string> duplicates = after.Duplicates("w", now());
  counters_.operations += step.batch.size();
  if (duplicates.has_value()) {
    if (status.code() == StatusCode::kAlreadyExists) {
      ++counters_.refused;
      return;
    }
    throw Failure("expected AlreadyExists (" + *duplicates + "), found " + status.ToString());
  }
  RequireOk(status, "write");
  entry.timestamp = timestamp;
  entry.now_micros = last_timestamp_ = now();
  entry.last_sequence = store_.LastSequence();
  model_ = std::move(after);
  const bool surely_writes = entry.surely_writes();
  journal_->Append(std::move(entry));
  if (!surely_writes) return;
  journal_->MarkWritten();
  if (step.synced || is_load) journal_->MarkDurable();
}

// It is durable, and so is what was written before it, since cells may go.
void SmallRun::Alter(const SmallStep& step) {
  const std::vector<FamilyOptions>& families = plan_.options.families;
  JournalBatch entry;
  entry.emptied = "w";
  const FamilyOptions before = families[step.argument % families.size()];
  entry.altered = before;
  entry.altered->max_versions = 1 + static_cast<uint32_t>(step.argument / 2 % 4);
  if (world_.ttl_micros != 0 || step.argument / 8 % 4 == 0) {
    constexpr int64_t kTimes[] = {0, 3, 4, 6, 9};
    entry.altered->ttl_micros = kTimes[step.argument / 32 % std::size(kTimes)];
  }
  if (world_.switches_memstores) entry.altered->ttl_micros = 0;
  if (world_.globals) entry.altered->ttl_micros = before.ttl_micros;  // Else it is refused.
  RequireOk(store_.engine().AlterFamily("w", *entry.altered), "alter");
  const bool is_same = entry.altered->max_versions == before.max_versions &&
                       entry.altered->ttl_micros == before.ttl_micros;
  if (is_same) return;  // It makes nothing durable.
  entry.now_micros = now();
  entry.last_sequence = store_.LastSequence();
  model_.AlterFamily("w", *entry.altered, entry.now_micros);
  plan_.options = model_.table("w");
  ++counters_.schema_edits;
  ++counters_.limits_changed;
  journal_->Append(std::move(entry));
  journal_->MarkDurable();
}

void SmallRun::Truncate() {
  snapshots_.clear();  // Their rows are those of a table that is gone.
  RequireOk(store_.engine().TruncateTable("w"), "truncate");
  model_.Truncate("w");
  JournalBatch entry;
  entry.emptied = "w";
  entry.now_micros = now();
  entry.last_sequence = store_.LastSequence();
  journal_->Append(std::move(entry));
  journal_->MarkDurable();
  ++counters_.schema_edits;
  ++counters_.truncations;
}

// Drops an index of the plan, creates it again, or both. A unique one would not refuse duplicates
// before they were looked for.
void SmallRun::ChangeIndex(const SmallStep& step) {
  const std::vector<IndexOptions> planned = PlanOf(world_).options.indexes;
  const IndexOptions& index = planned[step.argument / 4 % planned.size()];
  if (index.unique || index.placement == IndexPlacement::kGlobal) return;
  const auto has_its_name = [&](const IndexOptions& other) { return other.name == index.name; };
  const bool is_there = std::ranges::any_of(plan_.options.indexes, has_its_name);
  if (is_there) {
    RequireOk(store_.engine().DropIndex("w", index.name), "drop index " + index.name);
    ChangeIndexes([&](auto* indexes) { std::erase_if(*indexes, has_its_name); });
    // Pages in its order would be those of another plan.
    for (HeldSnapshot& held : snapshots_) held.readings.clear();
    if (step.argument / 1024 % 2 == 0) return;
  }
  RequireOk(store_.engine().CreateIndex("w", index), "create index " + index.name);
  ChangeIndexes([&](auto* indexes) { indexes->push_back(index); });
  // Few worlds would live until it is built. Cells must not expire meanwhile.
  if (world_.ttl_micros == 0 && step.argument / 2048 % 4 != 0) FinishBuilds();
}

// Snapshots have the rows and limits of their time, and the indexes of now.
void SmallRun::ChangeIndexes(const std::function<void(std::vector<IndexOptions>*)>& change) {
  model_.ChangeIndexes("w", change);
  plan_.options = model_.table("w");
  for (HeldSnapshot& held : snapshots_) TakeIndexes(plan_.options, &held.model);
  ++counters_.schema_edits;
  ++counters_.index_changes;
}

void SmallRun::Crash(const SmallStep& step) {
  snapshots_.clear();
  const bool killed = step.kind == SmallStep::Kind::kKill;
  if (killed) {
    store_.simulated()->KillProcess();
    ++counters_.kills;
  } else {
    constexpr CrashPolicy::Kept kKept[] = {CrashPolicy::Kept::kNone, CrashPolicy::Kept::kAll,
                                           CrashPolicy::Kept::kRandom};
    store_.simulated()->Crash({.kept = kKept[step.argument % 3], .seed = step.argument});
    ++counters_.power_cuts;
  }
  store_.Abandon();  // Its files are dead.
  OpenAgain(step.argument, "open after a crash");
  Journal::Recovered recovered;
  recovered.now_micros = now();
  recovered.killed = killed;
  const DatabaseInfo info = store_.engine().Info();
  counters_.replayed_operations += info.recovered_operations;
  recovered.last_sequence = info.last_sequence;
  ReadOptions read;
  read.versions = std::numeric_limits<uint32_t>::max();
  TableContent& content = recovered.content["w"];
  for (ModelRow& row : ReadAll(store_.engine().Scan(read, "w", {}), "scan after a crash")) {
    content.emplace(row.key, row);
  }
  model_ = journal_->Recover(recovered);
  TakeIndexes(plan_.options, &model_);  // An edit that changed them is durable.
  plan_.options = model_.table("w");
  const std::optional<std::string> duplicates = model_.Duplicates("w", now());
  if (duplicates.has_value()) throw Failure("after a crash rows are equal: " + *duplicates);
  LiveWithoutFunctions(step.argument);
}

// Perhaps with other functions than those that the indexes call.
void SmallRun::OpenAgain(uint64_t argument, const char* context) {
  static const format::FunctionRegistry kNone;
  const FunctionsOfLife functions = FunctionsOf(argument);
  RequireOk(store_.Open(functions == FunctionsOfLife::kSame      ? ProgramFunctions()
                        : functions == FunctionsOfLife::kVersion ? ProgramFunctions(2)
                                                                 : kNone),
            context);
}

// If it was opened with others, what comes then, up to the next open with the same.
void SmallRun::LiveWithoutFunctions(uint64_t argument) {
  const FunctionsOfLife functions = FunctionsOf(argument);
  if (functions == FunctionsOfLife::kSame) return;
  const bool is_version = functions == FunctionsOfLife::kVersion;
  checker_.CheckWithoutCalls({&store_.engine(), &model_, nullptr, now()}, plan_, is_version);
  if (argument / 32 % 2 == 0) RequireOk(store_.engine().Flush("w"), "flush without functions");
  if (argument / 64 % 2 == 0) RequireOk(store_.engine().Compact("w"), "compact without functions");
  Verify();
  ++counters_.lives_without_functions;
  RequireOk(store_.Close(), "close without functions");
  journal_->MarkDurable();
  RequireOk(store_.Open(), "open with functions");
}

void SmallRun::Check(bool thoroughly) {
  RequireSequences(store_.engine().Info());
  CheckMoment({&store_.engine(), &model_, nullptr, now()}, thoroughly);
  for (HeldSnapshot& held : snapshots_) {
    const Moment moment{&store_.engine(), &held.model, &held.snapshot, held.now_micros};
    CheckMoment(moment, thoroughly);
    for (Checker::Reading& reading : held.readings) checker_.ReadOn(moment, plan_, &reading);
    ++counters_.snapshot_checks;
  }
  if (thoroughly) CountPaths(&store_, plan_, model_, now(), &counters_);
}

const std::vector<Predicate>& SmallRun::Predicates() const {
  static const auto kOfWorlds = [] {
    std::array<std::vector<Predicate>, 64> all;
    for (size_t i = 0; i < all.size(); ++i) {
      SmallWorld world;
      world.two_families = i & 1;
      world.lists = i & 2;
      world.keys = i & 4;
      world.calls = i & 8;
      world.joined = i & 16;
      world.maps = i & 32;
      all[i] = SmallPredicates(world);
    }
    return all;
  }();
  return kOfWorlds[size_t{world_.two_families} | size_t{world_.lists} << 1 |
                   size_t{world_.keys} << 2 | size_t{world_.calls} << 3 |
                   size_t{world_.joined} << 4 | size_t{world_.maps} << 5];
}

// A page of each is read after every step.
void SmallRun::BeginReadings(HeldSnapshot* held) {
  const Moment moment{&store_.engine(), &held->model, &held->snapshot, held->now_micros};
  for (int i = 0; i < 3; ++i) {
    const Predicate predicate = i == 0 ? Predicate() : dice_.Pick(Predicates());
    held->readings.push_back(checker_.BeginReading(moment, plan_, predicate));
  }
}

void SmallRun::CheckMoment(const Moment& moment, bool thoroughly) {
  const std::vector<Predicate>& predicates = Predicates();
  ++counters_.checks;
  for (const IndexOptions& index : plan_.options.indexes) {
    if (index.where.empty()) continue;
    // The predicate of the index, beside others and within them.
    const Predicate where = Predicate::Parse(index.where).value();
    const IndexColumn& first = index.columns[0];
    const Predicate other =
        dice_.Chance(60)
            ? Predicate::Equal(first.family + ":" + first.qualifier, dice_.Pick(plan_.values))
                  .WithFunctions(first.functions)
            : dice_.Pick(predicates);
    checker_.CheckQuery(moment, plan_, Predicate::And({where, other}));
    if (dice_.Chance(30)) {
      checker_.CheckQuery(moment, plan_, Predicate::Or({other, Predicate::And({where, other})}));
    }
  }
  for (int i = 0; i < 3 && world_.joined; ++i) {
    checker_.CheckQuery(moment, plan_, dice_.Pick(joined_));
    checker_.CheckByIndexes(moment, plan_, dice_.Pick(joined_));
  }
  if (thoroughly) {
    checker_.CheckTable(moment, plan_, 2);
    for (const Predicate& predicate : predicates) checker_.CheckQuery(moment, plan_, predicate);
    return;
  }
  checker_.CheckRows(moment, plan_, 2);
  checker_.CheckManyRows(moment, plan_);
  for (int i = 0; i < 6; ++i) checker_.CheckQuery(moment, plan_, dice_.Pick(predicates));
  for (int i = 0; i < 3; ++i) checker_.CheckByIndexes(moment, plan_, dice_.Pick(predicates));
  checker_.CheckAnyVersion(moment, plan_, dice_.Pick(predicates));
  checker_.CheckGroups(moment, plan_, dice_.Chance(60) ? Predicate() : dice_.Pick(predicates));
  checker_.CheckExpression(moment, plan_, dice_.Pick(predicates));
}

void SmallRun::Verify() {
  const auto report = store_.engine().Verify(true);
  RequireOk(report.status(), "verify");
  ++counters_.verifications;
  if (!report->findings.empty()) throw Failure("verify found: " + report->findings[0].text);
}

}  // namespace

SmallWorld NewSmallWorld(uint64_t seed) {
  Dice dice(seed);
  SmallWorld world;
  world.seed = seed;
  world.max_versions = 1 + static_cast<uint32_t>(dice.Below(3));
  world.ttl_micros = dice.Chance(30) ? 4 : 0;
  // A writer that is slowed down sleeps, which is longer than the time to live.
  world.switches_memstores = world.ttl_micros == 0 && dice.Chance(50);
  world.two_families = dice.Chance(40);
  world.rising = dice.Chance(40);
  world.lists = dice.Chance(30);
  for (size_t i = 1; i < kSmallRows.size(); ++i) {
    if (dice.Chance(25)) world.split_keys.push_back(kSmallRows[i]);
  }
  Dice unique(~seed);
  world.unique_a = unique.Chance(40);
  world.unique_all = unique.Chance(30);
  if (unique.Chance(70)) world.partial = 1 + unique.Below(1'000'000);
  world.includes = unique.Chance(50);
  world.globals = unique.Chance(50);
  world.keys = unique.Chance(40);
  world.calls = unique.Chance(40);
  world.joined = unique.Chance(40);
  world.maps = unique.Chance(40);
  world.loads = world.ttl_micros == 0 && unique.Chance(40);  // They may wait for merges.
  const TablePlan plan = PlanOf(world);
  for (uint64_t count = 3 + dice.Below(22); count > 0; --count) {
    world.steps.push_back(NewStep(&dice, plan));
  }
  return world;
}

std::optional<std::string> RunSmallWorld(const SmallWorld& world, Counters* counters,
                                         RunTrace* trace) {
  try {
    SmallRun(world, counters, trace).Run();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return std::nullopt;
}

SmallWorld Shrink(SmallWorld world) {
  Counters ignored;
  SmallWorld part = world;
  world.steps = Minimize(std::move(world.steps), [&](const std::vector<SmallStep>& steps) {
    part.steps = steps;
    return RunSmallWorld(part, &ignored).has_value();
  });
  return world;
}

}  // namespace tandem::test

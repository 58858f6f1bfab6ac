// Three rows, three columns, two values: the small world that finds the bugs.
#include "test/model/small_world.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "test/model/checker.h"
#include "test/model/journal.h"
#include "test/model/paths.h"
#include "test/model/store.h"
#include "tools/generator/tuning.h"
#include "tools/simulation/bulk_load.h"
#include "tools/simulation/minimize.h"

namespace tandem::test {
namespace {

const std::vector<std::string> kRows = {"x", "y", "z"};
const std::vector<std::string> kColumns = {"a", "b", "c"};
const std::vector<std::pair<std::string, std::string>> kJoined = {{"a", "b"}, {"c", "a"}};

const Functions kCalled = {Function::Call("even")};  // 2 and "1 2".
const Functions kParts = {Function::Split(" ")};
// 0 of "y", 1 of the other rows.
const Functions kKeyPart = {Function::SplitPart("y", 1), Function::Length()};

// With two families the column "c" is the second one's.
std::string FamilyOf(bool two_families, const std::string& column) {
  return two_families && column == "c" ? "m" : "d";
}

IndexColumn ColumnOf(const SmallWorld& world, const std::string& name, bool descending) {
  return {FamilyOf(world.two_families, name), name, ColumnType::kBytes, descending};
}

Functions JoinedWith(const SmallWorld& world, const std::string& name) {
  return {Function::Concat(
      {ConcatPart::Value(), ConcatPart::Column(FamilyOf(world.two_families, name), name)})};
}

// concat(a, b), concat(c, a) with b, and b with concat(a, b).
void AddJoinedIndexes(const SmallWorld& world, std::vector<IndexOptions>* indexes) {
  std::vector<IndexColumn> joined;
  for (const auto& [name, with] : kJoined) {
    IndexColumn& column = joined.emplace_back(ColumnOf(world, name, name == "c"));
    column.functions = JoinedWith(world, with);
  }
  indexes->push_back({"joined", {joined[0]}});
  indexes->push_back({"joined_b", {joined[1], ColumnOf(world, "b", false)}});
  indexes->push_back({"b_joined", {ColumnOf(world, "b", true), joined[0]}});
  if (world.includes) {
    indexes->back().include = {{FamilyOf(world.two_families, "c"), "c"}};
  }
  if (!world.lists) return;
  joined[0].functions.insert(joined[0].functions.end(), kParts.begin(), kParts.end());
  indexes->push_back({"joined_parts", {joined[0]}});
}

void AddPartialIndexes(const SmallWorld& world, TablePlan* plan) {
  Dice partial(world.partial);
  for (uint64_t count = world.partial == 0 ? 0 : 1 + partial.Below(3); count > 0; --count) {
    IndexOptions index{"partial_" + std::to_string(count),
                       {ColumnOf(world, partial.Pick(kColumns), partial.Chance(30))}};
    const std::string& second = partial.Pick(kColumns);
    if (second != index.columns[0].qualifier && partial.Chance(40)) {
      index.columns.push_back(ColumnOf(world, second, partial.Chance(30)));
    }
    if (world.lists && index.columns.size() == 1 && partial.Chance(40)) {
      index.columns[0].functions = kParts;
    }
    index.where = RandomWhere(&partial, *plan);
    const bool is_there = std::ranges::any_of(plan->options.indexes, [&](const auto& other) {
      return other.ToString() == index.ToString();
    });
    if (!is_there) plan->options.indexes.push_back(std::move(index));
  }
}

void AddGlobalIndexes(const SmallWorld& world, std::vector<IndexOptions>* indexes) {
  const auto add = [&](IndexOptions index) {
    index.placement = IndexPlacement::kGlobal;
    indexes->push_back(std::move(index));
  };
  add({"global_a", {ColumnOf(world, "a", false)}});
  add({"global_c", {ColumnOf(world, "c", true)}});
  // Cells of an index over several columns do not expire.
  if (world.ttl_micros != 0) return;
  add({"global_b_c", {ColumnOf(world, "b", false), ColumnOf(world, "c", true)}});
}

void AddCallingIndexes(const SmallWorld& world, std::vector<IndexOptions>* indexes) {
  IndexColumn called = ColumnOf(world, "a", false);
  called.functions = kCalled;
  indexes->push_back({"by_call_of_a", {called}});
  indexes->push_back({"by_call_of_a_b", {called, ColumnOf(world, "b", true)}});
  IndexOptions partial{"partial_called", {ColumnOf(world, "b", false)}};
  partial.where = "call('even', d:a) IS NOT NULL";
  indexes->push_back(std::move(partial));
  if (!world.globals) return;
  IndexOptions global{"global_call_of_a", {called}};
  global.placement = IndexPlacement::kGlobal;
  indexes->push_back(std::move(global));
}

TablePlan PlanOf(const SmallWorld& world) {
  TablePlan plan;
  plan.options.name = "w";
  plan.options.split_keys = world.split_keys;
  for (const char* family : {"d", "m"}) {
    plan.options.families.push_back({.name = family,
                                     .max_versions = world.max_versions,
                                     .ttl_micros = world.ttl_micros,
                                     .block_size_bytes = 512});
    if (!world.two_families) break;
  }
  for (const std::string& column : kColumns) {
    const std::string family = FamilyOf(world.two_families, column);
    plan.columns.push_back({.qualifier = column, .family = family});
    plan.options.indexes.push_back({"by_" + column, {{family, column, ColumnType::kBytes, false}}});
  }
  const auto column = [&](const char* name, bool descending) {
    return ColumnOf(world, name, descending);
  };
  plan.options.indexes.push_back(
      {"by_all", {column("a", false), column("b", false), column("c", false)}, world.unique_all});
  plan.options.indexes.front().unique = world.unique_a;
  plan.options.indexes.push_back({"by_c_a", {column("c", true), column("a", false)}});
  if (world.includes) {
    const std::string of_c = FamilyOf(world.two_families, "c");
    std::vector<IndexOptions>& indexes = plan.options.indexes;
    indexes[0].include = {{"d", "b"}};
    indexes[1].include = {{"d", "a"}, {of_c, "c"}};
    indexes[4].include = {{"d", "b"}};
  }
  if (world.keys) {
    const IndexColumn part{.type = ColumnType::kInt64, .functions = kKeyPart, .is_row_key = true};
    plan.options.indexes.push_back({"by_key", {part}});
    plan.options.indexes.push_back({"by_key_a", {part, column("a", true)}});
    plan.options.indexes.push_back({"by_b_key", {column("b", false), part}});
    if (world.includes) plan.options.indexes.back().include = {{"d", "a"}};
  }
  if (world.maps) {
    for (const FamilyOptions& family : plan.options.families) {
      const auto add = [&](const char* name, Functions functions) {
        plan.options.indexes.push_back(
            {name + family.name, {{.family = family.name, .functions = std::move(functions)}}});
      };
      add("by_columns_of_", {Function::MapKeys()});
      add("by_values_of_", {Function::MapValues()});
    }
  }
  plan.keys = kRows;
  plan.values = {"1", "2"};
  if (world.lists) {
    plan.values.push_back("1 2");
    for (const char* name : {"a", "c"}) {
      IndexColumn parts = column(name, /*descending=*/name == kColumns[2]);
      parts.functions = kParts;
      plan.options.indexes.push_back({std::string("by_parts_of_") + name, {std::move(parts)}});
    }
  }
  AddPartialIndexes(world, &plan);
  if (world.calls) AddCallingIndexes(world, &plan.options.indexes);
  if (world.joined) AddJoinedIndexes(world, &plan.options.indexes);
  if (world.globals) AddGlobalIndexes(world, &plan.options.indexes);
  plan.timestamps = world.rising ? Timestamps::kNone : Timestamps::kSmall;
  plan.puts = 58;
  return plan;
}

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
              : choice < 94 ? Kind::kAlter
              : choice < 95 ? Kind::kReopen
              : choice < 98 ? Kind::kCrash
                            : Kind::kKill;
  return step;
}

// Of what concat makes of two columns.
void AddJoinedPredicates(const SmallWorld& world, std::vector<Predicate>* all) {
  for (const auto& [name, with] : kJoined) {
    const std::string column = FamilyOf(world.two_families, name) + ":" + name;
    const std::string b = FamilyOf(world.two_families, "b") + ":b";
    std::vector<Predicate> joined = {Predicate::Equal(column, "11"), Predicate::Equal(column, "12"),
                                     Predicate::Greater(column, "12"), Predicate::IsNull(column)};
    for (Predicate& leaf : joined) {
      leaf = leaf.WithFunctions(JoinedWith(world, with));
      all->push_back(leaf);
      all->push_back(Predicate::Not(leaf));
      all->push_back(Predicate::And({leaf, Predicate::Equal(b, "1")}));
      all->push_back(Predicate::And({leaf, Predicate::Greater(b, "1")}));
      all->push_back(Predicate::Or({leaf, Predicate::Equal(b, "2")}));
    }
    if (!world.lists) continue;
    Functions parts = JoinedWith(world, with);
    parts.insert(parts.end(), kParts.begin(), kParts.end());
    all->push_back(Predicate::Equal(column, "2").WithFunctions(parts));
    all->push_back(Predicate::Not(Predicate::Equal(column, "12").WithFunctions(parts)));
  }
}

// On the qualifiers and values of a family, alone and two at a time.
void AddMapPredicates(bool two_families, std::vector<Predicate>* leaves,
                      std::vector<Predicate>* all) {
  std::vector<Predicate> of_maps;
  for (const char* family : {"d:", "m:"}) {
    for (const std::string& qualifier : kColumns) {
      of_maps.push_back(Predicate::Equal(family, qualifier).WithFunctions({Function::MapKeys()}));
    }
    of_maps.push_back(Predicate::GreaterOrEqual(family, "b").WithFunctions({Function::MapKeys()}));
    of_maps.push_back(Predicate::IsNull(family).WithFunctions({Function::MapKeys()}));
    of_maps.push_back(Predicate::Equal(family, "1").WithFunctions({Function::MapValues()}));
    of_maps.push_back(Predicate::NotEqual(family, "1").WithFunctions({Function::MapValues()}));
    of_maps.push_back(Predicate::Less(family, "5").WithFunctions({Function::MapValues()}));
    leaves->push_back(of_maps.front());
    if (!two_families) break;
  }
  for (size_t i = 0; i < of_maps.size(); ++i) {
    all->push_back(of_maps[i]);
    all->push_back(Predicate::Not(of_maps[i]));
    for (size_t j = 0; j < i; ++j) {
      all->push_back(Predicate::And({of_maps[i], of_maps[j]}));
      all->push_back(Predicate::And({of_maps[i], Predicate::Not(of_maps[j])}));
      all->push_back(Predicate::Or({of_maps[i], of_maps[j]}));
    }
  }
  leaves->push_back(of_maps.back());
}

/// Every predicate of the small world that is worth asking.
std::vector<Predicate> SmallPredicates(const SmallWorld& world) {
  const bool two_families = world.two_families, lists = world.lists, keys = world.keys;
  const bool calls = world.calls, maps = world.maps;
  std::vector<Predicate> leaves, all;
  if (maps) AddMapPredicates(two_families, &leaves, &all);
  if (keys) {
    for (const Predicate& leaf :
         {Predicate::Equal("_row", "1"), Predicate::Less("_row", "1"), Predicate::IsNull("_row")}) {
      leaves.push_back(leaf.WithFunctions(kKeyPart));
    }
  }
  if (calls) {
    leaves.push_back(Predicate::Equal("d:a", "2").WithFunctions(kCalled));
    leaves.push_back(Predicate::IsNotNull("d:a").WithFunctions(kCalled));
  }
  for (const std::string& name : kColumns) {
    const std::string column = FamilyOf(two_families, name) + ":" + name;
    for (const char* value : {"1", "2"}) leaves.push_back(Predicate::Equal(column, value));
    leaves.push_back(Predicate::IsNull(column));
    if (!lists || name == "b") continue;
    std::vector<Predicate> parts = {Predicate::Equal(column, "1"), Predicate::Equal(column, "2"),
                                    Predicate::Greater(column, "0")};
    for (Predicate& part : parts) part = part.WithFunctions(kParts);
    leaves.insert(leaves.end(), parts.begin(), parts.end());
    for (const Predicate& not_first : {parts[0], Predicate::Not(parts[0])}) {
      for (const Predicate& not_second : {parts[1], Predicate::Not(parts[1])}) {
        all.push_back(Predicate::And({not_first, not_second}));
        all.push_back(Predicate::Or({not_first, not_second}));
      }
    }
  }
  if (world.joined) AddJoinedPredicates(world, &all);
  const std::string a = FamilyOf(two_families, "a") + ":a", c = FamilyOf(two_families, "c") + ":c";
  for (const char* value : {"1", "2"}) {
    all.push_back(
        Predicate::Tuple({Predicate::Greater(a, value), Predicate::Greater("_row", "y")}));
    all.push_back(
        Predicate::Tuple({Predicate::LessOrEqual(c, value), Predicate::LessOrEqual(a, "1")}));
    all.push_back(
        Predicate::Tuple({Predicate::Between(a, "1", value), Predicate::Between(c, value, "1")}));
    all.push_back(Predicate::Not(all.back()));
  }
  for (const Predicate& leaf : leaves) {
    all.push_back(leaf);
    all.push_back(Predicate::Not(leaf));
    for (const Predicate& other : leaves) {
      if (leaf.qualifier() >= other.qualifier()) continue;
      all.push_back(Predicate::And({leaf, other}));
      all.push_back(Predicate::Or({leaf, other}));
      all.push_back(Predicate::And({leaf, Predicate::Not(other)}));
      for (const Predicate& third : leaves) {
        if (other.qualifier() >= third.qualifier()) continue;
        all.push_back(Predicate::And({leaf, other, third}));
        all.push_back(Predicate::And({leaf, Predicate::Or({other, third})}));
      }
    }
  }
  return all;
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
  void FinishBuilds();
  void Write(const SmallStep& step);
  void Alter(const SmallStep& step);
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
  trace->Add(store_.engine().Info().last_sequence);
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
  WriteBatch batch;
  for (const ModelOperation& operation : step.batch) operation.AddTo(&batch);
  const WriteOptions options{step.synced ? Durability::kSynced : Durability::kWritten, false};
  return store_.engine().Write(options, batch);
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
  const Status status = is_load ? Load(step, &begun_micros) : WriteOf(step);
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
  entry.last_sequence = store_.engine().Info().last_sequence;
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
  entry.last_sequence = store_.engine().Info().last_sequence;
  model_.AlterFamily("w", *entry.altered, entry.now_micros);
  plan_.options = model_.table("w");
  ++counters_.schema_edits;
  ++counters_.limits_changed;
  journal_->Append(std::move(entry));
  journal_->MarkDurable();
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
  }
  if (thoroughly) {
    checker_.CheckTable(moment, plan_, 2);
    for (const Predicate& predicate : predicates) checker_.CheckQuery(moment, plan_, predicate);
    return;
  }
  checker_.CheckRows(moment, plan_, 2);
  checker_.CheckManyRows(moment, plan_);
  for (int i = 0; i < 6; ++i) checker_.CheckQuery(moment, plan_, dice_.Pick(predicates));
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

std::string SmallStep::Describe() const {
  constexpr const char* kNames[] = {
      "write",         "flush", "compact", "run one job", "take snapshot", "release snapshot",
      "advance clock", "alter", "reopen",  "crash",       "kill"};
  std::string text = kNames[static_cast<int>(kind)];
  for (const ModelOperation& operation : batch) text += "; " + operation.Describe();
  if (synced) text += "; synced";
  if (kind == Kind::kAlter) text += " by " + std::to_string(argument);
  if (kind == Kind::kAdvanceClock) text += " by " + std::to_string(argument % 4);
  return text;
}

uint64_t SmallWorld::operation_count() const {
  uint64_t count = 0;
  for (const SmallStep& step : steps) count += step.batch.size();
  return count;
}

std::string SmallWorld::Describe() const {
  std::string text =
      "max_versions " + std::to_string(max_versions) + ", ttl " + std::to_string(ttl_micros) +
      (switches_memstores ? ", a memstore for every batch" : "") +
      (two_families ? ", two families" : "") + (rising ? ", rising timestamps" : "") +
      (lists ? ", lists" : "") + (unique_a ? ", by_a unique" : "") +
      (unique_all ? ", by_all unique" : "") + (includes ? ", included columns" : "") +
      (globals ? ", global indexes" : "") + (keys ? ", parts of keys" : "") +
      (calls ? ", calls" : "") + (joined ? ", joined columns" : "") + (maps ? ", maps" : "") +
      (loads ? ", loads" : "");
  for (const IndexOptions& index : PlanOf(*this).options.indexes) {
    if (!index.where.empty()) text += ", " + index.name + " over " + index.ToString();
  }
  for (const std::string& key : split_keys) text += ", a region from " + key;
  for (const SmallStep& step : steps) text += "\n    " + step.Describe();
  return text;
}

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
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (dice.Chance(25)) world.split_keys.push_back(kRows[i]);
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

// See generator.h.
#include "tools/stress/generator.h"

#include "tools/stress/schema.h"

namespace tandem::stress {
namespace {

using test::ModelOperation;
using OperationKind = ModelOperation::Kind;

class ScriptGenerator {
 public:
  explicit ScriptGenerator(Script* script)
      : script_(*script), dice_(script->seed), tables_(NewTables(script->seed, script->rows)) {}

  void Add(uint64_t steps);

 private:
  void AddUsual();
  void AddMaintenance();
  void AddChange();
  void AddDrop();
  void AddCrash();
  void AddFault();
  Step Simple(Step::Kind kind, uint64_t number = 0) {
    Step step;
    step.kind = kind;
    step.number = number;
    return step;
  }
  Step Write();
  Step Load(const std::string& table);
  void AddMirrored(Step* step);
  ModelOperation Operation(bool loose);
  std::optional<int64_t> Time();
  std::string Table() { return dice_.Chance(45) ? kNorth : dice_.Chance(80) ? kSouth : kLoose; }
  void Push(Step step) { script_.steps.push_back(std::move(step)); }

  Script& script_;
  test::Dice dice_;
  std::vector<test::TablePlan> tables_;
  int64_t time_ = 1000;
};

void ScriptGenerator::Add(uint64_t steps) {
  while (script_.steps.size() < steps) {
    const uint64_t choice = dice_.Below(1000);
    const bool may_fail = script_.mode != Mode::kPlain;
    if (choice < 940 || !may_fail) {
      AddUsual();
    } else if (choice < 980) {
      if (dice_.Chance(40)) script_.mode == Mode::kCrash ? AddCrash() : AddFault();
    } else if (dice_.Chance(10)) {
      Push(Simple(Step::Kind::kReopen));
    }
  }
  for (const char* table : {kNorth, kSouth, kLoose}) {
    Step create = Simple(Step::Kind::kCreate);
    create.name = table;
    Push(create);
    Step check = Simple(Step::Kind::kCheck, dice_.Below(1'000'000));
    check.name = table;
    Push(check);
  }
  Push(Simple(Step::Kind::kVerify));
  Push(Simple(Step::Kind::kReopen));
}

void ScriptGenerator::AddUsual() {
  const uint64_t choice = dice_.Below(1000);
  if (choice < 700) return Push(Write());
  if (choice < 775) return Push(Simple(Step::Kind::kAdvance, dice_.Below(5000)));
  if (choice < 895) return AddMaintenance();
  if (choice < 930) return AddChange();
  Step check = Simple(Step::Kind::kCheck, dice_.Below(1'000'000));
  check.name = Table();
  Push(check);
}

void ScriptGenerator::AddMaintenance() {
  const uint64_t choice = dice_.Below(100);
  if (choice < 40) return Push(Simple(Step::Kind::kWork, 1 + dice_.Below(2)));
  if (choice < 55) return Push(Simple(Step::Kind::kWork));
  if (choice < 66) return Push(Simple(Step::Kind::kSnapshot));
  if (choice < 76) return Push(Simple(Step::Kind::kRelease));
  if (choice < 78) return Push(Simple(Step::Kind::kVerify));
  if (choice < 80 && script_.mode == Mode::kPlain) return Push(Simple(Step::Kind::kReopen));
  if (choice < 82) {
    Step step = Simple(Step::Kind::kSplit, dice_.Below(1'000'000));
    if (step.number / 8 % 5 < 2) step.kind = Step::Kind::kMergeRegions;
    step.name = dice_.Chance(50) ? kNorth : kSouth;
    return Push(step);
  }
  Step care = Simple(choice < 95 ? Step::Kind::kFlush : Step::Kind::kCompact);
  if (care.kind == Step::Kind::kCompact || dice_.Chance(80)) care.name = Table();
  Push(care);
}

/// Of a table, or of the named snapshots.
void ScriptGenerator::AddChange() {
  const uint64_t choice = dice_.Below(100);
  const auto of = [&](Step::Kind kind, std::string table) {
    Step step = Simple(kind, dice_.Below(1'000'000));
    step.name = std::move(table);
    Push(step);
  };
  const char* const mirrored = dice_.Chance(50) ? kNorth : kSouth;
  if (choice < 28) return of(Step::Kind::kChangeIndex, mirrored);
  if (choice < 52) return Push(Load(mirrored));
  if (choice < 62) return of(Step::Kind::kObserve, mirrored);
  if (choice < 74) return Push(Simple(Step::Kind::kNameSnapshot));
  if (choice < 82) return Push(Simple(Step::Kind::kDropSnapshot, dice_.Below(1'000'000)));
  if (choice < 89) return of(Step::Kind::kRename, Table());
  if (choice < 92) return of(Step::Kind::kCreate, Table());
  if (choice < 96) return of(Step::Kind::kTruncate, Table());
  AddDrop();
}

/// A table is dropped, and made again after some work that finds it missing.
void ScriptGenerator::AddDrop() {
  Step step = Simple(Step::Kind::kDrop);
  step.name = Table();
  Push(step);
  if (dice_.Chance(50)) {
    for (uint64_t count = dice_.Below(6); count > 0; --count) Push(Write());
  }
  step.kind = Step::Kind::kCreate;
  Push(step);
}

Step ScriptGenerator::Load(const std::string& table) {
  Step step = Simple(Step::Kind::kLoad);
  test::Generator generator(&dice_, &tables_[table == kNorth ? 0 : 1]);
  for (uint64_t count = 1 + dice_.Below(10); count > 0; --count) {
    ModelOperation put = generator.Put(0);
    put.timestamp = Time();
    step.operations.push_back(std::move(put));
  }
  return step;
}

/// Work that the cut interrupts, then the cut; what one recovery left is put to the test of the
/// next before anything else made it durable.
void ScriptGenerator::AddCrash() {
  if (dice_.Chance(20)) return Push(Simple(Step::Kind::kKill));
  if (dice_.Chance(35)) {
    Push(Simple(Step::Kind::kPowerOffAt, 1 + dice_.Below(15)));
    AddChange();
  } else if (dice_.Chance(75)) {
    Push(Simple(Step::Kind::kPowerOffAt, 1 + dice_.Below(dice_.Chance(50) ? 30 : 300)));
    for (uint64_t count = dice_.Below(40); count > 0; --count) AddUsual();
  }
  do {
    Step crash = Simple(Step::Kind::kCrash, dice_.Below(1'000'000'000));
    const uint64_t kept = dice_.Below(6);
    crash.name = kept == 0 ? "none" : kept == 1 ? "all" : "random";
    crash.how = dice_.Chance(70) ? "torn" : "whole";
    crash.again = dice_.Chance(30) ? 1 + dice_.Below(60) : 0;
    Push(crash);
  } while (dice_.Chance(35));
}

void ScriptGenerator::AddFault() {
  if (dice_.Chance(45)) {
    Push(Simple(Step::Kind::kSpace, dice_.Below(dice_.Chance(50) ? 2'000 : 60'000)));
  } else {
    static const std::vector<std::string> kFaulted = {
        "any",    "read", "read",   "write", "write",          "write",    "sync",       "sync",
        "create", "open", "remove", "list",  "directory-sync", "truncate", "preallocate"};
    Step fault = Simple(Step::Kind::kFault, 1 + dice_.Below(20));
    fault.name = dice_.Pick(kFaulted);
    fault.how = dice_.Chance(50) ? "once" : dice_.Chance(50) ? "sticky" : "partly";
    const bool takes_space = fault.name == "write" || fault.name == "preallocate";
    fault.error = takes_space && dice_.Chance(30) ? "space" : "io";
    Push(fault);
  }
  if (dice_.Chance(40)) AddChange();
  for (uint64_t count = 1 + dice_.Below(60); count > 0; --count) AddUsual();
  Push(Simple(Step::Kind::kHeal));
  if (!dice_.Chance(30)) return;
  Step crash = Simple(Step::Kind::kCrash, dice_.Below(1'000'000'000));
  crash.name = "random";
  crash.how = "torn";
  Push(crash);
}

Step ScriptGenerator::Write() {
  Step step;
  const bool loose = dice_.Chance(6);
  const uint64_t level = dice_.Below(20);
  step.durability = loose        ? Durability::kMemory
                    : level == 0 ? Durability::kSynced
                    : level < 6  ? Durability::kBuffered
                                 : Durability::kWritten;
  for (uint64_t count = dice_.Chance(50) ? 1 : 1 + dice_.Below(6); count > 0; --count) {
    step.operations.push_back(Operation(loose));
    if (!loose && dice_.Chance(30)) AddMirrored(&step);
  }
  return step;
}

/// The last operation on the other table too, so that a batch spans tables.
void ScriptGenerator::AddMirrored(Step* step) {
  ModelOperation mirrored = step->operations.back();
  mirrored.table = mirrored.table == kNorth ? kSouth : kNorth;
  step->operations.push_back(std::move(mirrored));
}

std::optional<int64_t> ScriptGenerator::Time() {
  if (script_.mode == Mode::kCrash && dice_.Chance(60)) return std::nullopt;
  if (dice_.Chance(80)) return ++time_;
  return static_cast<int64_t>(dice_.Below(static_cast<uint64_t>(time_)));
}

ModelOperation ScriptGenerator::Operation(bool loose) {
  const size_t table = loose ? 2 : dice_.Chance(55) ? 0 : 1;
  ModelOperation operation = test::Generator(&dice_, &tables_[table]).Operation(0);
  // What depends on stored data is logged, and nothing of the loose table is.
  if (loose && operation.reads()) {
    operation.kind = OperationKind::kDeleteColumn;
    operation.columns = {{operation.columns[0].first, ""}};
  }
  const bool is_update =
      operation.kind == OperationKind::kIncrement || operation.kind == OperationKind::kAppend;
  if (is_update && script_.mode == Mode::kCrash) return operation;
  // An update takes the database's own time, which failed writes move on.
  if (is_update) operation.kind = OperationKind::kPut;
  operation.timestamp = Time();
  if (operation.kind == OperationKind::kDeleteCell && !loose && dice_.Chance(60))
    operation.timestamp.reset();
  return operation;
}

}  // namespace

Script NewScript(Mode mode, uint64_t seed, uint64_t rows, uint64_t steps) {
  Script script;
  script.mode = mode;
  script.seed = seed;
  script.rows = rows;
  ScriptGenerator(&script).Add(steps);
  uint64_t line = 4;
  for (Step& step : script.steps) step.line = ++line;
  return script;
}

}  // namespace tandem::stress

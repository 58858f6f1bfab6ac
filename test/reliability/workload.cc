// See workload.h.
#include "test/reliability/workload.h"

#include <algorithm>

#include "tools/generator/generator.h"
#include "tools/generator/tuning.h"
#include "tools/simulation/bulk_load.h"

namespace tandem::reliability {
namespace {

using test::Dice;
using test::Generator;
using test::ModelOperation;
using test::TablePlan;
using test::ValueKind;

const char* DurabilityName(Durability durability) {
  switch (durability) {
    case Durability::kMemory:
      return "memory";
    case Durability::kBuffered:
      return "buffered";
    case Durability::kWritten:
      return "written";
    case Durability::kSynced:
      return "synced";
  }
  return "unknown";
}

// Few rows and small values, so that a run of each operation of the disk is short; values of up to
// 9,000 bytes fill memstores and log segments.
TablePlan RandomTable(const std::string& name, Dice* dice) {
  TablePlan plan;
  TableOptions& table = plan.options;
  table.name = name;
  table.families = {{.name = "d", .max_versions = 1 + static_cast<uint32_t>(dice->Below(3))}};
  if (dice->Chance(50)) table.families.push_back({.name = "m", .block_size_bytes = 512});
  table.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}};
  if (dice->Chance(50)) {
    table.indexes.push_back(
        {.name = "by_n",
         .columns = {{.family = "d", .qualifier = "n", .type = ColumnType::kInt64}}});
  }
  if (dice->Chance(30)) {
    table.indexes.push_back(
        {.name = "by_start",
         .columns = {{.family = "d",
                      .qualifier = "c",
                      .functions = {Function::Substring(1, 1), Function::Lower()}}}});
  }
  if (dice->Chance(30)) {
    table.indexes.push_back(
        {.name = "by_words",
         .columns = {{.family = "d", .qualifier = "c", .functions = {Function::Words()}}}});
  }
  if (dice->Chance(30)) {
    table.indexes.push_back({.name = "by_qualifier",
                             .columns = {{.family = dice->Pick(table.families).name,
                                          .functions = {Function::MapKeys()}}}});
  }
  if (dice->Chance(50)) {
    table.indexes.push_back(
        {.name = "by_c_n",
         .columns = {{.family = "d", .qualifier = "c"},
                     {.family = "d", .qualifier = "n", .type = ColumnType::kInt64}}});
  }
  if (dice->Chance(50)) {
    const std::string wheres[] = {"n IS NULL", "n::int64 >= 0 OR c < 'm'", "NOT c < 'm'"};
    table.indexes.push_back({.name = "by_part",
                             .columns = {{.family = "d", .qualifier = "c"}},
                             .where = wheres[dice->Below(std::size(wheres))]});
  }
  if (dice->Chance(50)) table.split_keys = {"r3"};
  for (int row = 0; row < 6; ++row) plan.keys.push_back("r" + std::to_string(row));
  plan.columns = {{.qualifier = "c", .kind = ValueKind::kText, .family = "d", .weight = 5},
                  {.qualifier = "n", .kind = ValueKind::kInteger, .family = "d", .weight = 3},
                  {.qualifier = "v", .kind = ValueKind::kLong, .family = "d"},
                  {.qualifier = "x", .kind = ValueKind::kBytes, .family = "m"}};
  plan.timestamps = test::Timestamps::kNone;
  plan.puts = 60;
  return plan;
}

// A batch is logged or not as a whole. On the tables that need not be logged some are.
Step RandomWrite(const std::vector<TablePlan>& plans, const TablePlan& plan, Dice* dice) {
  constexpr Durability kDurabilities[] = {Durability::kBuffered, Durability::kWritten,
                                          Durability::kWritten, Durability::kSynced};
  Step step;
  const bool in_memory = plan.unlogged && !dice->Chance(33);
  step.durability = in_memory ? Durability::kMemory : kDurabilities[dice->Below(4)];
  for (uint64_t count = dice->Chance(50) ? 1 : 1 + dice->Below(4); count > 0; --count) {
    const TablePlan& other = dice->Pick(plans);
    const bool takes_other = dice->Chance(33) && other.unlogged == plan.unlogged;
    step.batch.push_back(Generator(dice, takes_other ? &other : &plan).Operation(0));
  }
  const bool reads = std::any_of(step.batch.begin(), step.batch.end(),
                                 [](const ModelOperation& operation) { return operation.reads(); });
  step.in_transaction = !in_memory && !reads && dice->Chance(33);
  step.in_check = !in_memory && !step.in_transaction && dice->Chance(25);
  step.in_bulk = !step.in_transaction && !step.in_check && !plan.unlogged &&
                 test::MayBeLoaded(step.batch) && dice->Chance(25);
  if (step.in_bulk) step.durability = Durability::kSynced;
  return step;
}

Step RandomStep(const std::vector<TablePlan>& plans, Dice* dice) {
  Step step;
  const uint64_t choice = dice->Below(21);
  const TablePlan& plan = dice->Pick(plans);
  // What is not logged is lost region by region: the oracle does not know how it ends.
  if (choice == 11 && !plan.unlogged) {
    step.kind = dice->Chance(50)   ? Step::Kind::kToggleIndex
                : dice->Chance(33) ? Step::Kind::kRenewFamily
                : dice->Chance(50) ? Step::Kind::kAlterFamily
                : dice->Chance(50) ? Step::Kind::kTruncate
                                   : Step::Kind::kDropAndCreate;
    step.table = plan.options.name;
    return step;
  }
  if (choice < 12) return RandomWrite(plans, plan, dice);
  // What regions of an unlogged table lose is no end of the batches.
  if (choice == 20) {
    step.kind = Step::Kind::kToggleSnapshot;
    step.key = dice->Chance(50) ? "x" : "y";
    return step;
  }
  const bool may_split = !plan.unlogged && dice->Chance(50);
  step.kind = choice < 15   ? Step::Kind::kFlush
              : choice < 16 ? (!may_split         ? Step::Kind::kCompact
                               : dice->Chance(33) ? Step::Kind::kMergeRegions
                                                  : Step::Kind::kSplit)
              : choice < 18 ? Step::Kind::kRunJob
                            : Step::Kind::kReopen;
  const bool is_of_table = step.kind == Step::Kind::kCompact || step.kind == Step::Kind::kSplit ||
                           step.kind == Step::Kind::kMergeRegions;
  if (is_of_table || dice->Chance(50)) step.table = plan.options.name;
  return step;
}

}  // namespace

std::string Step::Describe() const {
  constexpr const char* kNames[] = {"write",
                                    "create table",
                                    "flush",
                                    "compact",
                                    "split",
                                    "merge regions",
                                    "truncate",
                                    "drop and create",
                                    "create or drop an index",
                                    "create or drop a snapshot",
                                    "drop and add a family",
                                    "alter a family",
                                    "copy onto itself",
                                    "run one job",
                                    "close and reopen"};
  std::string text = kNames[static_cast<int>(kind)];
  if (in_transaction) text += " in a transaction";
  if (in_check) text += " by a check";
  if (in_bulk) text += " in bulk";
  if (kind == Kind::kWrite) text += std::string(" ") + DurabilityName(durability) + ":";
  for (const ModelOperation& operation : batch) text += " " + operation.Describe() + ";";
  return table.empty() ? text : text + " " + table;
}

bool Workload::IsUnlogged(const std::string& table) const {
  return std::count(unlogged.begin(), unlogged.end(), table) > 0;
}

bool Workload::Alters(const std::string& table) const {
  return std::any_of(steps.begin(), steps.end(), [&table](const Step& step) {
    return step.kind == Step::Kind::kAlterFamily && step.table == table;
  });
}

std::string Workload::Describe() const {
  std::string text = "workload '" + name + "', seed " + std::to_string(seed);
  for (size_t i = 0; i < steps.size(); ++i) {
    text += "\n  step " + std::to_string(i + 1) + ": " + steps[i].Describe();
  }
  return text;
}

engine::Tuning TinyTuning() {
  engine::Tuning tuning = test::SmallTuning();
  tuning.block_cache_bytes = 256 << 10;
  tuning.overlap_bytes = 256 << 10;
  tuning.log_segment_bytes = 16 << 10;
  tuning.log_former_segments = 1;
  return tuning;
}

Workload RandomWorkload(uint64_t seed) {
  Dice dice(seed);
  Workload workload;
  workload.name = "random-" + std::to_string(seed);
  workload.seed = seed;
  workload.tuning = TinyTuning();
  if (dice.Chance(50)) {
    workload.tuning.memstore_bytes = 8 << 10;
    workload.tuning.log_segment_bytes = 1 << 10;
  }
  if (dice.Chance(50)) workload.tuning.log_former_segments = 16;
  if (dice.Chance(50)) workload.tuning.join_bytes = dice.Chance(50) ? 0 : 2048;
  if (dice.Chance(33)) workload.unlogged.push_back("u");
  std::vector<TablePlan> plans;
  for (const char* name : {"t", "u"}) {
    TablePlan& plan = plans.emplace_back(RandomTable(name, &dice));
    plan.unlogged = workload.IsUnlogged(name);
    // What is not logged may be lost region by region, and the oracle looks for prefixes.
    if (plan.unlogged) plan.options.split_keys.clear();
    workload.tables.push_back(plan.options);
    workload.steps.push_back({.kind = Step::Kind::kCreateTable, .table = name});
  }
  for (uint64_t count = 4 + dice.Below(6); count > 0; --count) {
    workload.steps.push_back(RandomStep(plans, &dice));
  }
  return workload;
}

}  // namespace tandem::reliability

// See workload.h.
#include "test/reliability/workload.h"

#include <algorithm>

#include "base/random.h"
#include "test/support/small_tuning.h"

namespace tandem::reliability {
namespace {

using test::ModelOperation;
using Kind = ModelOperation::Kind;

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

/// Random choices of one workload.
class Choices {
 public:
  explicit Choices(uint64_t seed) : random_(base::NewSeededRandom(seed)) {}
  uint64_t Below(uint64_t limit) { return random_->Next64() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  std::unique_ptr<base::RandomSource> random_;
};

TableOptions RandomTable(const std::string& name, Choices* choices) {
  TableOptions table;
  table.name = name;
  table.families = {{.name = "d", .max_versions = 1 + static_cast<uint32_t>(choices->Below(3))}};
  if (choices->OneIn(2)) table.families.push_back({.name = "m", .block_size_bytes = 512});
  table.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}};
  if (choices->OneIn(2)) {
    table.indexes.push_back(
        {.name = "by_n",
         .columns = {{.family = "d", .qualifier = "n", .type = ColumnType::kInt64}}});
  }
  if (choices->OneIn(2)) table.split_keys = {"r3"};
  return table;
}

ModelOperation RandomPut(const TableOptions& table, Choices* choices) {
  ModelOperation put{Kind::kPut, table.name, "r" + std::to_string(choices->Below(6)), "d", {}, {}};
  if (table.families.size() > 1 && choices->OneIn(3)) {
    put.family = "m";
    put.columns = {{"x", std::string(choices->Below(40), 'x')}};
    return put;
  }
  put.columns.emplace_back("c", std::string(1, static_cast<char>('a' + choices->Below(3))));
  if (choices->OneIn(2)) put.columns.emplace_back("n", std::to_string(choices->Below(20)));
  if (choices->OneIn(6)) put.columns.emplace_back("v", std::string(choices->Below(9000), 'v'));
  return put;
}

ModelOperation RandomOperation(const TableOptions& table, Choices* choices) {
  ModelOperation operation = RandomPut(table, choices);
  const uint64_t kind = choices->Below(10);
  if (kind < 6) return operation;
  constexpr Kind kDeletes[] = {Kind::kDeleteCell, Kind::kDeleteColumn, Kind::kDeleteFamily,
                               Kind::kDeleteRow};
  operation.kind = kDeletes[kind - 6];
  operation.columns.resize(kind < 8 ? 1 : 0);
  if (kind < 8) operation.columns[0].second.clear();
  return operation;
}

// A batch is logged or not as a whole. On the tables that need not be logged some are.
Step RandomWrite(const Workload& workload, const TableOptions& table, Choices* choices) {
  constexpr Durability kDurabilities[] = {Durability::kBuffered, Durability::kWritten,
                                          Durability::kWritten, Durability::kSynced};
  Step step;
  const bool unlogged = workload.IsUnlogged(table.name);
  const bool in_memory = unlogged && !choices->OneIn(3);
  step.durability = in_memory ? Durability::kMemory : kDurabilities[choices->Below(4)];
  for (uint64_t count = choices->OneIn(2) ? 1 : 1 + choices->Below(4); count > 0; --count) {
    const TableOptions& other = workload.tables[choices->Below(workload.tables.size())];
    const bool takes_other = choices->OneIn(3) && workload.IsUnlogged(other.name) == unlogged;
    step.batch.push_back(RandomOperation(takes_other ? other : table, choices));
  }
  return step;
}

Step RandomStep(const Workload& workload, Choices* choices) {
  Step step;
  const uint64_t choice = choices->Below(20);
  const TableOptions& table = workload.tables[choices->Below(workload.tables.size())];
  if (choice < 12) return RandomWrite(workload, table, choices);
  // What regions of an unlogged table lose is no end of the batches.
  const bool may_split = !workload.IsUnlogged(table.name) && choices->OneIn(2);
  step.kind = choice < 15   ? Step::Kind::kFlush
              : choice < 16 ? (!may_split          ? Step::Kind::kCompact
                               : choices->OneIn(3) ? Step::Kind::kMergeRegions
                                                   : Step::Kind::kSplit)
              : choice < 18 ? Step::Kind::kRunJob
                            : Step::Kind::kReopen;
  const bool is_of_table = step.kind == Step::Kind::kCompact || step.kind == Step::Kind::kSplit ||
                           step.kind == Step::Kind::kMergeRegions;
  if (is_of_table || choices->OneIn(2)) step.table = table.name;
  return step;
}

}  // namespace

std::string Step::Describe() const {
  constexpr const char* kNames[] = {"write", "create table",  "flush",       "compact",
                                    "split", "merge regions", "run one job", "close and reopen"};
  std::string text = kNames[static_cast<int>(kind)];
  if (kind == Kind::kWrite) text += std::string(" ") + DurabilityName(durability) + ":";
  for (const ModelOperation& operation : batch) text += " " + operation.Describe() + ";";
  return table.empty() ? text : text + " " + table;
}

bool Workload::IsUnlogged(const std::string& table) const {
  return std::count(unlogged.begin(), unlogged.end(), table) > 0;
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
  Choices choices(seed);
  Workload workload;
  workload.name = "random-" + std::to_string(seed);
  workload.seed = seed;
  workload.tuning = TinyTuning();
  if (choices.OneIn(2)) {
    workload.tuning.memstore_bytes = 8 << 10;
    workload.tuning.log_segment_bytes = 1 << 10;
  }
  if (choices.OneIn(2)) workload.tuning.log_former_segments = 16;
  if (choices.OneIn(3)) workload.unlogged.push_back("u");
  for (const char* name : {"t", "u"}) {
    workload.tables.push_back(RandomTable(name, &choices));
    // What is not logged may be lost region by region, and the oracle looks for prefixes.
    if (workload.IsUnlogged(name)) workload.tables.back().split_keys.clear();
    workload.steps.push_back({.kind = Step::Kind::kCreateTable, .table = name});
  }
  for (uint64_t count = 4 + choices.Below(6); count > 0; --count) {
    workload.steps.push_back(RandomStep(workload, &choices));
  }
  return workload;
}

}  // namespace tandem::reliability

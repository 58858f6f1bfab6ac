// The scripts of the shapes.
#include <functional>
#include <utility>

#include "test/reliability/shape.h"
#include "test/reliability/shape_maker.h"
#include "test/reliability/workload.h"

namespace tandem::reliability {
namespace {

using test::ModelOperation;
using Kind = ModelOperation::Kind;

ModelOperation Operation(Kind kind, std::string table, std::string row, std::string family,
                         int64_t timestamp) {
  ModelOperation operation;
  operation.kind = kind;
  operation.table = std::move(table);
  operation.row = std::move(row);
  operation.family = std::move(family);
  operation.timestamp = timestamp;
  return operation;
}

std::string Numbered(const char* prefix, uint64_t number) {
  const std::string digits = std::to_string(number);
  return prefix + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

/// Text of a number that compresses badly, so that flips meet bytes that matter.
std::string Noise(uint64_t number, size_t length) {
  std::string text;
  uint64_t state = number * 0x9E3779B97F4A7C15ull + 1;
  while (text.size() < length) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    text.push_back(static_cast<char>('a' + state % 26));
  }
  return text;
}

TableOptions Table(std::string name, std::vector<FamilyOptions> families) {
  TableOptions table;
  table.name = std::move(name);
  table.families = std::move(families);
  return table;
}

IndexOptions Index(std::string name, std::string family, std::string qualifier, ColumnType type) {
  return {std::move(name), {{std::move(family), std::move(qualifier), type, false}}};
}

ModelOperation SmallPut(uint64_t number) {
  auto put = Operation(Kind::kPut, "t", Numbered("key", number * 37 % 121), "d",
                       1000 + static_cast<int64_t>(number));
  put.columns = {{"size", std::to_string(number % 7)}, {"name", Noise(number, 20)}};
  return put;
}

void CreateSmallTable(ShapeMaker* maker) {
  TableOptions table = Table("t", {{.name = "d"}});
  table.indexes = {Index("size", "d", "size", ColumnType::kInt64)};
  maker->CreateTable(table);
}

/// 121 keys one by one, of which 80 are flushed before the others are written.
Shape MakeSmall(uint64_t seed) {
  ShapeMaker maker("small", seed);
  CreateSmallTable(&maker);
  for (uint64_t i = 0; i < 121; ++i) {
    if (i == 80) maker.Flush();
    maker.Write({SmallPut(i)}, i == 120 ? Durability::kSynced : Durability::kWritten);
    if (i % 40 == 0) maker.Remember();
  }
  return maker.Close();
}

/// Two families, rows of one or both, deletes of every kind, an overflow value and a wide row.
Shape MakeFamilies(uint64_t seed) {
  ShapeMaker maker("families", seed);
  TableOptions table = Table("f", {{.name = "a", .max_versions = 3}, {.name = "b"}});
  table.indexes = {Index("kind", "a", "kind", ColumnType::kText)};
  maker.CreateTable(table);
  for (uint64_t i = 0; i < 24; ++i) {
    auto put = Operation(Kind::kPut, "f", Numbered("r", i % 16), i % 3 == 0 ? "b" : "a",
                         static_cast<int64_t>(100 + i));
    put.columns = {{"kind", std::to_string(i % 5)}, {"x", Noise(i, 30)}};
    maker.Write({put});
    if (i == 12) maker.Flush();
  }
  auto wide = Operation(Kind::kPut, "f", "wide", "b", 500);
  for (uint64_t i = 0; i < 900; ++i) {
    wide.columns.emplace_back(Numbered("q", i), std::string(80, static_cast<char>('a' + i % 20)));
  }
  auto far = Operation(Kind::kPut, "f", "far", "a", 501);
  far.columns = {{"kind", "3"}};
  auto overflow_value = Operation(Kind::kPut, "f", "far", "b", 502);
  overflow_value.columns = {{"v", std::string(70'000, 'v') + Noise(7, 200)}};
  maker.Write({wide, far, overflow_value});
  auto column = Operation(Kind::kDeleteColumn, "f", Numbered("r", 4), "a", 900);
  column.columns = {{"x", ""}};
  maker.Write({column, Operation(Kind::kDeleteRow, "f", Numbered("r", 5), "", 900),
               Operation(Kind::kDeleteFamily, "f", Numbered("r", 6), "b", 900)});
  return maker.Close();
}

/// Two indexes of few and of many values over files that overlap, so that postings are stale.
Shape MakeIndexes(uint64_t seed) {
  ShapeMaker maker("indexes", seed);
  TableOptions table = Table("i", {{.name = "d", .compression = Compression::kNone}});
  table.indexes = {Index("few", "d", "few", ColumnType::kBytes),
                   Index("many", "d", "many", ColumnType::kInt64)};
  maker.CreateTable(table);
  for (uint64_t i = 0; i < 90; ++i) {
    const auto timestamp = static_cast<int64_t>(100 + i);
    auto put = Operation(Kind::kPut, "i", Numbered("k", i * 17 % 48), "d", timestamp);
    put.columns = {{"few", std::to_string(i % 2 * 3)}, {"many", std::to_string(i % 29)}};
    if (i % 11 == 7) put = Operation(Kind::kDeleteRow, "i", put.row, "", timestamp);
    maker.Write({put}, Durability::kWritten);
    if (i == 40 || i == 70) maker.Flush();
  }
  return maker.Close();
}

/// Regions with files that were compacted, two tables, and a database that was opened three times.
Shape MakeRegions(uint64_t seed) {
  ShapeMaker maker("regions", seed);
  TableOptions table = Table("r", {{.name = "d"}});
  table.split_keys = {"k0010", "k0020"};
  table.indexes = {Index("v", "d", "v", ColumnType::kUint64)};
  maker.CreateTable(table);
  maker.CreateTable(Table("other", {{.name = "e"}}));
  for (uint64_t i = 0; i < 72; ++i) {
    auto put =
        Operation(Kind::kPut, "r", Numbered("k", i * 7 % 30), "d", static_cast<int64_t>(100 + i));
    put.columns = {{"v", std::to_string(i % 6)}};
    auto other =
        Operation(Kind::kPut, "other", Numbered("o", i % 9), "e", static_cast<int64_t>(100 + i));
    other.columns = {{"n", Noise(i, 12)}};
    maker.Write({put, other});
    if (i % 24 == 11) maker.Flush();
    if (i == 40) maker.Compact("r");
    if (i == 30 || i == 60) maker.Reopen();
  }
  return maker.Close();
}

/// Killed: some batches in files, the others in several segments of the log, each synced; with
/// `tail` some unsynced ones after them.
Shape MakeKilled(const char* name, uint64_t seed, uint64_t tail) {
  constexpr uint64_t kFlushed = 16, kSynced = 48;
  ShapeMaker maker(name, seed);
  CreateSmallTable(&maker);
  for (uint64_t i = 0; i < kSynced + tail; ++i) {
    if (i == kFlushed) maker.Flush();
    maker.Write({SmallPut(i)}, i < kSynced ? Durability::kSynced : Durability::kWritten);
    if (i % 16 == 0) maker.Remember();
  }
  // A frame says what was durable when it was written: the last synced one has no witness when none
  // follows it.
  return maker.Kill(tail == 0 ? kSynced - 1 : kSynced);
}

/// The steps of a random workload.
Shape MakeRandom(const Workload& workload, uint64_t seed) {
  ShapeMaker maker(workload.name, seed);
  int64_t timestamp = 1000;
  for (const Step& step : workload.steps) {
    switch (step.kind) {
      case Step::Kind::kCreateTable:
        maker.CreateTable(workload.tables[step.table == workload.tables[0].name ? 0 : 1]);
        break;
      case Step::Kind::kWrite: {
        std::vector<ModelOperation> batch = step.batch;
        for (ModelOperation& operation : batch) operation.timestamp = ++timestamp;
        maker.Write(batch, step.durability);
        break;
      }
      case Step::Kind::kFlush:
        maker.Flush();
        break;
      case Step::Kind::kCompact:
        maker.Compact(step.table);
        break;
      case Step::Kind::kSplit:
        maker.Split(step.table, step.key);
        break;
      case Step::Kind::kMergeRegions:
        maker.MergeRegions(step.table, step.key);
        break;
      case Step::Kind::kReopen:
        maker.Reopen();
        break;
      case Step::Kind::kTruncate:
      case Step::Kind::kDropAndCreate:
      case Step::Kind::kToggleIndex:
      case Step::Kind::kToggleSnapshot:
      case Step::Kind::kRenewFamily:
      case Step::Kind::kAlterFamily:
      case Step::Kind::kCopyTable:
      case Step::Kind::kRunJob:
        break;
    }
  }
  return maker.Close();
}

using Make = std::function<Shape(uint64_t)>;

Shape WithTwin(const Make& make, uint64_t seed) {
  Shape shape = make(seed);
  shape.twin = make(seed + 1'000'003).files;
  return shape;
}

}  // namespace

Shape NewRandomShape(uint64_t seed) {
  const Workload workload = RandomWorkload(seed);
  return WithTwin([&workload](uint64_t s) { return MakeRandom(workload, s); }, seed);
}

Shape NewSmallShape(uint64_t seed) { return WithTwin(MakeSmall, seed); }

std::vector<Shape> NewShapes(uint64_t seed) {
  const std::vector<Make> makes = {
      MakeSmall,
      MakeFamilies,
      MakeIndexes,
      MakeRegions,
      [](uint64_t s) { return MakeKilled("killed", s, 8); },
      [](uint64_t s) { return MakeKilled("killed after a sync", s, 0); },
  };
  std::vector<Shape> shapes;
  for (const Make& make : makes) shapes.push_back(WithTwin(make, seed));
  return shapes;
}

}  // namespace tandem::reliability

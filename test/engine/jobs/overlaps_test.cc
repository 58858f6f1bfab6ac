// Every shared and dead bit beside its definition (rules 12 and 13), over random histories: small
// worlds with timestamps in any order and all kinds of deletes, larger ones of many blocks. And how
// the engine builds, bounds and drops them.
#define BOOST_TEST_DYN_LINK
#include "engine/region/overlaps.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/jobs/overlap_walk.h"
#include "engine/runtime/background.h"
#include "test/engine/read_world.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::test {
namespace {

const std::vector<std::string> kFamilies = {"f", "g", "h"};
const std::vector<std::string> kColumns = {"a", "b", "c"};

// A file's rows by key, with owned cells.
struct PlainCell {
  format::CellKind kind;
  format::FamilyId family;
  std::string qualifier;
  int64_t timestamp;
};
struct PlainRow {
  uint32_t ordinal = 0;
  std::vector<PlainCell> cells;
};
using PlainFile = std::map<std::string, PlainRow>;

void AddFamily(format::StoreFile* file, format::FamilyId id, PlainFile* rows) {
  const format::DataSection& data = **file->Family(id);
  const format::Projection all(data.names(), nullptr, &data.blocks());
  BOOST_REQUIRE(data.LoadBlocks().ok());
  for (uint32_t block = 0; block < data.block_count(); ++block) {
    const auto read = data.ReadRows(block);
    BOOST_REQUIRE(read.has_value());
    for (uint32_t slot = 0; slot < (*read)->row_count(); ++slot) {
      std::string key;
      std::vector<format::Cell> cells;
      BOOST_REQUIRE((*read)->Key(slot, &key).ok());
      BOOST_REQUIRE((*read)->Cells(slot, all, &cells).ok());
      PlainRow& row = (*rows)[key];
      row.ordinal = data.OrdinalOf((*read)->first() + slot);
      for (const format::Cell& cell : cells) {
        row.cells.push_back({cell.kind, id, std::string(cell.qualifier), cell.timestamp});
      }
    }
  }
}

PlainFile ReadPlain(format::StoreFile* file) {
  PlainFile rows;
  for (const format::FamilyId family : file->families()) AddFamily(file, family, &rows);
  BOOST_REQUIRE_EQUAL(rows.size(), file->row_count());
  return rows;
}

bool Touches(const PlainCell& cell, const format::IndexColumnRecord& column) {
  return cell.family == column.family && cell.kind != format::CellKind::kDeleteCell &&
         (cell.kind == format::CellKind::kDeleteFamily || column.is_of_family() ||
          cell.qualifier == column.qualifier);
}

// The largest timestamp of a Put of the column in the file.
std::optional<int64_t> NewestPut(const PlainFile& file, const format::IndexColumnRecord& column) {
  std::optional<int64_t> newest;
  for (const auto& [key, row] : file) {
    for (const PlainCell& cell : row.cells) {
      if (cell.kind != format::CellKind::kPut || !Touches(cell, column)) continue;
      newest = std::max(newest.value_or(cell.timestamp), cell.timestamp);
    }
  }
  return newest;
}

// Rules 13 and 32 for one row of the newer file.
bool Supersedes(const PlainRow& row, const format::IndexColumnRecord& column, int64_t timestamp) {
  return std::any_of(row.cells.begin(), row.cells.end(), [&](const PlainCell& cell) {
    const bool may_kill = !column.is_of_family() || cell.kind == format::CellKind::kDeleteFamily;
    return may_kill && cell.timestamp >= timestamp && Touches(cell, column);
  });
}

std::vector<uint32_t> MembersOf(const engine::RowSet* set) {
  std::vector<uint32_t> members;
  if (set == nullptr) return members;
  for (uint32_t rank = 0; rank < set->count(); ++rank) members.push_back(set->At(rank));
  return members;
}

void CheckPair(const format::TableRecord& table, format::StoreFile* older_file,
               format::StoreFile* newer_file, const engine::PairOverlap& pair) {
  const PlainFile older = ReadPlain(older_file), newer = ReadPlain(newer_file);
  std::vector<uint32_t> older_shared, newer_shared;
  for (const auto& [key, row] : older) {
    if (!newer.contains(key)) continue;
    older_shared.push_back(row.ordinal);
    newer_shared.push_back(newer.at(key).ordinal);
  }
  BOOST_REQUIRE(MembersOf(pair.older_shared.get()) == older_shared);
  BOOST_REQUIRE(MembersOf(pair.newer_shared.get()) == newer_shared);
  BOOST_REQUIRE(pair.is_aligned);
  for (const format::IndexRecord& index : table.indexes) {
    const format::IndexColumnRecord& column = index.columns[0];
    const std::optional<int64_t> newest = NewestPut(older, column);
    std::vector<uint32_t> dead;
    for (const auto& [key, row] : older) {
      const auto other = newer.find(key);
      if (other == newer.end() || !newest.has_value()) continue;
      if (Supersedes(other->second, column, *newest)) dead.push_back(row.ordinal);
    }
    BOOST_REQUIRE_MESSAGE(MembersOf(pair.Dead(index.id)) == dead, "dead of " << index.name);
    const bool is_shared = pair.Dead(index.id) == pair.older_shared.get();
    BOOST_REQUIRE(is_shared || dead.empty() || dead != older_shared);
  }
}

void CheckEqual(const engine::PairOverlap& pair, const engine::PairOverlap& other) {
  BOOST_REQUIRE(MembersOf(pair.older_shared.get()) == MembersOf(other.older_shared.get()));
  BOOST_REQUIRE(MembersOf(pair.newer_shared.get()) == MembersOf(other.newer_shared.get()));
  BOOST_REQUIRE_EQUAL(pair.is_aligned, other.is_aligned);
  BOOST_REQUIRE_EQUAL(pair.dead.size(), other.dead.size());
  for (const auto& [index, dead] : pair.dead) {
    BOOST_REQUIRE(MembersOf(dead.get()) == MembersOf(other.Dead(index)));
  }
  BOOST_REQUIRE_EQUAL(pair.size_bytes(), other.size_bytes());
}

// All pairs of a region, of which there may be any number in one walk. Those that are built from
// the record of a flush are those that are built from its file.
void CheckRegion(const ReadWorld& world, const engine::RegionVersion& region) {
  for (size_t i = 1; i < region.files.size(); ++i) {
    std::vector<format::StoreFile*> older;
    for (size_t j = 0; j < i; ++j) older.push_back(&region.files[j].file->store());
    format::StoreFile* newer = &region.files[i].file->store();
    const auto pairs =
        engine::FindOverlaps({.table = world.table(), .newer = newer, .older = older});
    BOOST_REQUIRE_MESSAGE(pairs.has_value(), pairs.status().ToString());
    const auto record = region.files[i].file->record();
    const auto recorded = engine::FindOverlaps(
        {.table = world.table(), .newer = newer, .record = record.get(), .older = older});
    BOOST_REQUIRE_MESSAGE(recorded.has_value(), recorded.status().ToString());
    for (size_t j = 0; j < i; ++j) {
      CheckEqual((*pairs)[j], (*recorded)[j]);
      CheckPair(world.table(), older[j], newer, (*pairs)[j]);
      BOOST_REQUIRE_LE((*pairs)[j].size_bytes(),
                       engine::OverlapBytesMax(world.table(), *older[j], *newer));
    }
  }
}

struct Scale {
  size_t rows = 3;
  size_t steps = 30;
  size_t changes_per_step = 1;
  int64_t timestamps = 7;
  uint64_t deletes_one_in = 4;
};

// A random history; its files are checked whenever there are new ones.
class History {
 public:
  History(TestRandom& random, const Scale& scale)
      : random_(random), scale_(scale), world_(Options(random)) {}

  void Run() {
    for (size_t i = 0; i < scale_.steps; ++i) Step();
    for (size_t region = 0; region < world_.region_count(); ++region) {
      CheckRegion(world_, world_.region(region));
    }
  }

 private:
  static WorldOptions Options(TestRandom& random) {
    WorldOptions options;
    const size_t families = 1 + random.Below(kFamilies.size());
    for (size_t i = 0; i < families; ++i) {
      FamilyOptions& family = options.families.emplace_back();
      family.name = kFamilies[i];
      family.block_size_bytes = 512;
      family.max_versions = static_cast<uint32_t>(1 + random.Below(3));
    }
    for (const std::string& column : kColumns) {
      const std::string& family = kFamilies[random.Below(families)];
      options.indexes.push_back({"by_" + column, {{family, column, ColumnType::kText, false}}});
    }
    IndexColumn keys;
    keys.family = kFamilies[random.Below(families)];
    keys.functions = {Function::MapKeys()};
    options.indexes.push_back({"by_keys", {keys}});
    options.cache_bytes = random.OneIn(2) ? 0 : 1 << 20;
    return options;
  }

  std::string RowKey() {
    const uint64_t row = random_.Below(scale_.rows);
    if (scale_.rows <= 3) return std::string(1, static_cast<char>('p' + row));
    return "row" + std::to_string(100'000 + row * 7);
  }

  void Step() {
    const uint64_t choice = random_.Below(100);
    const size_t region = random_.Below(world_.region_count());
    if (choice < 60) {
      for (size_t i = 0; i < scale_.changes_per_step; ++i) Change();
    } else if (choice < 64) {
      world_.TakeSnapshot();
    } else if (choice < 66) {
      world_.DropSnapshot(random_.Below(4));
    } else if (choice < 88) {
      world_.Flush(region);
    } else if (choice < 98) {
      const size_t files = world_.file_count(region);
      if (files > 0) world_.Merge(region, random_.Below(files), 1 + random_.Below(2));
    } else {
      world_.Split(RowKey());
    }
  }

  void Change() {
    ModelOperation change;
    change.table = kWorldTable;
    change.row = RowKey();
    change.family =
        world_.table().families[random_.Below(world_.table().families.size())].options.name;
    if (scale_.timestamps > 0 && !random_.OneIn(4)) {
      change.timestamp = static_cast<int64_t>(1 + random_.Below(scale_.timestamps));
    }
    if (random_.OneIn(scale_.deletes_one_in)) {
      change.kind = static_cast<ModelOperation::Kind>(1 + random_.Below(4));
      change.columns.emplace_back(kColumns[random_.Below(3)], "");
    } else {
      for (const std::string& column : kColumns) {
        if (random_.OneIn(2)) change.columns.emplace_back(column, random_.OneIn(2) ? "1" : "2");
      }
      if (change.columns.empty()) change.columns.emplace_back("a", "1");
    }
    world_.Apply(change);
    world_.Advance(scale_.timestamps > 0 ? 0 : 1);
  }

  TestRandom& random_;
  Scale scale_;
  ReadWorld world_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(overlaps)

BOOST_AUTO_TEST_CASE(BitsOfSmallWorldsAreTheirDefinition) {
  TestRandom random("overlaps/BitsOfSmallWorldsAreTheirDefinition");
  for (size_t i = 0; i < Trials(1500); ++i) History(random, {}).Run();
}

BOOST_AUTO_TEST_CASE(BitsOfManyBlocksAreTheirDefinition) {
  TestRandom random("overlaps/BitsOfManyBlocksAreTheirDefinition");
  for (size_t i = 0; i < Trials(16); ++i) {
    Scale scale;
    scale.rows = 100 + random.Below(3000);
    scale.changes_per_step = 1 + random.Below(600);
    scale.timestamps = random.OneIn(2) ? 0 : 50;
    scale.deletes_one_in = random.OneIn(2) ? 1'000'000 : 20;
    History(random, scale).Run();
  }
}

// A walk over many blocks runs a task every so many, and ends though that one is due all the time.
BOOST_AUTO_TEST_CASE(AWalkRunsUrgentTasksAndEnds) {
  WorldOptions options;
  FamilyOptions& family = options.families.emplace_back();
  family.name = "f";
  family.block_size_bytes = 512;
  options.indexes.push_back({"by_a", {{"f", "a", ColumnType::kText, false}}});
  ReadWorld world(options);
  for (const char* value : {"1", "2"}) {
    for (int row = 0; row < 6000; ++row) {
      ModelOperation put;
      put.table = kWorldTable;
      put.row = std::to_string(100'000 + row);
      put.family = "f";
      put.columns.emplace_back("a", value + std::string(100, 'v'));
      world.Apply(put);
    }
    world.Flush(0);
  }
  const engine::RegionVersion& region = world.region(0);
  BOOST_REQUIRE_EQUAL(region.files.size(), 2u);
  format::StoreFile* const older[] = {&region.files[0].file->store()};
  format::StoreFile* const newer = &region.files[1].file->store();
  const auto alone = engine::FindOverlaps({.table = world.table(), .newer = newer, .older = older});
  BOOST_REQUIRE_EQUAL(alone.status().ToString(), "OK");

  ManualClock clock;
  InlineExecutor executor(clock);
  engine::BackgroundJobs jobs(&executor);
  uint64_t runs = 0;
  std::unique_ptr<engine::BackgroundTask> steady;
  steady = std::make_unique<engine::BackgroundTask>(&jobs, base::Priority::kHigh, [&] {
    ++runs;
    steady->Schedule();
  });
  steady->Schedule();
  const auto beside =
      engine::FindOverlaps({.table = world.table(), .newer = newer, .older = older, .jobs = &jobs});
  BOOST_REQUIRE_EQUAL(beside.status().ToString(), "OK");
  CheckEqual(alone->front(), beside->front());
  BOOST_REQUIRE_EQUAL(beside->front().older_shared->count(), 6000u);
  const format::DataSection& data = **newer->Family(newer->families().front());
  BOOST_REQUIRE(data.LoadBlocks().ok());
  const uint64_t blocks = data.block_count();
  BOOST_REQUIRE_GT(blocks, 500u);
  BOOST_CHECK_GE(runs, blocks / 100);  // A task waits for so many blocks,
  BOOST_CHECK_LE(runs, blocks / 10);   // and the walk has its share.
  jobs.Stop();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test

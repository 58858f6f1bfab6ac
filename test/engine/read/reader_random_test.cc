// Every way of reading, with overlaps and without, over random histories, beside the reference
// model. Small worlds (three rows, three columns of one to three families, few values, timestamps
// in any order) find the bugs; larger ones fill blocks and windows.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "engine/scan/changed_rows.h"
#include "engine/verify/reads.h"
#include "engine/verify/view.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"
#include "test/support/test_random.h"
#include "tools/generator/generator.h"

namespace tandem::test {
namespace {

struct Scale {
  size_t rows = 3;
  size_t steps = 25;
  size_t values = 3;
  size_t operations_per_step = 1;
  bool has_large_rows = false;  // Wide ones, and values that overflow.
};

std::vector<std::string> NewKeys(const Scale& scale) {
  std::vector<std::string> keys;
  for (size_t row = 0; row < scale.rows; ++row) {
    keys.push_back(scale.rows <= 3 ? std::string(1, static_cast<char>('p' + row))
                                   : "row" + std::to_string(100'000 + row * 7));
  }
  return keys;
}

TablePlan NewPlan(Dice* dice, const Scale& scale) {
  TablePlan plan;
  plan.options.name = kWorldTable;
  const size_t families = 1 + dice->Below(3);
  for (size_t i = 0; i < families; ++i) {
    plan.options.families.push_back(
        {.name = std::string(1, static_cast<char>('f' + i)),
         .max_versions = static_cast<uint32_t>(1 + dice->Below(3)),
         .ttl_micros = dice->Below(3 * families) == 0 ? 6 : 0,
         .compression = dice->Chance(50) ? Compression::kNone : Compression::kZstd,
         .block_size_bytes = 512});
  }
  const std::string& second = dice->Pick(plan.options.families).name;
  plan.options.indexes = {{"by_a", {{"", "a", ColumnType::kText, false}}},
                          {"by_b", {{second, "b", ColumnType::kInt64, dice->Chance(33)}}},
                          {"by_c", {{"", "c", ColumnType::kBytes, dice->Chance(33)}}},
                          {"by_a_b",
                           {{"", "a", ColumnType::kText, dice->Chance(33)},
                            {second, "b", ColumnType::kInt64, dice->Chance(33)}}},
                          {"by_c_b_a",
                           {{"", "c", ColumnType::kBytes, dice->Chance(33)},
                            {second, "b", ColumnType::kInt64, dice->Chance(33)},
                            {"", "a", ColumnType::kText, dice->Chance(33)}}}};
  plan.keys = NewKeys(scale);
  plan.columns = {{.qualifier = "a", .kind = ValueKind::kText, .weight = 8},
                  {.qualifier = "b", .kind = ValueKind::kInteger, .weight = 8},
                  {.qualifier = "c", .kind = ValueKind::kPlain, .weight = 8}};
  if (scale.has_large_rows) {
    plan.large_puts = 20;
    for (uint64_t number = 0; number < 20; ++number) {
      plan.columns.push_back({.qualifier = "p" + std::to_string(number), .kind = ValueKind::kLong});
    }
    for (const uint64_t number : {3, 250})
      plan.columns.push_back({.qualifier = LargeColumn(number)});
  } else {
    for (size_t i = 0; i < scale.values; ++i) plan.values.push_back(std::to_string(1 + i * i * 2));
  }
  plan.timestamps = dice->Chance(50) ? Timestamps::kSmall : Timestamps::kNone;
  plan.puts = 80;
  return plan;
}

WorldOptions NewWorld(Dice* dice, const TablePlan& plan) {
  return {.families = plan.options.families,
          .indexes = plan.options.indexes,
          .cache_bytes = dice->Chance(33)   ? 0u
                         : dice->Chance(50) ? 1u << 20
                                            : 1u << 15,
          .chain_cells_max = static_cast<uint32_t>(1 + dice->Below(8))};
}

// One random world: its history and the questions asked about it.
class Trial {
 public:
  Trial(TestRandom& random, const Scale& scale)
      : random_(random),
        scale_(scale),
        dice_(random.Next()),
        plan_(NewPlan(&dice_, scale)),
        generator_(&dice_, &plan_),
        world_(NewWorld(&dice_, plan_)) {}

  void Run() {
    for (size_t i = 0; i < scale_.steps; ++i) Step();
    FindOverlaps();
    if (!scale_.has_large_rows && random_.OneIn(8))
      BreakSection(random_.Below(world_.region_count()));
    const std::vector<ReadWorld::Moment> moments = world_.Moments();
    for (const ReadWorld::Moment& moment : moments) {
      Check(moment);
      CheckChanged(moment, moments.front());
    }
    if (scale_.has_large_rows) CheckVerifies();
  }

 private:
  const std::string& RowKey() { return dice_.Pick(plan_.keys); }

  // Of all files in half of the worlds, of none or some in the others.
  void FindOverlaps() {
    const uint64_t leaves_out_one_in = random_.Below(3);
    if (leaves_out_one_in == 1) return;
    for (size_t region = 0; region < world_.region_count(); ++region) {
      world_.BuildOverlaps(region, &random_, leaves_out_one_in);
    }
  }

  void Step() {
    const uint64_t choice = random_.Below(100);
    const size_t region = random_.Below(world_.region_count());
    if (choice < 62) {
      for (size_t i = 0; i < scale_.operations_per_step; ++i) {
        world_.Apply(generator_.Operation(world_.now()));
      }
    } else if (choice < 67) {
      world_.Advance(static_cast<int64_t>(1 + random_.Below(3)));
    } else if (choice < 71) {
      world_.TakeSnapshot();
    } else if (choice < 73) {
      world_.DropSnapshot(random_.Below(4));
    } else if (choice < 88) {
      world_.Flush(region);
    } else if (choice < 91) {
      world_.SwitchMemstore(region);
    } else if (choice < 93) {
      world_.BuildOverlaps(region, &random_, 2);
    } else if (choice < 98) {
      const size_t files = world_.file_count(region);
      if (files > 0) world_.Merge(region, random_.Below(files), 1 + random_.Below(files));
    } else {
      world_.Split(RowKey());
    }
  }

  void Compare(const std::string& what, const std::vector<ModelRow>& got,
               const std::vector<ModelRow>& want) {
    BOOST_REQUIRE_MESSAGE(
        got == want, what << "\n  got  " << DescribeRows(got) << "\n  want " << DescribeRows(want));
  }

  void Check(const ReadWorld::Moment& moment) {
    for (int i = 0; i < 4; ++i) CheckScan(moment);
    CheckGets(moment);
    for (int i = 0; i < 4; ++i) CheckMultiGet(moment);
    for (int i = 0; i < 12; ++i) CheckQuery(moment, generator_.NewPredicate());
    for (int i = 0; i < 6; ++i) CheckIntersection(moment, generator_.Conjunction());
    CheckQuery(moment, Predicate());
    for (const char* value : {"1", "3", "9"}) CheckQuery(moment, Predicate::Equal("a", value));
  }

  // The rows that differ are among those that were written in between.
  void CheckChanged(const ReadWorld::Moment& since, const ReadWorld::Moment& now) {
    std::set<std::string> changed;
    const engine::TableView view = world_.View(now);
    const base::Cancellation never;
    for (const auto& region : view.regions) {
      engine::ChangedRows rows(view.RegionOf(region->start_key),
                               format::SequenceNumber(since.sequence), never);
      std::string before;
      while (true) {
        const Result<bool> has_row = rows.Next();
        BOOST_REQUIRE_MESSAGE(has_row.has_value(), has_row.status().ToString());
        if (!*has_row) break;
        BOOST_REQUIRE_MESSAGE(rows.key() > before, before << " comes before " << rows.key());
        BOOST_REQUIRE(region->MayHold(rows.key()));
        before = rows.key();
        changed.insert(before);
      }
    }
    ModelRead read = world_.ReadOf();
    read.versions = std::numeric_limits<uint32_t>::max();
    for (const std::string& key : plan_.keys) {
      const bool is_same =
          since.model.Get(kWorldTable, key, read) == now.model.Get(kWorldTable, key, read);
      BOOST_REQUIRE_MESSAGE(is_same || changed.contains(key), key << " has changed");
    }
    if (since.sequence == now.sequence) BOOST_REQUIRE(changed.empty());
  }

  void CheckVerifies() {
    VerifyReport report;
    engine::VerifyRun run{.deep = true, .report = &report};
    const engine::TableView view = world_.View(world_.Moments()[0]);
    Status status = engine::VerifyView(view, &run);
    if (status.ok()) status = engine::VerifyReads(world_.resources(), view, &report);
    BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
    std::string findings;
    for (const Finding& finding : report.findings) findings += finding.text + "; ";
    BOOST_REQUIRE_EQUAL(findings, "");
  }

  // Random columns and versions, the same for the model and the engine.
  void ChooseCells(ReadOptions* options, ModelRead* read) {
    *options = generator_.NewRead();
    *read = world_.ReadOf();
    if (random_.OneIn(3)) read->as_of = static_cast<int64_t>(random_.Below(15));
    if (random_.OneIn(4)) read->since = static_cast<int64_t>(random_.Below(15));
    options->pieces = random_.OneIn(2);
    options->as_of = read->as_of;
    options->since = read->since;
    read->columns = options->columns;
    read->families = options->families;
    read->versions = options->versions;
  }

  void CheckScan(const ReadWorld::Moment& moment) {
    ScanOptions scan = generator_.NewScan();
    for (RowRange& range : scan.ranges) range.leading_bytes = 0;  // One part is read here.
    ReadOptions options;
    ModelRead read;
    ChooseCells(&options, &read);
    const auto want = moment.model.Scan(kWorldTable, scan, read);
    const auto views =
        DrainViews(engine::ScanRows(world_.resources(), world_.View(moment), options, scan));
    Compare("scan", views, options.pieces ? CutIntoPieces(want) : want);
  }

  void CheckGets(const ReadWorld::Moment& moment) {
    for (size_t i = 0; i < std::min<size_t>(scale_.rows * 2, 30); ++i) {
      ReadOptions options;
      ModelRead read;
      ChooseCells(&options, &read);
      const std::string key = RowKey();
      const auto got = engine::GetRow(world_.View(moment).RegionOf(key), options, key);
      BOOST_REQUIRE_MESSAGE(got.has_value(), got.status().ToString());
      std::vector<ModelRow> rows, want;
      if (got->has_value()) rows.emplace_back((*got)->view());
      if (const auto row = moment.model.Get(kWorldTable, key, read)) want.push_back(*row);
      Compare("get " + key, rows, want);
    }
  }

  // Of keys that repeat, and of some that are nowhere.
  void CheckMultiGet(const ReadWorld::Moment& moment) {
    ReadOptions options;
    ModelRead read;
    ChooseCells(&options, &read);
    std::vector<std::string> keys;
    for (uint64_t count = random_.Below(20); count > 0; --count) {
      keys.push_back(RowKey() + (random_.OneIn(8) ? "x" : ""));
    }
    const std::vector<std::string_view> wanted(keys.begin(), keys.end());
    const auto got = engine::GetRows(world_.resources(), world_.View(moment), options, wanted);
    BOOST_REQUIRE_MESSAGE(got.has_value(), got.status().ToString());
    BOOST_REQUIRE_EQUAL(got->size(), keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      std::vector<ModelRow> rows, want;
      if ((*got)[i].has_value()) rows.emplace_back((*got)[i]->view());
      if (const auto row = moment.model.Get(kWorldTable, keys[i], read)) want.push_back(*row);
      Compare("multi-get of " + keys[i], rows, want);
    }
  }

  void CheckQuery(const ReadWorld::Moment& moment, const Predicate& predicate) {
    ReadOptions options;
    ModelRead read;
    ChooseCells(&options, &read);
    QueryOptions query;
    CheckQuery(moment, predicate, query, options, read);
    CheckQuery(moment, predicate, query, {}, world_.ReadOf());  // Perhaps few rows, all cached.
    query.no_index = true;
    CheckQuery(moment, predicate, query, options, read);
    query = {};
    for (const char* index : {"by_a", "by_b"}) {
      query.use_index = index;
      CheckQuery(moment, predicate, query, options, read);
    }
    for (const char* index : {"by_a", "by_b"}) {
      query = {};
      query.order_by = index;
      query.descending = random_.OneIn(2);
      query.no_index = random_.OneIn(6);
      if (random_.OneIn(6)) query.use_index = random_.OneIn(2) ? "by_a" : "by_b";
      if (query.no_index) query.use_index.clear();
      if (random_.OneIn(3)) query.limit = 1 + random_.Below(scale_.rows);
      CheckQuery(moment, predicate, query, options, read);
    }
  }

  // All indexes of an AND, which are few enough for small worlds to be worth asking for.
  void CheckIntersection(const ReadWorld::Moment& moment, const Predicate& predicate) {
    ReadOptions options;
    ModelRead read;
    QueryOptions query;
    query.use_indexes = IndexesOf(predicate, plan_.options);
    if (query.use_indexes.size() < 2) return;
    CheckQuery(moment, predicate, query, {}, world_.ReadOf());
    ChooseCells(&options, &read);
    CheckQuery(moment, predicate, query, options, read);
    query.limit = 1 + random_.Below(scale_.rows);
    CheckQuery(moment, predicate, query, options, read);
    query.order_by = query.use_indexes[random_.Below(query.use_indexes.size())];
    CheckQuery(moment, predicate, query, options, read);
  }

  // The file is read without the section from now on.
  void BreakSection(size_t region) {
    const auto& files = world_.region(region).files;
    if (files.empty()) return;
    const auto& indexes = world_.table().indexes;
    format::StoreFile& file = files[random_.Below(files.size())].file->store();
    file.GoOnWithout([](const format::StoreFile&, const format::BrokenSection&) {});
    file.MarkIndexBroken(indexes[random_.Below(indexes.size())].id,
                         Status::Corruption("a test says so"));
  }

  void CheckQuery(const ReadWorld::Moment& moment, const Predicate& predicate,
                  const QueryOptions& query, const ReadOptions& options, const ModelRead& read) {
    std::string what = predicate.ToString() + " sequence " + std::to_string(moment.sequence) +
                       " now " + std::to_string(world_.now()) + " use " + query.use_index +
                       (query.use_indexes.empty() ? "" : "all indexes") + " order " +
                       query.order_by + (query.descending ? " desc" : "") +
                       (query.no_index ? " no index" : "");
    if (read.as_of.has_value()) what += " as of " + std::to_string(*read.as_of);
    if (read.since.has_value()) what += " since " + std::to_string(*read.since);
    auto source =
        engine::QueryRows(world_.resources(), world_.View(moment), options, predicate, query);
    if (!source.has_value()) {
      BOOST_REQUIRE_MESSAGE(source.error().code() == StatusCode::kInvalidArgument &&
                                !(query.use_index.empty() && query.use_indexes.empty()),
                            what << ": " << source.error().ToString());
      return;
    }
    const auto want = moment.model.Query(kWorldTable, predicate, query, read);
    Compare(what, Drain(std::move(source)), want);
    if (options.pieces) {
      Compare("pieces of " + what,
              DrainViews(engine::QueryRows(world_.resources(), world_.View(moment), options,
                                           predicate, query)),
              CutIntoPieces(want));
    }
    const auto count =
        engine::CountRows(world_.resources(), world_.View(moment), options, predicate, query);
    BOOST_REQUIRE_MESSAGE(count.has_value(), what << ": " << count.status().ToString());
    BOOST_REQUIRE_MESSAGE(*count == want.size(),
                          "count " << what << ": " << *count << ", expected " << want.size());
    const auto explained =
        engine::ExplainQuery(world_.resources(), world_.View(moment), options, predicate, query);
    BOOST_REQUIRE_MESSAGE(explained.has_value(), what << ": " << explained.status().ToString());
    BOOST_REQUIRE_EQUAL(explained->rows, want.size());
  }

  TestRandom& random_;
  const Scale scale_;
  Dice dice_;
  const TablePlan plan_;
  Generator generator_;
  ReadWorld world_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(reader_random)

BOOST_AUTO_TEST_CASE(SmallWorldsReadAsTheModel) {
  TestRandom random("reader_random/SmallWorldsReadAsTheModel");
  for (size_t i = 0; i < Trials(400); ++i) Trial(random, {}).Run();
}

BOOST_AUTO_TEST_CASE(WorldsOfManyBlocksReadAsTheModel) {
  TestRandom random("reader_random/WorldsOfManyBlocksReadAsTheModel");
  Scale scale;
  scale.rows = 400;
  scale.values = 30;
  scale.operations_per_step = 60;
  for (size_t i = 0; i < Trials(6); ++i) Trial(random, scale).Run();
}

BOOST_AUTO_TEST_CASE(WorldsOfFewChangesReadAsTheModel) {
  TestRandom random("reader_random/WorldsOfFewChangesReadAsTheModel");
  Scale scale;
  scale.rows = 3000;
  scale.values = 3;
  scale.operations_per_step = 500;
  scale.steps = 20;
  for (size_t i = 0; i < Trials(2); ++i) Trial(random, scale).Run();
}

BOOST_AUTO_TEST_CASE(WorldsOfWideRowsReadAsTheModel) {
  TestRandom random("reader_random/WorldsOfWideRowsReadAsTheModel");
  Scale scale;
  scale.steps = 30;
  scale.has_large_rows = true;
  for (size_t i = 0; i < Trials(24); ++i) Trial(random, scale).Run();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test

// Queries and scans of a file that memstores update, over more rows than are taken together, beside
// the reference model. Rows that are returned as they were decoded, merged ones, and ones that
// leave by themselves take turns.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/query/reader.h"
#include "tandem/limits.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 4000;
constexpr uint64_t kCities = 4;

WorldOptions CityOptions() {
  WorldOptions options;
  options.families = {{.name = "f", .block_size_bytes = 2048},
                      {.name = "g", .block_size_bytes = 2048}};
  options.indexes = {{"by_city", {{"f", "city", ColumnType::kText, false}}},
                     {"by_size", {{"f", "size", ColumnType::kText, false}}}};
  return options;
}

class UpdatedFile {
 public:
  UpdatedFile() : world_(CityOptions()), random_("updated file") {}

  // Every third row has a cell in the second family.
  void Load() {
    for (uint64_t row = 0; row < kRows; row += 2) {
      Put(row, "f", {{"city", City()}, {"name", Text(30)}, {"size", City()}});
      if (row % 3 == 0) Put(row, "g", {{"note", Text(10)}});
    }
    world_.Flush(0);
  }
  // Changes rows of the file, and adds some between them. `goes_back`: some Puts are older than
  // what the file has. Else those of the memstore decide alone.
  void Update(uint64_t operations, bool goes_back = true) {
    for (uint64_t i = 0; i < operations; ++i) {
      const uint64_t row = random_.Below(kRows);
      switch (random_.Below(12)) {
        case 0:
          Delete(ModelOperation::Kind::kDeleteRow, row, "", {});
          break;
        case 1:
          Delete(ModelOperation::Kind::kDeleteColumn, row, "f",
                 {{random_.OneIn(2) ? "city" : "name", ""}});
          break;
        case 2:
          Put(row, "g", {{"note", Text(10)}});
          break;
        case 3:
          Put(row, "f", {{"city", City()}, {"name", std::string(LargeBytes(), 'l')}});
          break;
        case 4:
          Put(row, "f", {{"city", City()}, {"size", City()}},
              goes_back ? std::optional<int64_t>(1) : std::nullopt);
          break;
        case 5:
        case 6:
        case 7:
          Put(row, "f", {{"name", Text(30)}});
          break;
        default:
          Put(row, "f", {{"city", City()}, {"size", City()}});
      }
    }
  }
  ReadWorld& world() { return world_; }

  void CheckQueries() {
    for (const ReadWorld::Moment& moment : world_.Moments()) {
      for (uint64_t city = 0; city < kCities; ++city) {
        const Predicate in_city = Predicate::Equal("f:city", "city" + std::to_string(city));
        const Predicate of_size = Predicate::Equal("f:size", "city0");
        for (const Predicate& predicate :
             {in_city, Predicate::And({in_city, of_size}), Predicate::Or({in_city, of_size})}) {
          for (const uint64_t limit : {uint64_t{0}, uint64_t{1}, uint64_t{100}}) {
            for (const bool pieces : {false, true}) {
              Check(moment, predicate, limit, {.pieces = pieces});
            }
          }
        }
      }
    }
  }

  // All rows, those of the family that every row of the file has, and some columns of it.
  void CheckScans() {
    const ColumnName name{"f", "name"};
    for (const ReadWorld::Moment& moment : world_.Moments()) {
      for (const ReadOptions& options :
           {ReadOptions{}, ReadOptions{.families = {"f"}}, ReadOptions{.columns = {name}}}) {
        for (const uint64_t limit : {uint64_t{0}, uint64_t{1}, uint64_t{100}}) {
          Check(moment, Predicate(), limit, options);
        }
      }
    }
  }

 private:
  std::string City() { return "city" + std::to_string(random_.Below(kCities)); }
  // Some exceed a piece or lie apart, some do not.
  size_t LargeBytes() {
    return random_.OneIn(8) ? kRowPieceBytes + random_.Below(3000) : 1000 + random_.Below(3000);
  }
  static std::string Key(uint64_t row) { return "row" + std::to_string(100'000 + row); }
  using Columns = std::vector<std::pair<std::string, std::string>>;
  std::string Text(size_t bytes_max) { return random_.Text(bytes_max, "abcdefgh"); }
  void Apply(ModelOperation::Kind kind, uint64_t row, const std::string& family, Columns columns,
             std::optional<int64_t> timestamp) {
    ModelOperation operation;
    operation.kind = kind;
    operation.table = kWorldTable;
    operation.row = Key(row);
    operation.family = family;
    operation.columns = std::move(columns);
    operation.timestamp = timestamp;
    world_.Advance(1);
    world_.Apply(operation);
  }
  void Put(uint64_t row, const std::string& family, Columns columns,
           std::optional<int64_t> timestamp = std::nullopt) {
    Apply(ModelOperation::Kind::kPut, row, family, std::move(columns), timestamp);
  }
  void Delete(ModelOperation::Kind kind, uint64_t row, const std::string& family, Columns columns) {
    Apply(kind, row, family, std::move(columns), std::nullopt);
  }

  void Check(const ReadWorld::Moment& moment, const Predicate& predicate, uint64_t limit,
             const ReadOptions& options) {
    QueryOptions query;
    query.limit = limit;
    ModelRead read = world_.ReadOf();
    read.columns = options.columns;
    read.families = options.families;
    std::vector<ModelRow> want = moment.model.Query(kWorldTable, predicate, query, read);
    if (options.pieces) want = CutIntoPieces(want);
    const std::vector<ModelRow> got = DrainViews(
        engine::QueryRows(world_.resources(), world_.View(moment), options, predicate, query));
    BOOST_REQUIRE_EQUAL(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      BOOST_REQUIRE_MESSAGE(got[i] == want[i], predicate.ToString()
                                                   << ", limit " << limit << ": "
                                                   << DescribeRows({got[i]}) << " instead of "
                                                   << DescribeRows({want[i]}));
    }
  }

  ReadWorld world_;
  TestRandom random_;
};

BOOST_AUTO_TEST_SUITE(UpdatedFiles)

BOOST_AUTO_TEST_CASE(AQueryOfAFileThatAMemstoreUpdatesIsThatOfTheModel) {
  UpdatedFile table;
  table.Load();
  table.Update(500);
  table.world().TakeSnapshot();
  table.Update(1500);
  table.CheckQueries();
  table.CheckQueries();  // The overlap of memstore and file is known by now.
}

BOOST_AUTO_TEST_CASE(AQueryIsThatOfTheModelWherePutsOfTheMemstoreDecide) {
  UpdatedFile table;
  table.Load();
  table.Update(500, /*goes_back=*/false);
  table.world().TakeSnapshot();
  table.Update(1500, /*goes_back=*/false);
  table.CheckQueries();
  table.CheckQueries();  // The live entries of the memstore are known by now.
}

BOOST_AUTO_TEST_CASE(AQueryOfAFileThatTwoMemstoresUpdateIsThatOfTheModel) {
  UpdatedFile table;
  table.Load();
  table.Update(700);
  table.world().SwitchMemstore(0);
  table.world().TakeSnapshot();
  table.Update(700);
  table.CheckQueries();
}

BOOST_AUTO_TEST_CASE(AScanOfAFileThatAMemstoreUpdatesIsThatOfTheModel) {
  UpdatedFile table;
  table.Load();
  table.CheckScans();
  table.Update(300, /*goes_back=*/false);
  table.world().TakeSnapshot();
  table.CheckScans();
  table.Update(1500);
  table.CheckScans();
}

// Of each 20 rows one is in the memstore alone, and the first and the last are. One of 13 is not
// plain in the file: it has an overflow value.
BOOST_AUTO_TEST_CASE(RowsOfAMemstoreAloneAreScannedInTheirPlaces) {
  constexpr size_t kOverflowBytes = 70'000;
  ReadWorld world({.families = {{.name = "f", .block_size_bytes = 2048}}, .indexes = {}});
  const auto put = [&](int row, const char* column, size_t more_bytes = 0) {
    const std::string key = "row" + std::to_string(1000 + row);
    const std::string value = key + std::string(more_bytes, '+');
    world.Apply({ModelOperation::Kind::kPut, kWorldTable, key, "f", {{column, value}}, {}});
  };
  for (int row = 0; row < 400; ++row) {
    if (row % 20 == 0 || row == 399) continue;
    put(row, "a");
    if (row % 13 == 0) put(row, "o", kOverflowBytes);
  }
  world.Flush(0);
  for (const int step : {399, 20, 7}) {
    for (int row = 0; row < 400; row += step) put(row, step == 7 ? "b" : "a");
    const ReadWorld::Moment now = world.Moments()[0];
    const auto got = DrainViews(engine::ScanRows(world.resources(), world.View(now), {}, {}));
    const auto want = now.model.Query(kWorldTable, Predicate(), {}, world.ReadOf());
    BOOST_TEST_REQUIRE((got == want), DescribeRows(got));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

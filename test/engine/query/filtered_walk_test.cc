// Queries in the order of an index whose entries are looked for among those of another one: the
// answer is that of sorting all matches, wherever the two columns of a row lie, and few rows are
// read.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 20'000;
constexpr uint64_t kLimit = 10;

std::string Padded(uint64_t number) { return std::to_string(100'000 + number); }
std::string TimeOf(uint64_t row) { return Padded(row * 7'919 % kRows); }
// One row in 50 is 'x', one in 20 'y', about four in ten 'w', the others 'z'.
std::string StateOf(uint64_t row) {
  if (row % 50 == 7) return "x";
  if (row % 20 == 3) return "y";
  return row % 5 < 2 ? "w" : "z";
}

/// All rows in one file.
struct WalkWorld : TestEngine {
  WalkWorld() {
    tuning.memstore_bytes = tuning.memstores_total_bytes = 64 << 20;
    tuning.log_segment_bytes = 64 << 20;
    tuning.compaction_runs = 100;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.indexes = {{"by_time", {{"d", "time"}}}, {"by_state", {{"d", "state"}}}};
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
    Put(1, {"time", "state"});
    Flush();
  }
  /// The columns of every `step`th row, as if it were the row `ahead` of it.
  void Put(uint64_t step, const std::vector<std::string>& columns, uint64_t ahead = 0) {
    WriteBatch batch;
    for (uint64_t row = 0; row < kRows; row += step) {
      for (const std::string& column : columns) {
        batch.Put("t", "row" + Padded(row), "d", column,
                  column == "time" ? TimeOf(row + ahead) : StateOf(row + ahead));
      }
      if (batch.operation_count() < 500 && row + step < kRows) continue;
      BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
      batch.Clear();
    }
  }
  void Flush() { BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK"); }

  std::vector<std::string> Keys(const Predicate& predicate, const QueryOptions& query) {
    auto cursor = (**this).Query({}, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::vector<std::string> keys;
    while (cursor->Next()) keys.emplace_back(cursor->row().key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }
  Explanation Explain(const Predicate& predicate, const QueryOptions& query) {
    const auto explained = (**this).Explain({}, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(explained.status().ToString(), "OK");
    return *explained;
  }
  /// Every order, limit and offset gives what sorting the matches of a scan gives.
  void CheckOrder(const Predicate& predicate) {
    for (const bool descending : {false, true}) {
      const QueryOptions sorted{.order_by = "by_time", .descending = descending, .no_index = true};
      const std::vector<std::string> expected = Keys(predicate, sorted);
      for (const uint64_t limit : {uint64_t{0}, kLimit, uint64_t{300}}) {
        for (const uint64_t offset : {0, 25}) {
          const QueryOptions query{
              .order_by = "by_time", .descending = descending, .limit = limit, .offset = offset};
          const size_t begin = std::min<size_t>(offset, expected.size());
          const size_t end =
              limit == 0 ? expected.size() : std::min<size_t>(begin + limit, expected.size());
          BOOST_CHECK(Keys(predicate, query) ==
                      std::vector(expected.begin() + static_cast<ptrdiff_t>(begin),
                                  expected.begin() + static_cast<ptrdiff_t>(end)));
        }
      }
    }
  }
  void CheckOrders() {
    CheckOrder(Predicate::Equal("state", "w"));
    CheckOrder(Predicate::Equal("state", "x"));
    CheckOrder(Predicate::In("state", {"x", "y", "none"}));
    CheckOrder(Predicate::And(
        {Predicate::Equal("state", "y"), Predicate::Greater("time", Padded(kRows / 3))}));
  }
};

const QueryOptions kLast{.order_by = "by_time", .descending = true, .limit = kLimit};

BOOST_AUTO_TEST_SUITE(FilteredWalk)

BOOST_AUTO_TEST_CASE(RowsOfTheFilterAloneAreRead) {
  WalkWorld world;
  const Explanation explained = world.Explain(Predicate::Equal("state", "x"), kLast);
  BOOST_CHECK_EQUAL(explained.index, "by_time AND by_state");
  BOOST_CHECK_EQUAL(explained.reason, "in the order of the index");
  BOOST_REQUIRE_EQUAL(explained.intersected.size(), 2u);
  BOOST_CHECK_EQUAL(explained.intersected[0], "by_time: 20000 entries");
  BOOST_CHECK_EQUAL(explained.intersected[1], "by_state: 400 entries");
  BOOST_CHECK_EQUAL(explained.rows, kLimit);
  BOOST_CHECK_LT(explained.candidate_rows, 5 * kLimit);
  world.CheckOrders();
}

// Of a state with very many rows each entry is looked for in the list, of a rare one it is read.
BOOST_AUTO_TEST_CASE(EntriesAreLookedForInLongLists) {
  WalkWorld world;
  const Explanation explained = world.Explain(Predicate::Equal("state", "w"), kLast);
  BOOST_CHECK_EQUAL(explained.index, "by_time AND by_state");
  BOOST_CHECK_EQUAL(explained.rows, kLimit);
  BOOST_CHECK_LT(explained.candidate_rows, 40u);
  world.CheckOrder(Predicate::Equal("state", "w"));
}

// Without a filter no more entries are walked than rows are asked for.
BOOST_AUTO_TEST_CASE(AWalkWithoutAFilterReadsTheRowsAskedFor) {
  WalkWorld world;
  BOOST_CHECK_EQUAL(world.Explain({}, kLast).candidate_rows, kLimit);
}

// A row has its place by one file and passes the filter by another one.
BOOST_AUTO_TEST_CASE(ColumnsLieInSeveralSources) {
  WalkWorld world;
  world.Put(3, {"time"}, 11);
  world.CheckOrders();
  world.Flush();
  world.CheckOrders();
  world.Put(7, {"state"}, 5);
  world.Flush();
  world.CheckOrders();
  world.Put(5, {"state"}, 40);
  world.CheckOrders();
}

// A value that most rows have is not looked for: to read the rows costs less.
BOOST_AUTO_TEST_CASE(AValueOfMostRowsIsNoFilter) {
  WalkWorld world;
  BOOST_CHECK_EQUAL(world.Explain(Predicate::Equal("state", "z"), kLast).index, "by_time");
  world.CheckOrder(Predicate::Equal("state", "z"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

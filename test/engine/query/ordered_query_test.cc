// Queries in the order of an index over many rows in memory, which are walked range by range: the
// answer is that of sorting all rows, whatever the values are like and wherever the rows lie.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 12'000;

std::string Padded(uint64_t number) { return std::to_string(100'000 + number); }

struct OrderedWorld : TestEngine {
  explicit OrderedWorld(bool has_regions) {
    tuning.memstore_bytes = tuning.memstores_total_bytes = 64 << 20;
    tuning.log_segment_bytes = 64 << 20;
    tuning.compaction_runs = 100;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    if (has_regions) {
      for (int i = 1; i < 12; ++i) table.split_keys.push_back("row" + Padded(i * 1'000));
    }
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
  }
  /// `value` of the row's number.
  template <typename Value>
  void PutRows(uint64_t step, const Value& value) {
    WriteBatch batch;
    for (uint64_t row = 0; row < kRows; row += step) {
      batch.Put("t", "row" + Padded(row), "d", "c", value(row));
      if (batch.operation_count() < 500 && row + step < kRows) continue;
      BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
      batch.Clear();
    }
  }
  std::vector<std::string> Keys(const QueryOptions& query) {
    auto cursor = (**this).Query({}, "t", {}, query);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::vector<std::string> keys;
    while (cursor->Next()) keys.emplace_back(cursor->row().key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }
  void CheckOrder() {
    for (const bool descending : {false, true}) {
      QueryOptions walked{.order_by = "by_c", .descending = descending, .use_index = "by_c"};
      const QueryOptions sorted{.order_by = "by_c", .descending = descending, .no_index = true};
      const std::vector<std::string> expected = Keys(sorted);
      BOOST_CHECK_EQUAL(expected.size(), kRows);
      BOOST_CHECK(Keys(walked) == expected);
      for (const uint64_t limit : {1, 700}) {
        walked.limit = limit;
        BOOST_CHECK(Keys(walked) ==
                    std::vector<std::string>(expected.begin(), expected.begin() + limit));
      }
    }
  }
};

/// Rows in memory, then in a file with updates in memory, then all in files.
template <typename Value>
void CheckLayouts(const Value& value) {
  for (const bool has_regions : {false, true}) {
    OrderedWorld world(has_regions);
    world.PutRows(1, value);
    world.CheckOrder();
    BOOST_REQUIRE_EQUAL((*world).Flush("t").ToString(), "OK");
    world.PutRows(3, [&](uint64_t row) { return value(kRows - row); });
    world.CheckOrder();
    BOOST_REQUIRE_EQUAL((*world).Flush("t").ToString(), "OK");
    world.CheckOrder();
  }
}

BOOST_AUTO_TEST_SUITE(OrderedQuery)

BOOST_AUTO_TEST_CASE(OfValuesThatAllDiffer) {
  CheckLayouts([](uint64_t row) { return Padded(row * 7'919 % kRows); });
}

BOOST_AUTO_TEST_CASE(OfValuesOfSomeRowsEach) {
  CheckLayouts([](uint64_t row) { return std::to_string(row * 7'919 % 29); });
}

// Some have more rows than are collected at a time, the first and the last among them.
BOOST_AUTO_TEST_CASE(OfValuesOfVeryManyRows) {
  CheckLayouts([](uint64_t row) {
    return row % 5 < 2 ? std::string("a") : row % 5 < 4 ? std::string("z") : Padded(row % 50);
  });
}

BOOST_AUTO_TEST_CASE(OfOneValue) {
  CheckLayouts([](uint64_t) { return std::string("one"); });
}

BOOST_AUTO_TEST_CASE(OfAnEmptyValueAmongOthers) {
  CheckLayouts(
      [](uint64_t row) { return row % 2 == 0 ? std::string() : std::string(row % 9, '\0'); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

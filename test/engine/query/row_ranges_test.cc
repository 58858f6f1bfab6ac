// Conditions on the row key: several ranges, in several regions, by scan and with an index, against
// the rows of a scan that satisfy them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "tools/generator/dice.h"

namespace tandem::engine {
namespace {

constexpr uint64_t kRows = 240;

std::string Key(uint64_t i) { return "row" + std::to_string(1000 + i); }

/// A range of rows with a few rows' value of "c", as text.
struct Range {
  uint64_t low, high;  ///< Exclusive.
  Predicate ToPredicate() const {
    return Predicate::And(
        {Predicate::GreaterOrEqual("_row", Key(low)), Predicate::Less("_row", Key(high))});
  }
};

struct RowRangesFixture {
  RowRangesFixture() {
    BOOST_REQUIRE(db.Open().ok());
    TableOptions table = test::SimpleTable();
    table.families[0].block_size_bytes = 512;
    table.split_keys = {Key(60), Key(61), Key(180)};
    BOOST_REQUIRE(db->CreateTable(table).ok());
    for (uint64_t round = 0; round < 3; ++round) {
      for (uint64_t i = round; i < kRows; i += 1 + 2 * round) {
        BOOST_REQUIRE(db.Put(Key(i), "c", Value(i)).ok());
      }
      if (round < 2) BOOST_REQUIRE(db->Flush("t").ok());
    }
  }
  static std::string Value(uint64_t i) { return std::to_string(i % 11); }

  std::set<std::string> Found(const Predicate& predicate, const QueryOptions& options) {
    std::set<std::string> keys;
    auto cursor = db->Query({}, "t", predicate, options);
    BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
    while (cursor->Next()) BOOST_CHECK(keys.emplace(cursor->row().key()).second);
    BOOST_REQUIRE(cursor->status().ok());
    return keys;
  }

  test::TestEngine db;
};

BOOST_FIXTURE_TEST_SUITE(row_ranges, RowRangesFixture)

BOOST_AUTO_TEST_CASE(TheyAreWhatAScanWouldGive) {
  test::Dice dice(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Predicate> ranges;
    std::set<std::string> expected;
    const bool has_value = dice.Chance(40);
    for (uint64_t count = dice.Below(6); count > 0; --count) {
      const uint64_t low = dice.Below(kRows);
      const Range range{low, low + dice.Below(dice.Chance(50) ? 4 : 90)};
      ranges.push_back(range.ToPredicate());
      for (uint64_t i = range.low; i < std::min(range.high, kRows); ++i) {
        if (!has_value || Value(i) == "3") expected.insert(Key(i));
      }
    }
    Predicate predicate = Predicate::Or(ranges);
    if (has_value) predicate = Predicate::And({predicate, Predicate::Equal("c", "3")});
    const std::string text = predicate.ToString();
    BOOST_CHECK_MESSAGE(Found(predicate, {}) == expected, text);
    BOOST_CHECK_MESSAGE(Found(predicate, {.no_index = true}) == expected, text);
    BOOST_CHECK_MESSAGE(Found(predicate, {.order_by = "by_c"}) == expected, text);
    BOOST_CHECK_EQUAL(*db->Count({}, "t", predicate, {}), expected.size());
    BOOST_CHECK_EQUAL(db->Explain({}, "t", predicate, {})->rows, expected.size());
  }
}

// A range that ends where a region begins asks nothing of that region.
BOOST_AUTO_TEST_CASE(RangesEndAtRegions) {
  const Predicate one = Range{60, 61}.ToPredicate();
  BOOST_CHECK((Found(one, {}) == std::set<std::string>{Key(60)}));
  const Predicate none = Predicate::And(
      {Predicate::Less("_row", Key(10)), Predicate::GreaterOrEqual("_row", Key(20))});
  BOOST_CHECK(Found(none, {}).empty());
  BOOST_CHECK_EQUAL(*db->Count({}, "t", none, {}), 0u);
}

// More ranges than a scan reads one by one.
BOOST_AUTO_TEST_CASE(ManyRangesAreOne) {
  std::vector<Predicate> ranges;
  for (uint64_t i = 0; i < kRows; i += 2) ranges.push_back(Range{i, i + 1}.ToPredicate());
  const Predicate predicate = Predicate::Or(ranges);
  BOOST_CHECK_EQUAL(Found(predicate, {.no_index = true}).size(), kRows / 2);
  BOOST_CHECK_EQUAL(*db->Count({}, "t", predicate, {}), kRows / 2);
}

// A wrong predicate is refused, whichever regions it would concern.
BOOST_AUTO_TEST_CASE(WhatIsWrongIsSaid) {
  const Predicate wrong =
      Predicate::And({Predicate::Equal("_row", "a"), Predicate::Equal("none:c", "1")});
  BOOST_CHECK(db->Query({}, "t", wrong, {}).error().code() == StatusCode::kNotFound);
  BOOST_CHECK(db->Count({}, "t", wrong, {}).error().code() == StatusCode::kNotFound);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine

// Scans of many regions, which pin a few of them after the other: they show one moment, whatever
// happens to the regions that they have not reached.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "test/engine/jobs/region_fixture.h"
#include "test/support/print.h"
#include "test/support/test_random.h"
#include "tools/simulation/model.h"

namespace tandem::test {
namespace {

struct RegionScanFixture : RegionFixture {
  /// `regions` regions of 20 rows each, in files.
  void Make(uint64_t regions) {
    PutRows(0, 20 * regions, "a");
    Flush();
    for (uint64_t i = 1; i < regions; ++i) Split({.key = Key(20 * i)});
    BOOST_REQUIRE_EQUAL(Info().regions.size(), regions);
  }
  static std::string Next(Cursor* cursor) {
    if (!cursor->Next()) return cursor->status().ToString();
    const RowView& row = cursor->row();
    return std::string(row.key()) + "=" + std::string(row.Find("d", "q").value_or("-"));
  }
  std::vector<std::string> All(const ScanOptions& scan, const ReadOptions& read = {}) {
    std::vector<std::string> rows;
    auto cursor = engine().Scan(read, "t", scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    while (cursor->Next()) {
      rows.push_back(std::string(cursor->row().key()) + "=" +
                     std::string(cursor->row().Find("d", "q").value_or("-")));
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
};

BOOST_FIXTURE_TEST_SUITE(RegionScanTest, RegionScanFixture)

BOOST_AUTO_TEST_CASE(EveryRangeIsWhatOneRegionWouldGive) {
  constexpr uint64_t kRegions = 9, kRows = 20 * kRegions;
  Make(kRegions);
  TestRandom random("ranges of scans");
  for (int i = 0; i < 400; ++i) {
    ScanOptions scan;
    const uint64_t low = random.Below(kRows + 10), high = random.Below(kRows + 10);
    if (random.Below(4) > 0) scan.start = Key(low);
    if (random.Below(4) > 0) scan.end = Key(high);
    if (random.Below(5) == 0) scan.prefix = Key(random.Below(kRows)).substr(0, 4);
    scan.reverse = random.Below(2) == 0;
    scan.limit = random.Below(3) == 0 ? 0 : 1 + random.Below(60);
    std::vector<std::string> expected;
    for (uint64_t row = 0; row < kRows; ++row) {
      const std::string key = Key(scan.reverse ? kRows - 1 - row : row);
      if (key < scan.start || (!scan.end.empty() && key >= scan.end)) continue;
      if (!key.starts_with(scan.prefix)) continue;
      if (scan.limit == 0 || expected.size() < scan.limit) expected.push_back(key + "=a");
    }
    tuning.scan_regions = 1 + static_cast<uint32_t>(i / 50);
    if (i % 50 == 0) Reopen();
    const std::vector<std::string> found = All(scan);
    BOOST_REQUIRE_MESSAGE(found == expected, "from '" << scan.start << "' to '" << scan.end
                                                      << "', prefix '" << scan.prefix << "', limit "
                                                      << scan.limit << ", " << found.size()
                                                      << " rows for " << expected.size());
  }
}

// A scan of ranges is what scans of each of them give, one after the other; here in random regions.
BOOST_AUTO_TEST_CASE(SeveralRangesAreWhatTheirScansGive) {
  constexpr uint64_t kRegions = 9, kRows = 20 * kRegions;
  Make(kRegions);
  PutRows(30, 100, "b");
  TestRandom random("ranges of one scan");
  for (int i = 0; i < 400; ++i) {
    ScanOptions scan;
    std::set<uint64_t> borders;
    const uint64_t ranges = 1 + random.Below(random.OneIn(10) ? 80 : 6);
    while (borders.size() < 2 * ranges) borders.insert(random.Below(kRows + 10));
    std::vector<std::string> expected;
    for (auto border = borders.begin(); border != borders.end();) {
      const std::string low = Key(*border++), high = Key(*border++);
      scan.ranges.push_back({low, high});
      const std::vector<std::string> rows = All({.start = low, .end = high});
      expected.insert(expected.end(), rows.begin(), rows.end());
      // Each row is returned once.
      if (random.OneIn(3)) scan.ranges.push_back({low, random.OneIn(2) ? low + "5" : high});
      if (random.OneIn(5)) scan.ranges.push_back({high, low});
    }
    for (size_t left = scan.ranges.size(); left > 1; --left) {
      std::swap(scan.ranges[left - 1], scan.ranges[random.Below(left)]);
    }
    if (random.OneIn(3)) scan.start = Key(random.Below(kRows));
    if (random.OneIn(3)) scan.end = Key(random.Below(kRows));
    if (random.OneIn(5)) scan.prefix = Key(random.Below(kRows)).substr(0, 4);
    std::erase_if(expected, [&scan](const std::string& row) {
      const std::string key = row.substr(0, row.find('='));
      return key < scan.start || (!scan.end.empty() && key >= scan.end) ||
             !key.starts_with(scan.prefix);
    });
    scan.reverse = random.OneIn(2);
    if (scan.reverse) std::reverse(expected.begin(), expected.end());
    scan.limit = random.OneIn(2) ? 0 : 1 + random.Below(60);
    if (scan.limit > 0) expected.resize(std::min<size_t>(expected.size(), scan.limit));
    tuning.scan_regions = 1 + static_cast<uint32_t>(i / 50);
    if (i % 50 == 0) Reopen();
    const std::vector<std::string> found = All(scan);
    BOOST_REQUIRE_MESSAGE(found == expected, Describe(scan) << ": " << found.size() << " rows for "
                                                            << expected.size());
  }
}

BOOST_AUTO_TEST_CASE(RangesWithoutKeysHaveNoRows) {
  Make(3);
  for (const std::string& end : {Key(20), Key(19), std::string("0")}) {
    BOOST_CHECK(All({.ranges = {{Key(20), end}}}).empty());
    BOOST_CHECK(All({.start = Key(20), .end = end}).empty());
  }
  BOOST_CHECK(All({.start = Key(5), .ranges = {{"", Key(5)}}}).empty());
  BOOST_CHECK(All({.prefix = "2", .ranges = {{}}}).empty());
  BOOST_CHECK_EQUAL(All({.ranges = {{}}}).size(), 60u);
  BOOST_CHECK_EQUAL(All({.ranges = {{Key(58), ""}, {"", Key(1)}}}).size(), 3u);
}

// Every change there is, to regions that the cursor has not reached.
BOOST_AUTO_TEST_CASE(ACursorShowsTheMomentOfItsScan) {
  Make(5);
  for (const bool reverse : {false, true}) {
    PutRows(0, 100, "a");
    const ScanOptions scan{.reverse = reverse};
    const std::vector<std::string> expected = All(scan);
    std::optional<Cursor> cursor = *engine().Scan({}, "t", scan);
    std::vector<std::string> found;
    uint64_t step = 0;
    const auto change = [&] {
      switch (step++) {
        case 0:
          PutRows(0, 100, "b");
          return;
        case 1:
          Flush();
          return;
        case 2: {
          WriteBatch batch;
          for (uint64_t i = 0; i < 100; i += 3) batch.DeleteRow("t", Key(i));
          BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
          return;
        }
        case 3:
          Split({.key = Key(reverse ? 33 : 66)});
          return;
        case 4:
          Compact();
          return;
        case 5:
          Merge({.key = Key(reverse ? 33 : 60)});
          return;
        case 6:
          PutRows(0, 100, "c");
          Compact();
          executor.Drain();
          return;
        default:
          return;
      }
    };
    while (cursor->Next()) {
      found.push_back(std::string(cursor->row().key()) + "=" +
                      std::string(cursor->row().Find("d", "q").value_or("-")));
      change();
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    BOOST_CHECK_GE(step, 8u);
    BOOST_CHECK(found == expected);
    cursor.reset();
    CheckSound();
  }
}

// What a merge may drop because it has expired is decided by the time of the oldest scan.
BOOST_AUTO_TEST_CASE(WhatExpiresMeanwhileIsShown) {
  TableOptions table = SimpleTable(1, 1'000'000);
  table.name = "u";
  table.split_keys = {"b", "c"};
  BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  for (const char* key : {"a", "b", "c"}) batch.Put("u", key, "d", "q", key);
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine().Flush("u").ToString(), "OK");
  std::optional<Cursor> cursor = *engine().Scan({}, "u", {});
  BOOST_CHECK_EQUAL(Next(&*cursor), "a=a");
  clock.Advance(5'000'000);
  BOOST_REQUIRE_EQUAL(engine().Compact("u").ToString(), "OK");
  BOOST_CHECK_EQUAL(Next(&*cursor), "b=b");
  BOOST_CHECK_EQUAL(Next(&*cursor), "c=c");
  BOOST_CHECK_EQUAL(Next(&*cursor), "OK");
  cursor.reset();
  BOOST_REQUIRE_EQUAL(engine().Compact("u").ToString(), "OK");
  cursor = *engine().Scan({}, "u", {});
  BOOST_CHECK_EQUAL(Next(&*cursor), "OK");
}

BOOST_AUTO_TEST_CASE(ASnapshotMayGoBeforeTheCursor) {
  Make(4);
  std::optional<Snapshot> snapshot = *engine().TakeSnapshot();
  PutRows(0, 80, "b");
  const ReadOptions read{.snapshot = &*snapshot};
  std::optional<Cursor> cursor = *engine().Scan(read, "t", {});
  BOOST_CHECK_EQUAL(Next(&*cursor), Key(0) + "=a");
  snapshot.reset();
  Compact();
  for (uint64_t i = 1; i < 80; ++i) BOOST_REQUIRE_EQUAL(Next(&*cursor), Key(i) + "=a");
  BOOST_CHECK_EQUAL(Next(&*cursor), "OK");
}

// A cursor that is not at its end yet does not reach the database when that is gone.
BOOST_AUTO_TEST_CASE(ACursorOutlivesItsDatabase) {
  Make(4);
  Cursor cursor = *engine().Scan({}, "t", {});
  BOOST_REQUIRE(cursor.Next());
  BOOST_CHECK(engine().Close().code() == StatusCode::kBusy);
  Drop();
  while (cursor.Next()) {
  }
  BOOST_CHECK(cursor.status().code() == StatusCode::kClosed);
}

BOOST_AUTO_TEST_CASE(WhatIsWrongWithAScanIsSaidAtOnce) {
  Make(4);
  BOOST_CHECK(engine().Scan({.families = {"none"}}, "t", {}).error().code() ==
              StatusCode::kNotFound);
  BOOST_CHECK(engine().Scan({.versions = 0}, "t", {}).error().code() ==
              StatusCode::kInvalidArgument);
  BOOST_CHECK(engine().Scan({}, "none", {}).error().code() == StatusCode::kNotFound);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// What ids cost, and what the first rows of a merged scan cost.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

double WrittenByIds(uint64_t n) {
  TestEngine engine;
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->CreateSequence({.name = "ids"}).ToString(), "OK");
  const IoBytes bytes = IoBytesOf(&engine, [&] {
    for (uint64_t i = 0; i < n; ++i) BOOST_REQUIRE(engine->NextIds("ids", 1).has_value());
  });
  return static_cast<double>(bytes.written);
}

constexpr uint64_t kRowsOfLeads = 64'000;

/// 64,000 rows in one file, which n values of a leading byte divide. Nothing is cached.
std::vector<RowRange> OpenLeads(TestEngine* engine, uint64_t n) {
  CreateTable(engine);
  for (uint64_t i = 0; i < kRowsOfLeads; ++i) {
    const std::string key = static_cast<char>(i % n) + RowKey(i);
    BOOST_REQUIRE(engine->Put(key, "c", std::string(100, 'v')).ok());
  }
  BOOST_REQUIRE_EQUAL((*engine)->Compact("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  std::vector<RowRange> ranges;
  for (uint64_t i = 0; i < n; ++i) {
    const std::string lead(1, static_cast<char>(i)), end(1, static_cast<char>(i + 1));
    ranges.push_back({lead, end, 1});
  }
  return ranges;
}

double ReadByAMergedScan(uint64_t n) {
  TestEngine engine;
  ScanOptions scan;
  scan.limit = 10;
  scan.ranges = OpenLeads(&engine, n);
  const IoBytes bytes =
      IoBytesOf(&engine, [&] { BOOST_REQUIRE_EQUAL(RowsOf(engine->Scan({}, "t", scan)), 10u); });
  return static_cast<double>(bytes.read);
}

/// Of all rows, which have one value.
double ReadByAMergedQuery(uint64_t n, bool descending) {
  TestEngine engine;
  QueryOptions query;
  query.limit = 10;
  query.use_index = "by_c";
  query.descending = descending;
  query.ranges = OpenLeads(&engine, n);
  const Predicate all = Predicate::Equal("c", std::string(100, 'v'));
  const IoBytes bytes = IoBytesOf(
      &engine, [&] { BOOST_REQUIRE_EQUAL(RowsOf(engine->Query({}, "t", all, query)), 10u); });
  return static_cast<double>(bytes.read);
}

BOOST_AUTO_TEST_SUITE(Sequences)

BOOST_AUTO_TEST_CASE(AnEditReservesTwiceAsManyIdsAsTheOneBefore) {
  Check({.cost = "bytes written while n ids are taken one by one",
         .n = 1000,
         .bound = AtMostLogarithmic(1000, 300),
         .measure = WrittenByIds});
}

BOOST_AUTO_TEST_CASE(AMergedScanReadsALittleOfEachRange) {
  Check({.cost = "bytes read by the first 10 rows of a scan that merges n ranges",
         .n = 4,
         .bound = AtMostLinear(30'000, 2'000),
         .measure = ReadByAMergedScan});
}

BOOST_AUTO_TEST_CASE(AMergedQueryReadsALittleOfEachRange) {
  for (const bool descending : {false, true}) {
    Check(
        {.cost = std::string("bytes read by the first 10 rows of a query by an index that merges n "
                             "ranges") +
                 (descending ? ", from the last" : ""),
         .n = 4,
         .bound = AtMostLinear(30'000, descending ? 8'000 : 4'000),
         .measure = [descending](uint64_t n) { return ReadByAMergedQuery(n, descending); }});
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

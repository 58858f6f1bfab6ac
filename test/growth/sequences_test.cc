// What ids cost, and what the first rows of a merged scan cost.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

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

/// 64,000 rows in one file, which n values of a leading byte divide.
double ReadByAMergedScan(uint64_t n) {
  constexpr uint64_t kRows = 64'000;
  TestEngine engine;
  CreateTable(&engine);
  for (uint64_t i = 0; i < kRows; ++i) {
    const std::string key = static_cast<char>(i % n) + RowKey(i);
    BOOST_REQUIRE(engine.Put(key, "c", std::string(100, 'v')).ok());
  }
  BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  ScanOptions scan;
  scan.limit = 10;
  for (uint64_t i = 0; i < n; ++i) {
    const std::string lead(1, static_cast<char>(i)), end(1, static_cast<char>(i + 1));
    scan.ranges.push_back({lead, end, 1});
  }
  const IoBytes bytes =
      IoBytesOf(&engine, [&] { BOOST_REQUIRE_EQUAL(RowsOf(engine->Scan({}, "t", scan)), 10u); });
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

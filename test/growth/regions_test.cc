// What reports over n regions cost: each has one file.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct Reports {
  IoBytes info, usage, plan;
};

/// Of a database of n regions that was just opened; each n is made once.
const Reports& ReportsOver(uint64_t n) {
  static std::map<uint64_t, Reports> known;
  const auto [at, is_new] = known.try_emplace(n);
  Reports& reports = at->second;
  if (!is_new) return reports;
  TestEngine engine;
  BOOST_REQUIRE(engine.Open().ok());
  TableOptions table = SimpleTable();
  for (uint64_t region = 1; region < n; ++region) table.split_keys.push_back(RowKey(8 * region));
  BOOST_REQUIRE(engine->CreateTable(table).ok());
  PutRows(&engine, 8 * n, 8 * n);
  BOOST_REQUIRE(engine->Flush("t").ok());
  const auto reopened = [&engine](const auto& report) {
    BOOST_REQUIRE(engine.Close().ok());
    BOOST_REQUIRE(engine.Open().ok());
    return IoBytesOf(&engine, [&report] { report(); });
  };
  reports.info = reopened([&] { BOOST_REQUIRE(engine->Info().tables[0].regions.size() == n); });
  reports.usage = reopened([&] {
    const auto usage = engine->GetSpaceUsage({});
    BOOST_REQUIRE_EQUAL(usage.status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(usage->regions.size(), n);
  });
  reports.plan = reopened([&] { BOOST_REQUIRE(engine->PlanCompaction("t")->size() == n); });
  return reports;
}

BOOST_AUTO_TEST_SUITE(Regions)

BOOST_AUTO_TEST_CASE(ReportsReadALittleOfEach) {
  const struct {
    std::string_view cost;
    IoBytes Reports::*part;
    Bound bound;
  } kLines[] = {
      {"bytes read by a description of n regions", &Reports::info, AtMostLinear(0, 512)},
      {"bytes read by an explanation of the space of n regions", &Reports::usage,
       AtMostLinear(0, 512)},
      {"bytes read by a plan of merges in n regions", &Reports::plan, AtMost(0)},
  };
  for (const auto& line : kLines) {
    Check({.cost = line.cost, .n = 96, .bound = line.bound, .measure = [&line](uint64_t n) {
             return static_cast<double>((ReportsOver(n).*line.part).read);
           }});
  }
  for (const auto part : {&Reports::info, &Reports::usage, &Reports::plan}) {
    BOOST_CHECK_EQUAL((ReportsOver(96).*part).written, 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

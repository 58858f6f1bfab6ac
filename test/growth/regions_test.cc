// What n regions of one file each cost: reports over all, and what concerns a few of them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <string>

#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRowsOfRegion = 8;

/// A table of n regions in files, in a database that was closed.
void MakeRegions(TestEngine* engine, uint64_t n) {
  engine->tuning.scan_regions = engine::Tuning().scan_regions;
  BOOST_REQUIRE(engine->Open().ok());
  TableOptions table = SimpleTable();
  for (uint64_t region = 1; region < n; ++region) {
    table.split_keys.push_back(RowKey(kRowsOfRegion * region));
  }
  BOOST_REQUIRE((*engine)->CreateTable(table).ok());
  PutRows(engine, kRowsOfRegion * n, kRowsOfRegion * n);
  BOOST_REQUIRE((*engine)->Flush("t").ok());
  BOOST_REQUIRE(engine->Close().ok());
}

struct Costs {
  IoBytes info, usage, plan, put, flush, drop;
  uint64_t scan = 0, backward = 0, get = 0;  // Reads.
  uint64_t query = 0, count = 0;             // Allocations.
};

/// Each in a database of n regions that was just opened; each n is made once.
const Costs& CostsAmong(uint64_t n) {
  static std::map<uint64_t, Costs> known;
  const auto [at, is_new] = known.try_emplace(n);
  Costs& costs = at->second;
  if (!is_new) return costs;
  TestEngine engine;
  MakeRegions(&engine, n);
  const auto opened = [&engine](const std::function<void()>& work) {
    BOOST_REQUIRE(engine.Open().ok());
    const IoBytes bytes = IoBytesOf(&engine, work);
    BOOST_REQUIRE(engine.Close().ok());
    return bytes;
  };
  costs.info = opened([&] { BOOST_REQUIRE(engine->Info().tables[0].regions.size() == n); });
  costs.usage = opened([&] {
    const auto usage = engine->GetSpaceUsage({});
    BOOST_REQUIRE_EQUAL(usage.status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(usage->regions.size(), n);
  });
  costs.plan = opened([&] { BOOST_REQUIRE(engine->PlanCompaction("t")->size() == n); });
  const auto reads = [&engine](const std::function<void()>& work) {
    BOOST_REQUIRE(engine.Open().ok());
    const uint64_t count = ReadsOf(&engine, work);
    BOOST_REQUIRE(engine.Close().ok());
    return count;
  };
  const auto scan = [&](bool reverse) {
    const ScanOptions options{.start = reverse ? "" : RowKey(20), .reverse = reverse, .limit = 10};
    return reads([&] { BOOST_REQUIRE_EQUAL(RowsOf(engine->Scan({}, "t", options)), 10u); });
  };
  costs.scan = scan(false);
  costs.backward = scan(true);
  costs.get = reads([&] { BOOST_REQUIRE_NE(engine.Value(RowKey(3 * n), "c"), "-"); });
  BOOST_REQUIRE(engine.Open().ok());
  const auto ends = Predicate::Or(
      {Predicate::Less("_row", RowKey(8)), Predicate::GreaterOrEqual("_row", RowKey(8 * (n - 1)))});
  const auto query = [&] { BOOST_REQUIRE_EQUAL(RowsOf(engine->Query({}, "t", ends, {})), 16u); };
  const auto count = [&] { BOOST_REQUIRE_EQUAL(*engine->Count({}, "t", ends, {}), 16u); };
  query();
  count();
  costs.query = AllocationsOf(query);
  costs.count = AllocationsOf(count);
  costs.put = IoBytesOf(&engine, [&] { BOOST_REQUIRE(engine.Put(RowKey(n), "c", "new").ok()); });
  costs.flush = IoBytesOf(&engine, [&] { BOOST_REQUIRE(engine->Flush("t").ok()); });
  costs.drop = IoBytesOf(&engine, [&] { BOOST_REQUIRE(engine->DropTable("t").ok()); });
  return costs;
}

BOOST_AUTO_TEST_SUITE(Regions)

BOOST_AUTO_TEST_CASE(ReportsReadALittleOfEach) {
  const struct {
    std::string_view cost;
    IoBytes Costs::*part;
    Bound bound;
  } kLines[] = {
      {"bytes read by a description of n regions", &Costs::info, AtMostLinear(0, 512)},
      {"bytes read by an explanation of the space of n regions", &Costs::usage,
       AtMostLinear(0, 512)},
      {"bytes read by a plan of merges in n regions", &Costs::plan, AtMost(0)},
  };
  for (const auto& line : kLines) {
    Check({.cost = line.cost, .n = 256, .bound = line.bound, .measure = [&line](uint64_t n) {
             return static_cast<double>((CostsAmong(n).*line.part).read);
           }});
    BOOST_CHECK_EQUAL((CostsAmong(256).*line.part).written, 0u);
  }
}

// Two for each file: its beginning, and its end.
BOOST_AUTO_TEST_CASE(AnOpenReadsTheEndsOfEachFile) {
  Check({.cost = "reads by an open of n regions",
         .n = 64,
         .bound = AtMostLinear(20, 2),
         .measure = [](uint64_t n) {
           TestEngine engine;
           MakeRegions(&engine, n);
           return static_cast<double>(ReadsOf(&engine, [&] { BOOST_REQUIRE(engine.Open().ok()); }));
         }});
}

// Up to 64 share an edit, and 64 numbers of files are reserved by another one.
BOOST_AUTO_TEST_CASE(SmallMemstoresShareTheEditsOfTheCatalog) {
  Check({.cost = "syncs of the manifest by a flush of a row in each of n regions",
         .n = 64,
         .bound = AtMostLinear(4, 0.0625),
         .measure = [](uint64_t n) {
           TestEngine engine;
           MakeRegions(&engine, n);
           BOOST_REQUIRE(engine.Open().ok());
           WriteBatch batch;
           for (uint64_t region = 0; region < n; ++region) {
             batch.Put("t", RowKey(kRowsOfRegion * region), "d", "c", "new");
           }
           BOOST_REQUIRE(engine.Write(batch).ok());
           return static_cast<double>(
               ManifestSyncsOf(&engine, [&] { BOOST_REQUIRE(engine->Flush("t").ok()); }));
         }});
}

BOOST_AUTO_TEST_CASE(ADropWritesALittleOfEach) {
  Check({.cost = "bytes written by a drop of a table of n regions",
         .n = 256,
         .bound = AtMostLinear(4096, 16),
         .measure = [](uint64_t n) { return static_cast<double>(CostsAmong(n).drop.written); }});
  BOOST_CHECK_EQUAL(CostsAmong(256).drop.read, 0u);
}

BOOST_AUTO_TEST_CASE(WhatConcernsAFewCostsTheSameAmongMany) {
  const struct {
    std::string_view cost;
    std::function<uint64_t(const Costs&)> figure;
    double most;
  } kLines[] = {
      {"reads of a cold scan of 10 rows among n regions",
       [](const Costs& costs) { return costs.scan; }, 16},
      {"reads of a cold backward scan of 10 rows among n regions",
       [](const Costs& costs) { return costs.backward; }, 16},
      {"reads of a cold get among n regions", [](const Costs& costs) { return costs.get; }, 8},
      {"allocations of a query of the rows of two among n regions",
       [](const Costs& costs) { return costs.query; }, 150},
      {"allocations of a count of the rows of two among n regions",
       [](const Costs& costs) { return costs.count; }, 150},
      {"bytes written by a put among n regions",
       [](const Costs& costs) { return costs.put.written; }, 4096},
      {"bytes written by the flush of a put among n regions",
       [](const Costs& costs) { return costs.flush.written; }, 16384},
  };
  for (const auto& line : kLines) {
    Check({.cost = line.cost, .n = 256, .bound = AtMost(line.most), .measure = [&line](uint64_t n) {
             return static_cast<double>(line.figure(CostsAmong(n)));
           }});
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

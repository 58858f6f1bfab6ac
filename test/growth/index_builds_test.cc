// What a new index costs where regions share files, and where files are without it yet.
#define BOOST_TEST_DYN_LINK
#include <tandem/bulk_load.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRowsOfRegion = 8;

/// A table of n regions whose rows are in one file.
void MakeSharedFile(TestEngine* engine, uint64_t n) {
  TableOptions table = SimpleTable();
  for (uint64_t region = 1; region < n; ++region) {
    table.split_keys.push_back(RowKey(kRowsOfRegion * region));
  }
  BOOST_REQUIRE((*engine)->CreateTable(table).ok());
  auto load = (*engine)->BeginBulkLoad("t", {});
  BOOST_REQUIRE_EQUAL(load.status().ToString(), "OK");
  WriteBatch batch;
  for (uint64_t i = 0; i < kRowsOfRegion * n; ++i) {
    batch.Put("t", RowKey(i), "d", "other", std::to_string(i));
  }
  BOOST_REQUIRE_EQUAL(load->Add(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(load->Commit().ToString(), "OK");
}

IndexInfo NewIndexOf(TestEngine* engine) { return (*engine)->Info().tables.front().indexes.back(); }

double WrittenByABuildAmong(uint64_t n) {
  TestEngine engine;
  BOOST_REQUIRE(engine.Open().ok());
  MakeSharedFile(&engine, n);
  const IoBytes bytes = IoBytesOf(&engine, [&] {
    const IndexOptions index{.name = "by_other",
                             .columns = {{.family = "d", .qualifier = "other"}}};
    BOOST_REQUIRE_EQUAL(engine->CreateIndex("t", index).ToString(), "OK");
    engine.executor.Drain();
  });
  BOOST_CHECK_EQUAL(NewIndexOf(&engine).files_older, 0u);
  BOOST_CHECK_EQUAL(NewIndexOf(&engine).entries, kRowsOfRegion * n * n);  // Counted by each region.
  return static_cast<double>(bytes.written);
}

// A query by the index for each value would scan the file for each.
double ReadByACheckOfValues(uint64_t n) {
  constexpr uint64_t kRows = 20'000;
  TestEngine engine;
  engine.tuning.block_cache_bytes = 64 << 10;
  CreateTable(&engine);
  WriteBatch batch;
  for (uint64_t i = 0; i < kRows; ++i) {
    batch.Put("t", RowKey(i), "d", "other", "value" + std::to_string(i % n));
  }
  BOOST_REQUIRE_EQUAL(engine->Write({}, batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
  const IndexOptions index{.name = "by_other", .columns = {{.family = "d", .qualifier = "other"}}};
  BOOST_REQUIRE_EQUAL(engine->CreateIndex("t", index).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(NewIndexOf(&engine).files_without, 1u);
  const uint64_t size = FilesNamed(&engine, "store-").bytes;
  const IoBytes bytes = IoBytesOf(&engine, [&] {
    const Result<VerifyReport> report = engine->VerifyIndex("t", "by_other");
    BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
    BOOST_CHECK_EQUAL(report->findings.size(), 0u);
  });
  return static_cast<double>(bytes.read_of_stores) / static_cast<double>(size);
}

BOOST_AUTO_TEST_SUITE(IndexBuilds)

BOOST_AUTO_TEST_CASE(RegionsThatShareAFileGetOneCopy) {
  Check({.cost = "bytes written by the build of an index on a file that n regions share",
         .n = 16,
         .bound = AtMostLinear(16'384, 256),
         .measure = WrittenByABuildAmong});
}

BOOST_AUTO_TEST_CASE(ACheckBeforeTheBuildReadsTheFileAFewTimes) {
  Check({.cost = "reads of a whole file that lacks an index of n values, by a check of the index",
         .n = 2,
         .bound = AtMost(8),
         .measure = ReadByACheckOfValues});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

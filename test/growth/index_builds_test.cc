// What a new index costs where regions share files.
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

BOOST_AUTO_TEST_SUITE(IndexBuilds)

BOOST_AUTO_TEST_CASE(RegionsThatShareAFileGetOneCopy) {
  Check({.cost = "bytes written by the build of an index on a file that n regions share",
         .n = 16,
         .bound = AtMostLinear(16'384, 256),
         .measure = WrittenByABuildAmong});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

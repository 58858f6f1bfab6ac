// What sorting costs with the number of rows of a bulk load, and linking with that of regions.
#define BOOST_TEST_DYN_LINK
#include <tandem/bulk_load.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// Bytes written for each row of a load of n rows, each with a key below the one before. As little
/// is sorted at a time as can be, and as few runs are merged.
double WrittenForEachOf(uint64_t n) {
  TestEngine engine;
  CreateTable(&engine);
  const IoBytes bytes = IoBytesOf(&engine, [&] {
    auto load = engine->BeginBulkLoad("t", {.any_order = true});
    BOOST_REQUIRE_EQUAL(load.status().ToString(), "OK");
    for (uint64_t i = n; i > 0; --i) {
      WriteBatch batch;
      batch.Put("t", RowKey(i), "d", "c", std::string(100, 'v'));
      BOOST_REQUIRE_EQUAL(load->Add(batch).ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL(load->Commit().ToString(), "OK");
  });
  return static_cast<double>(bytes.written) / static_cast<double>(n);
}

/// Of n rows, into a table without any: what was written before is in the log already.
double WrittenToTheLogBy(uint64_t n, bool any_order) {
  TestEngine engine;
  CreateTable(&engine);
  const auto load = [&](uint64_t rows) {
    auto begun = engine->BeginBulkLoad("t", {.any_order = any_order});
    BOOST_REQUIRE_EQUAL(begun.status().ToString(), "OK");
    for (uint64_t i = 0; i < rows; ++i) {
      WriteBatch batch;
      batch.Put("t", RowKey(any_order ? rows - i : i), "d", "c", std::string(100, 'v'));
      BOOST_REQUIRE_EQUAL(begun->Add(batch).ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL(begun->Commit().ToString(), "OK");
  };
  const IoBytes bytes = IoBytesOf(&engine, [&] { load(n); });
  BOOST_CHECK_GT(bytes.written, n);
  BOOST_CHECK_EQUAL(engine->Count({}, "t", Predicate::IsNotNull("c"), {}).value(), n);
  // The next put is written to it.
  const IoBytes put = IoBytesOf(&engine, [&] { BOOST_REQUIRE(engine.Put("x", "c", "1").ok()); });
  BOOST_CHECK_GT(put.written_to_log, 0u);
  return static_cast<double>(bytes.written_to_log);
}

/// Of two rows, the first and the last one, into a table of n regions, each with a row in memory.
double WrittenByALoadAmong(uint64_t n) {
  TestEngine engine;
  BOOST_REQUIRE(engine.Open().ok());
  TableOptions table = SimpleTable();
  for (uint64_t region = 1; region < n; ++region) table.split_keys.push_back(RowKey(region));
  BOOST_REQUIRE(engine->CreateTable(table).ok());
  PutRows(&engine, n, n);
  const IoBytes bytes = IoBytesOf(&engine, [&] {
    auto load = engine->BeginBulkLoad("t", {});
    BOOST_REQUIRE_EQUAL(load.status().ToString(), "OK");
    WriteBatch batch;
    for (const uint64_t row : {uint64_t{0}, n - 1}) batch.Put("t", RowKey(row), "d", "c", "v");
    BOOST_REQUIRE_EQUAL(load->Add(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(load->Commit().ToString(), "OK");
  });
  return static_cast<double>(bytes.written);
}

BOOST_AUTO_TEST_SUITE(BulkLoads)

BOOST_AUTO_TEST_CASE(ARowIsWrittenOnceALevel) {
  Check({.cost = "bytes written for each row of a bulk load of n rows in falling order",
         .n = 512,
         .bound = AtMostLogarithmic(100, 60),
         .measure = WrittenForEachOf});
}

BOOST_AUTO_TEST_CASE(NothingGoesThroughTheLog) {
  Check({.cost = "bytes that a bulk load of n rows writes to the log",
         .n = 200,
         .bound = AtMost(0),
         .measure = [](uint64_t n) { return WrittenToTheLogBy(n, false); }});
  Check({.cost = "bytes that a bulk load of n rows in falling order writes to the log",
         .n = 200,
         .bound = AtMost(0),
         .measure = [](uint64_t n) { return WrittenToTheLogBy(n, true); }});
}

BOOST_AUTO_TEST_CASE(RegionsWithoutRowsOfALoadAreLeftAlone) {
  Check({.cost = "bytes written by a bulk load of two rows among n regions with rows in memory",
         .n = 16,
         .bound = AtMost(32'768),
         .measure = WrittenByALoadAmong});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

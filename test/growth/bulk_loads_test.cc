// What sorting costs with the number of rows of a bulk load.
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

BOOST_AUTO_TEST_SUITE(BulkLoads)

BOOST_AUTO_TEST_CASE(ARowIsWrittenOnceALevel) {
  Check({.cost = "bytes written for each row of a bulk load of n rows in falling order",
         .n = 512,
         .bound = AtMostLogarithmic(100, 60),
         .measure = WrittenForEachOf});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// A pinned row keeps what decodes it for the next read, which may see another moment.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct MemstoresFixture {
  MemstoresFixture() {
    engine.tuning.memstore_bytes = 1;  // A memstore for every batch.
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine->CreateTable(SimpleTable(3)).ToString(), "OK");
  }
  /// The value of d:a; "-" if there is no row.
  std::string Read(const ReadOptions& options = {}) {
    const auto found = engine->GetPinned(options, "t", "row", &pinned);
    BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
    return *found ? std::string(pinned.view().Find("d", "a").value_or("nothing")) : "-";
  }

  TestEngine engine;
  PinnedRow pinned;
};

BOOST_FIXTURE_TEST_SUITE(pinned_row, MemstoresFixture)

BOOST_AUTO_TEST_CASE(EachReadHasItsOwnBoundsOfTime) {
  ReadOptions early, middle, late;
  early.as_of = 50;
  middle.as_of = 150;
  late.since = 300;
  for (const int64_t timestamp : {100, 200}) {
    const std::string value = timestamp == 100 ? "old" : "new";
    const Status put = engine.Put("row", "a", value, Durability::kWritten, timestamp);
    BOOST_REQUIRE_EQUAL(put.ToString(), "OK");
    BOOST_TEST(Read() == value);
    BOOST_TEST(Read(early) == "-");
    BOOST_TEST(Read(middle) == "old");
    BOOST_TEST(Read(late) == "-");
    BOOST_TEST(Read() == value);
  }
}

BOOST_AUTO_TEST_CASE(EachReadHasItsOwnSnapshot) {
  BOOST_REQUIRE_EQUAL(engine.Put("row", "a", "1").ToString(), "OK");
  BOOST_TEST(Read() == "1");
  const auto snapshot = engine->TakeSnapshot();
  BOOST_REQUIRE_EQUAL(engine.Put("row", "a", "2").ToString(), "OK");
  BOOST_TEST(Read() == "2");
  BOOST_TEST(Read({.snapshot = &*snapshot}) == "1");
  BOOST_TEST(Read() == "2");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

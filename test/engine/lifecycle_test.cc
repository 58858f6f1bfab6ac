// Opening, closing and what stands between: tables, handles, read-only access.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/engine/test_engine.h"

namespace tandem::test {
namespace {

BOOST_AUTO_TEST_SUITE(Lifecycle)

BOOST_AUTO_TEST_CASE(WhatWasWrittenIsThereAfterCloseAndOpen) {
  TestEngine engine;
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->CreateTable(SimpleTable()).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine.Put("a", "c", "1").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine.Put("b", "c", "2", Durability::kMemory).ToString(), "OK");
  BOOST_CHECK_EQUAL(engine.Rows(), "a{c=1} b{c=2}");
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(engine.Rows(), "a{c=1} b{c=2}");
  BOOST_CHECK_EQUAL(engine->Info().recovered_operations, 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

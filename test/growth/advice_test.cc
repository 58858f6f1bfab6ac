// Memory of advice on a table of n rows, and after n slow queries.
#define BOOST_TEST_DYN_LINK
#include "tandem/advice.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>

#include "tandem/event_listener.h"
#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// The most live bytes beyond those before, as seen from a function that advice calls for each row.
/// No index is advised: the size of one takes memory for its entries, up to a bound.
double MemoryOfAdvice(uint64_t n) {
  TestEngine engine;
  int64_t most = 0;
  auto function = std::make_shared<RegisteredFunction>();
  function->apply = [&most](std::string_view value) {
    most = std::max(most, LiveBytes());
    return std::optional<std::string>(value);
  };
  engine.options.functions.emplace("seen", std::move(function));
  OpenColdTable(&engine, n, /*hits=*/10);
  AdvisedQuery query;
  query.predicate = *Predicate::Parse("call('seen', c) != 'hit'");
  const int64_t before = LiveBytes();
  const Result<IndexAdvice> advice = (*engine).AdviseIndexes("t", {query}, {});
  BOOST_REQUIRE_EQUAL(advice.status().ToString(), "OK");
  BOOST_CHECK_EQUAL(advice->candidates, 1u);
  BOOST_CHECK_EQUAL(advice->rows_read, n);
  BOOST_CHECK(advice->indexes.empty());
  return static_cast<double>(most - before);
}

class Counting final : public EventListener {
 public:
  void OnSlowQuery(const SlowQueryEvent&) override { ++told; }
  uint64_t told = 0;
};

/// Live bytes that n slow queries leave, each with a cursor that is dropped early.
double LeftBySlowQueries(uint64_t n) {
  TestEngine engine;
  const auto listener = std::make_shared<Counting>();
  engine.options.listener = listener;
  engine.options.slow_query_micros = 5;
  auto function = std::make_shared<RegisteredFunction>();
  function->apply = [&engine](std::string_view value) {
    engine.clock.Advance(1);
    return std::optional<std::string>(value);
  };
  engine.options.functions.emplace("slowly", std::move(function));
  OpenColdTable(&engine, /*n=*/200, /*hits=*/10);
  const Predicate predicate = *Predicate::Parse("call('slowly', c) != 'hit'");
  const auto run = [&] {
    Result<Cursor> cursor = (*engine).Query({}, "t", predicate, {});
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    for (int row = 0; row < 12; ++row) BOOST_REQUIRE(cursor->Next());
  };
  for (int i = 0; i < 4; ++i) run();
  const int64_t before = LiveBytes();
  for (uint64_t i = 0; i < n; ++i) run();
  BOOST_CHECK_EQUAL(listener->told, n + 4);
  return static_cast<double>(LiveBytes() - before);
}

BOOST_AUTO_TEST_SUITE(Advice)

BOOST_AUTO_TEST_CASE(RowsAreReadOneByOne) {
  Check({.cost = "most bytes held by advice on a table of n rows, before sizes are made",
         .n = 1000,
         .bound = AtMostLinear(65'536, 8),
         .measure = MemoryOfAdvice});
}

BOOST_AUTO_TEST_CASE(SlowQueriesLeaveNothing) {
  Check({.cost = "bytes left by n slow queries that were told",
         .n = 16,
         .bound = AtMost(1024),
         .measure = LeftBySlowQueries});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

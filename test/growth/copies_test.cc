// What the last pass of a copy costs, while which writes wait.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>

#include "engine/scan/changed_rows.h"
#include "test/engine/read_world.h"
#include "test/growth/growth.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kWritten = 10;

void PutRow(ReadWorld* world, uint64_t row, const std::string& value) {
  world->Apply({.table = kWorldTable,
                .row = "row" + std::to_string(10'000'000 + row),
                .family = "d",
                .columns = {{"a", value}},
                .timestamp = std::nullopt});
}

uint64_t RowsExamined(const ReadWorld& world, uint64_t since, uint64_t expected) {
  const base::Cancellation never;
  engine::ChangedRows rows(world.View(world.Moments().front()).RegionOf(""),
                           format::SequenceNumber(since), never);
  uint64_t changed = 0;
  while (true) {
    const Result<bool> has_row = rows.Next();
    BOOST_REQUIRE_EQUAL(has_row.status().ToString(), "OK");
    if (!*has_row) break;
    ++changed;
  }
  BOOST_REQUIRE_EQUAL(changed, expected);
  return rows.rows_examined();
}

double RowsOfAPass(uint64_t n) {
  ReadWorld world({.families = {{.name = "d"}}, .indexes = {}});
  for (uint64_t row = 0; row < n; ++row) PutRow(&world, row, "0");
  world.Flush(0);
  world.TakeSnapshot();
  for (uint64_t row = 0; row < kWritten; ++row) PutRow(&world, row * 7, "1");
  return static_cast<double>(
      RowsExamined(world, world.Moments().back().sequence, /*expected=*/kWritten));
}

double RowsOfOneHotRow(uint64_t n) {
  ReadWorld world({.families = {{.name = "d"}}, .indexes = {}});
  PutRow(&world, 0, "0");
  world.TakeSnapshot();
  for (uint64_t i = 0; i < n; ++i) PutRow(&world, 0, std::to_string(i));
  return static_cast<double>(RowsExamined(world, world.Moments().back().sequence, /*expected=*/1));
}

BOOST_AUTO_TEST_SUITE(copies)

BOOST_AUTO_TEST_CASE(APassLooksAtWhatWasWritten) {
  Check({.cost = "rows that a pass of a copy looks at, ten of n written since",
         .n = 512,
         .bound = AtMost(kWritten),
         .measure = RowsOfAPass});
  Check({.cost = "rows that a pass of a copy looks at, one written n times",
         .n = 512,
         .bound = AtMost(1),
         .measure = RowsOfOneHotRow});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

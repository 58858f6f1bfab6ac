// What conditions on fields of row keys read: the rows that they leave, and the way there.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/growth/typed_table.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// Opens "t" with n rows of `users` users in one file, nothing cached.
void OpenTableOfUsers(TestEngine* engine, uint64_t n, uint64_t users) {
  OpenTypedTable(engine, "user:text, at:int64", n, [users](uint64_t row) {
    return std::vector<RowKeyField>{{"user", RowKey(row % users)},
                                    {"at", std::to_string(row / users)}};
  });
  OpenAgain(engine);
}

/// Cold reads of a query that finds `rows` rows. `text` is that of the predicate for n rows.
template <typename Text>
std::function<double(uint64_t)> ReadsOfQuery(uint64_t users, uint64_t rows, Text text) {
  return [=](uint64_t n) {
    TestEngine engine;
    OpenTableOfUsers(&engine, n, users);
    const Predicate predicate = *Predicate::Parse(text(n));
    return static_cast<double>(ReadsOf(&engine, [&] {
      BOOST_REQUIRE_EQUAL(RowsOf(engine->Query({}, "t", predicate, {})), rows);
    }));
  };
}

BOOST_AUTO_TEST_SUITE(key_fields)

BOOST_AUTO_TEST_CASE(AConditionOnTheFirstFieldsReadsTheirRows) {
  Check({.cost = "reads of a query of one user's 10 times among n rows, by fields of the row key",
         .n = 4000,
         .bound = AtMost(10),
         .measure = ReadsOfQuery(10, 10, [](uint64_t n) {
           const uint64_t at = n / 20;
           return "_row.user = '" + RowKey(4) + "' AND _row.at BETWEEN " + std::to_string(at) +
                  " AND " + std::to_string(at + 9);
         })});
}

BOOST_AUTO_TEST_CASE(AConditionOnTheSecondFieldSkipsTheValuesOfTheFirst) {
  Check({.cost = "reads of a query of one time among n rows of 10 users, by a skip scan",
         .n = 4000,
         .bound = AtMost(40),
         .measure = ReadsOfQuery(
             10, 10, [](uint64_t n) { return "_row.at = " + std::to_string(n / 20); })});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// Queries in the order of fields, and from the last key on: of a table whose keys are led by salts
// and moduli they return what they return of a plain one, at every snapshot, from either end, page
// by page, through indexes, intersections and scans.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <vector>

#include "test/api/twin_tables.h"

namespace tandem::test {
namespace {

Predicate RandomPredicate(Twins* twins) {
  const std::string low = std::to_string(twins->Below(1000));
  const std::string letter(1, static_cast<char>('p' + twins->Below(3)));
  switch (twins->Below(6)) {
    case 0:
      return {};
    case 1:
      return Predicate::GreaterOrEqual("c", low);
    case 2:
      return Predicate::Equal("e", letter);
    case 3:
      return Predicate::And({Predicate::Equal("e", letter), Predicate::Less("c", low)});
    case 4:
      return Predicate::Or({Predicate::Equal("e", letter), Predicate::Less("c", low)});
    default:
      return Predicate::Not(Predicate::Equal("e", letter));
  }
}

// Queries of both tables by the same fields. Returns how many of the twin's used an index.
int Compare(Twins* twins, const ReadOptions& read) {
  Fields prefix;
  RowKeyBounds bounds;
  twins->PickRows(&prefix, &bounds);
  const Predicate predicate = RandomPredicate(twins);
  QueryOptions query, plain;
  query.ranges = twins->schema.InFieldOrder(prefix, bounds)->ranges;
  plain.ranges = Plain().InFieldOrder(prefix, bounds)->ranges;
  query.descending = plain.descending = twins->Below(2) == 0;
  query.limit = plain.limit = twins->Below(2) == 0 ? 0 : 1 + twins->Below(20);
  query.offset = plain.offset = twins->Below(3) == 0 ? twins->Below(15) : 0;
  query.no_index = twins->Below(4) == 0;
  const auto open = [&](const QueryOptions& asked) {
    return twins->database->Query(read, "t", predicate, asked);
  };
  const auto rows_of = [&](const std::string& table, const QueryOptions& asked) {
    Result<Cursor> cursor = twins->database->Query(read, table, predicate, asked);
    return twins->Rows(table, &cursor);
  };
  const std::string expected = rows_of("plain", plain);
  BOOST_REQUIRE_EQUAL(rows_of("t", query), expected);
  const auto explained = twins->database->Explain(read, "t", predicate, query);
  BOOST_REQUIRE_EQUAL(explained.status().ToString(), "OK");
  BOOST_TEST(explained->rows ==
             static_cast<uint64_t>(std::count(expected.begin(), expected.end(), '=')));
  const int indexed = explained->index.empty() ? 0 : 1;
  if (query.limit != 0 || query.offset != 0) return indexed;
  BOOST_TEST(*twins->database->Count(read, "t", predicate, query) == explained->rows);
  BOOST_REQUIRE_EQUAL(twins->Pages(query, 1 + twins->Below(9), open), expected);
  if (explained->rows > 3) {
    QueryOptions rest = query;
    Result<Cursor> begun = open(query);
    BOOST_REQUIRE(begun.has_value() && begun->Next() && begun->Next() && begun->Next());
    rest.after = *begun->Token();
    BOOST_TEST(*twins->database->Count(read, "t", predicate, rest) == explained->rows - 3);
  }
  plain.descending = !plain.descending;
  BOOST_REQUIRE_EQUAL(twins->Back(query, open), rows_of("plain", plain));
  return indexed;
}

BOOST_AUTO_TEST_SUITE(merged_queries)

BOOST_AUTO_TEST_CASE(QueriesOfSaltedTablesEqualThoseOfPlainOnesAtEverySnapshot) {
  unsigned seed = 0;
  int indexed = 0;
  for (const char* declaration :
       {"salt(4), user:text, at:int64", "salt(300), user:text, at:int64",
        "mod(at, 7), user:text, at:int64", "salt(2), mod(at, 3), user:text, at:int64",
        "mod(at, 3, 4), user:text, at:int64", "salt(2), mod(at, 2, 300), user:text, at:int64",
        "user:text, at:int64", "hash(user, 2), user:text, at:int64",
        "salt(3), hash(user, 1), user:text, at:int64"}) {
    Twins twins(declaration, ++seed);
    std::optional<Snapshot> snapshot;
    for (int i = 0; i < 30; ++i) {
      twins.Change();
      if (i % 7 == 3) snapshot = *twins.database->TakeSnapshot();
      indexed += Compare(&twins, {});
      if (snapshot.has_value()) indexed += Compare(&twins, {.snapshot = &*snapshot});
    }
  }
  BOOST_TEST(indexed > 50);
}

// Each salt is one range of rows: what the merge reads of it follows from the limit.
BOOST_AUTO_TEST_CASE(AnExplanationSaysWhatIsMerged) {
  Twins twins("salt(4), user:text, at:int64", 1);
  for (int i = 0; i < 20; ++i) twins.Write();
  QueryOptions query;
  query.ranges = twins.schema.InFieldOrder({})->ranges;
  const auto explained = twins.database->Explain({}, "t", Predicate::Equal("e", "p"), query);
  BOOST_REQUIRE_EQUAL(explained.status().ToString(), "OK");
  BOOST_TEST(explained->reason.ends_with("; rows of 4 leads merged by the rest of their keys"));
  query.offset = 5;
  const auto later = twins.database->Explain({}, "t", Predicate::Equal("e", "p"), query);
  BOOST_REQUIRE_EQUAL(later.status().ToString(), "OK");
  BOOST_TEST(later->skipped_by_reading == 5u);
  BOOST_TEST(later->read_to_skip == "rows of 4 leads are merged");
  BOOST_TEST(later->rows == explained->rows - 5);
}

BOOST_AUTO_TEST_CASE(WhatCannotBeMergedIsRefused) {
  Twins twins("salt(4), user:text, at:int64", 1);
  twins.Write();
  const auto refused = [&](const QueryOptions& query) {
    return twins.database->Query({}, "t", {}, query).status().ToString();
  };
  QueryOptions query;
  query.ranges = {{"a", "c", 1}};
  BOOST_TEST(refused(query).find("begin with different ones") != std::string::npos);
  query.ranges = twins.schema.InFieldOrder({})->ranges;
  query.order_by = "c";
  BOOST_TEST(refused(query) ==
             "InvalidArgument: order_by and ranges with leading bytes are both given: each is an "
             "order of its own");
  // Without leading bytes they only say which rows.
  for (RowRange& range : query.ranges) range.leading_bytes = 0;
  BOOST_TEST(refused(query) == "OK");
}

BOOST_AUTO_TEST_CASE(ATokenOfOtherRangesOrTheOtherDirectionIsRefused) {
  Twins twins("salt(4), user:text, at:int64", 1);
  for (int i = 0; i < 5; ++i) twins.Write();
  QueryOptions query;
  query.ranges = twins.schema.InFieldOrder({})->ranges;
  auto cursor = twins.database->Query({}, "t", {}, query);
  BOOST_REQUIRE(cursor.has_value() && cursor->Next());
  query.after = *cursor->Token();
  BOOST_TEST(twins.database->Query({}, "t", {}, query).status().ToString() == "OK");
  QueryOptions turned = query;
  turned.descending = true;
  BOOST_TEST(twins.database->Query({}, "t", {}, turned).status().code() ==
             StatusCode::kInvalidArgument);
  for (RowRange& range : query.ranges) range.leading_bytes = 0;
  BOOST_TEST(twins.database->Query({}, "t", {}, query).status().code() ==
             StatusCode::kInvalidArgument);
}

// A budget stops it between rows that were given; the token goes on there.
BOOST_AUTO_TEST_CASE(AMergedQueryGoesOnAfterItsBudget) {
  Twins twins("salt(4), user:text, at:int64", 3);
  for (int i = 0; i < 20; ++i) twins.Write();
  for (const bool falls : {false, true}) {
    QueryOptions plain, query;
    plain.descending = query.descending = falls;
    query.ranges = twins.schema.InFieldOrder({})->ranges;
    const Predicate predicate = Predicate::GreaterOrEqual("c", "200");
    Result<Cursor> whole = twins.database->Query({}, "plain", predicate, plain);
    const std::string expected = twins.Rows("plain", &whole);
    ReadOptions read;
    read.budget.rows = 300;
    std::string found;
    int pieces = 0;
    for (; pieces < 200; ++pieces) {
      auto cursor = twins.database->Query(read, "t", predicate, query);
      BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
      while (cursor->Next()) found += twins.TextOf("t", cursor->row());
      if (cursor->status().ok()) break;
      BOOST_REQUIRE(cursor->status().code() == StatusCode::kOverBudget);
      query.after = *cursor->Token();
    }
    BOOST_TEST(found == expected);
  }
}

// A prepared query, and one in a transaction that has written.
BOOST_AUTO_TEST_CASE(PreparedAndInATransactionItIsTheSame) {
  Twins twins("salt(4), user:text, at:int64", 5);
  for (int i = 0; i < 10; ++i) twins.Write();
  QueryOptions query;
  query.ranges = twins.schema.InFieldOrder({})->ranges;
  query.descending = true;
  const auto rows_of = [&](Result<Cursor> cursor) { return twins.Rows("t", &cursor); };
  const std::string expected =
      rows_of(twins.database->Query({}, "t", Predicate::Equal("e", "q"), query));
  auto prepared = twins.database->Prepare("t", *Predicate::Parse("e = ?"), query);
  BOOST_REQUIRE_EQUAL(prepared.status().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(prepared->Bind(1, "q").ToString(), "OK");
  BOOST_TEST(rows_of(twins.database->Query({}, &*prepared)) == expected);
  auto transaction = twins.database->Begin();
  BOOST_REQUIRE_EQUAL(transaction.status().ToString(), "OK");
  const std::string key = *twins.schema.Encode(Fields{{"user", "zz"}, {"at", "99"}});
  BOOST_REQUIRE_EQUAL(transaction->Put("t", key, "d", "e", "q").ToString(), "OK");
  BOOST_TEST(rows_of(transaction->Query({}, "t", Predicate::Equal("e", "q"), query)) ==
             "zz/99= " + expected);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

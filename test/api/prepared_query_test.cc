// Prepared queries: what can be bound, and that they answer as queries with the values in the place
// of parameters do, whatever happened to the table meanwhile.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

struct PreparedFixture {
  PreparedFixture() {
    Options options;
    options.create_if_missing = true;
    options.memory_bytes = 8 << 20;
    options.io = IoBackend::kPosix;
    auto opened = Database::Open(directory.Path("db"), options);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
    database = *std::move(opened);
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}, {.name = "e"}};
    using Type = ColumnType;
    table.indexes = {
        {.name = "n", .columns = {{.family = "d", .qualifier = "n", .type = Type::kInt64}}},
        {.name = "b", .columns = {{.family = "d", .qualifier = "b", .type = Type::kBool}}},
        {.name = "f", .columns = {{.family = "e", .qualifier = "f", .type = Type::kDouble}}},
        {.name = "s", .columns = {{.family = "d", .qualifier = "s", .type = Type::kText}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    PutRows(0, 200);
  }

  void PutRows(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      WriteBatch batch;
      const std::string key = "row" + std::to_string(1000 + i);
      batch.Put("t", key, "d", "n", std::to_string(i % 20 - 5));
      batch.Put("t", key, "d", "b", i % 3 == 0 ? "true" : "false");
      batch.Put("t", key, "e", "f", std::to_string(i % 7) + ".5");
      batch.Put("t", key, "d", "s", std::string(1, static_cast<char>('a' + i % 26)));
      BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    }
  }
  PreparedQuery Prepared(std::string_view text, const QueryOptions& query = {}) {
    const auto predicate = Predicate::Parse(text);
    BOOST_REQUIRE_MESSAGE(predicate.has_value(), predicate.status().ToString());
    auto prepared = database->Prepare("t", *predicate, query);
    BOOST_REQUIRE_MESSAGE(prepared.has_value(), prepared.status().ToString());
    return *std::move(prepared);
  }
  static std::vector<std::string> KeysOf(Result<Cursor> cursor) {
    BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
    std::vector<std::string> keys;
    for (const RowView& row : *cursor) keys.emplace_back(row.key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }
  /// Compares rows, count and explanation with those of the predicate `text`; returns the count.
  uint64_t CheckSame(PreparedQuery* prepared, std::string_view text,
                     const QueryOptions& query = {}) {
    const Predicate predicate = *Predicate::Parse(text);
    const auto expected = KeysOf(database->Query({}, "t", predicate, query));
    BOOST_CHECK_MESSAGE(KeysOf(database->Query({}, prepared)) == expected, text);
    const auto count = database->Count({}, prepared);
    BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
    BOOST_CHECK_EQUAL(*count, expected.size());
    const auto explained = database->Explain({}, prepared);
    BOOST_REQUIRE_MESSAGE(explained.has_value(), explained.status().ToString());
    BOOST_CHECK_EQUAL(explained->rows, expected.size());
    BOOST_CHECK_EQUAL(explained->index, database->Explain({}, "t", predicate, query)->index);
    return expected.size();
  }
  static void CheckRefused(const Status& status, std::string_view message) {
    BOOST_CHECK_EQUAL(status.code(), StatusCode::kInvalidArgument);
    BOOST_CHECK_MESSAGE(std::string(status.message()).find(message) != std::string::npos,
                        "'" << status.message() << "' lacks '" << message << "'");
  }

  TemporaryDirectory directory{"/dev/shm"};
  std::unique_ptr<Database> database;
};

BOOST_FIXTURE_TEST_SUITE(prepared_query, PreparedFixture)

BOOST_AUTO_TEST_CASE(ValuesOfEachTypeAreThoseOfAPredicate) {
  PreparedQuery numbers = Prepared("n = ?");
  BOOST_CHECK_EQUAL(numbers.parameter_count(), 1u);
  for (const int64_t value : {-5, 0, 7, 100}) {
    BOOST_REQUIRE_EQUAL(numbers.BindInt64(1, value).ToString(), "OK");
    const uint64_t rows = CheckSame(&numbers, "n = " + std::to_string(value));
    BOOST_CHECK_EQUAL(rows, value == 100 ? 0u : 10u);
  }
  BOOST_REQUIRE_EQUAL(numbers.BindUint64(1, UINT64_MAX).ToString(), "OK");
  BOOST_CHECK_EQUAL(CheckSame(&numbers, "n = 18446744073709551615"), 0u);
  PreparedQuery reals = Prepared("e:f >= ?");
  BOOST_REQUIRE_EQUAL(reals.BindDouble(1, 5.5).ToString(), "OK");
  BOOST_CHECK_GT(CheckSame(&reals, "e:f >= 5.5"), 0u);
  PreparedQuery flags = Prepared("b = ?");
  BOOST_REQUIRE_EQUAL(flags.BindBool(1, true).ToString(), "OK");
  BOOST_CHECK_EQUAL(CheckSame(&flags, "b = TRUE"), 67u);
  PreparedQuery texts = Prepared("s PREFIX ? OR _row = ?");
  BOOST_REQUIRE_EQUAL(texts.Bind(1, "q").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(texts.Bind(2, "row1003").ToString(), "OK");
  BOOST_CHECK_GT(CheckSame(&texts, "s PREFIX 'q' OR _row = 'row1003'"), 1u);
}

BOOST_AUTO_TEST_CASE(OneParameterMayBeUsedOftenAndOthersStayBound) {
  PreparedQuery query = Prepared("n BETWEEN ?2 AND ?1 AND NOT n = ?2 AND s IN (?, 'd', ?)");
  BOOST_CHECK_EQUAL(query.parameter_count(), 4u);
  BOOST_REQUIRE_EQUAL(query.BindInt64(1, 10).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(query.BindInt64(2, -4).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(query.Bind(3, "c").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(query.Bind(4, "it's").ToString(), "OK");
  BOOST_CHECK_GT(CheckSame(&query, "n BETWEEN -4 AND 10 AND NOT n = -4 AND s IN ('c', 'd')"), 0u);
  BOOST_REQUIRE_EQUAL(query.Bind(4, "e").ToString(), "OK");
  BOOST_CHECK_GT(CheckSame(&query, "n BETWEEN -4 AND 10 AND NOT n = -4 AND s IN ('c', 'd', 'e')"),
                 0u);
}

BOOST_AUTO_TEST_CASE(WhatDoesNotFitIsRefusedAndChangesNothing) {
  PreparedQuery query = Prepared("n = ? AND b = ?");
  CheckRefused(database->Query({}, &query).status(), "parameter ?1 has no value");
  BOOST_REQUIRE_EQUAL(query.BindInt64(1, 1).ToString(), "OK");
  CheckRefused(database->Count({}, &query).status(), "parameter ?2 has no value");
  CheckRefused(database->Explain({}, &query).status(), "parameter ?2 has no value");
  BOOST_REQUIRE_EQUAL(query.BindBool(2, true).ToString(), "OK");
  CheckRefused(query.Bind(0, "1"), "no parameter ?0: it has 2");
  CheckRefused(query.Bind(3, "1"), "no parameter ?3: it has 2");
  CheckRefused(query.Bind(1, "seven"), "parameter ?1: column 'n'");
  CheckRefused(query.BindBool(1, true), "parameter ?1: column 'n'");
  CheckRefused(query.BindInt64(2, 7), "parameter ?2: column 'b'");
  CheckSame(&query, "n = 1 AND b = TRUE");
  query.ClearBindings();
  CheckRefused(database->Query({}, &query).status(), "parameter ?1 has no value");
}

BOOST_AUTO_TEST_CASE(ParametersAreForPreparedQueriesAlone) {
  const Predicate predicate = *Predicate::Parse("n = ?");
  CheckRefused(database->Query({}, "t", predicate).status(), "parameter ?1 has no value");
  CheckRefused(database->Count({}, "t", predicate).status(), "parameter ?1 has no value");
  CheckRefused(database->Explain({}, "t", predicate).status(), "parameter ?1 has no value");
}

BOOST_AUTO_TEST_CASE(WhatCannotRunIsRefusedWhenItIsPrepared) {
  const auto refused = [&](std::string_view table, std::string_view text, QueryOptions query = {}) {
    return database->Prepare(table, *Predicate::Parse(text), query).status();
  };
  BOOST_CHECK_EQUAL(refused("none", "n = ?").code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(refused("t", "none:n = ?").code(), StatusCode::kNotFound);
  CheckRefused(refused("t", "n = ? AND n > 'x'"), "column 'n'");
  CheckRefused(refused("t", "n PREFIX ?"), "neither bytes nor text");
  BOOST_CHECK_EQUAL(refused("t", "n = ?", {.order_by = "none"}).code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(refused("t", "n = ?", {.use_index = "none"}).code(), StatusCode::kNotFound);
  CheckRefused(refused("t", "n = ?", {.use_index = "n", .no_index = true}), "both given");
}

BOOST_AUTO_TEST_CASE(OptionsAreThoseOfItsPreparation) {
  const QueryOptions query{.order_by = "n", .descending = true, .limit = 7};
  PreparedQuery prepared = Prepared("s > ?", query);
  BOOST_REQUIRE_EQUAL(prepared.Bind(1, "d").ToString(), "OK");
  BOOST_CHECK_EQUAL(CheckSame(&prepared, "s > 'd'", query), 7u);
}

BOOST_AUTO_TEST_CASE(ItSeesTheTableAsItIs) {
  PreparedQuery query = Prepared("n = ?");
  BOOST_REQUIRE_EQUAL(query.BindInt64(1, 3).ToString(), "OK");
  BOOST_CHECK_EQUAL(CheckSame(&query, "n = 3"), 10u);
  BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  BOOST_CHECK_EQUAL(CheckSame(&query, "n = 3"), 10u);
  PutRows(200, 220);
  BOOST_CHECK_EQUAL(CheckSame(&query, "n = 3"), 11u);
  BOOST_REQUIRE(database->Split("t").has_value());
  BOOST_CHECK_EQUAL(CheckSame(&query, "n = 3"), 11u);
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(CheckSame(&query, "n = 3"), 11u);
}

// Few cached rows of one family are found by what an earlier run left (engine/query/few_rows.h).
BOOST_AUTO_TEST_CASE(WhatARunLeavesServesTheTableAsItIs) {
  TableOptions table;
  table.name = "one";
  table.families = {{.name = "d"}};
  const IndexColumn number{.family = "d", .qualifier = "n", .type = ColumnType::kInt64};
  table.indexes = {{.name = "n", .columns = {number}}};
  BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  for (int i = 0; i < 100; ++i) {
    WriteBatch batch;
    const std::string key = "row" + std::to_string(1000 + i);
    batch.Put("one", key, "d", i % 9 == 8 ? "m" : "n", std::to_string(i % 9 - 4));
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  PreparedQuery query = *database->Prepare("one", *Predicate::Parse("n = ?"));
  const auto check_all = [&] {
    for (const char* value : {"1", "-4", "+3", "007", "4", "-99999999999999999999", "2"}) {
      const auto predicate = *Predicate::Parse(std::string("n = '") + value + "'");
      BOOST_REQUIRE_EQUAL(query.Bind(1, value).ToString(), "OK");
      for (int run = 0; run < 3; ++run) {
        BOOST_CHECK_MESSAGE(
            KeysOf(database->Query({}, &query)) == KeysOf(database->Query({}, "one", predicate)),
            value);
      }
    }
  };
  check_all();
  BOOST_REQUIRE_EQUAL(database->Compact("one").ToString(), "OK");
  check_all();
  const Snapshot before = *database->TakeSnapshot();
  BOOST_REQUIRE_EQUAL(database->DropIndex("one", "n").ToString(), "OK");
  check_all();
  IndexColumn falling = number;
  falling.descending = true;
  BOOST_REQUIRE_EQUAL(database->CreateIndex("one", {.name = "n", .columns = {falling}}).ToString(),
                      "OK");
  check_all();
  ReadOptions old;
  old.snapshot = &before;
  BOOST_REQUIRE_EQUAL(query.BindInt64(1, 2).ToString(), "OK");
  const auto rows = KeysOf(database->Query(old, &query));
  BOOST_CHECK_EQUAL(rows.size(), 11u);
  BOOST_REQUIRE_EQUAL(
      database->SetColumnType("one", {.family = "d", .qualifier = "n", .type = ColumnType::kText})
          .ToString(),
      "OK");
  check_all();
  query.ClearBindings();
  CheckRefused(database->Query({}, &query).status(), "parameter ?1 has no value");
}

BOOST_AUTO_TEST_CASE(ACursorKeepsTheValuesThatItBeganWith) {
  auto query = std::make_unique<PreparedQuery>(Prepared("n = ? AND s >= ?"));
  BOOST_REQUIRE_EQUAL(query->BindInt64(1, 3).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(query->Bind(2, "a").ToString(), "OK");
  auto cursor = database->Query({}, query.get());
  BOOST_REQUIRE_EQUAL(query->BindInt64(1, 1000).ToString(), "OK");
  query.reset();
  BOOST_CHECK_EQUAL(KeysOf(std::move(cursor)).size(), 10u);
}

BOOST_AUTO_TEST_CASE(ItReadsSnapshotsAndEndsWithItsDatabase) {
  PreparedQuery query = Prepared("n = ?");
  BOOST_REQUIRE_EQUAL(query.BindInt64(1, 3).ToString(), "OK");
  {
    const Snapshot snapshot = *database->TakeSnapshot();
    PutRows(200, 220);
    ReadOptions old;
    old.snapshot = &snapshot;
    BOOST_CHECK_EQUAL(*database->Count(old, &query), 10u);
    BOOST_CHECK_EQUAL(*database->Count({}, &query), 11u);
  }
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
  BOOST_CHECK_EQUAL(database->Query({}, &query).status().code(), StatusCode::kClosed);
  BOOST_CHECK_EQUAL(database->Prepare("t", {}).status().code(), StatusCode::kClosed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

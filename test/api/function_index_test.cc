// Indexes over functions of a column: they answer conditions with the same functions exactly as a
// scan does, whatever happens to the files.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/index_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

TableOptions TableOfNames() {
  return {
      .name = "t",
      .families = {{.name = "d", .max_versions = 2}},
      .indexes = {IndexOf("low", "lower(name)"), IndexOf("age", "json(d:doc, '$.age')::int64")}};
}

struct FunctionIndexFixture : IndexFixture {
  FunctionIndexFixture() : IndexFixture(TableOfNames()) {}

  Status Put(const std::string& row, const std::string& qualifier, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", row, "d", qualifier, value);
    return database->Write({}, batch);
  }
  void PutAll(const std::string& row, const std::string& name, const std::string& doc) {
    BOOST_REQUIRE_EQUAL(Put(row, "name", name).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Put(row, "doc", doc).ToString(), "OK");
  }
  std::string Rows(std::string_view text, const std::string& use_index = "",
                   const Snapshot* snapshot = nullptr) {
    return IndexFixture::Rows(text, {.use_index = use_index}, {.snapshot = snapshot});
  }
  std::string IndexUsed(std::string_view text) { return Explained(text).index; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(function_indexes, FunctionIndexFixture)

BOOST_AUTO_TEST_CASE(TheyAnswerConditionsWithTheSameFunctions) {
  PutAll("a", "Ann", R"({"age":41})");
  PutAll("b", "ANN", R"({"age":"17"})");
  PutAll("c", "Bob", R"({"age":null})");
  PutAll("d", "\xff", "no json");
  PutAll("e", "bob", R"({"age":4.5})");
  AtEachStage([&] {
    BOOST_TEST(Rows("lower(name) = 'ann'", "low") == "a b ");
    BOOST_TEST(Rows("lower(name) = 'ANN'", "low") == "");
    BOOST_TEST(Rows("lower(name) PREFIX 'b'", "low") == "c e ");
    BOOST_TEST(Rows("NOT lower(name) = 'ann'", "low") == "c d e ");
    BOOST_TEST(Rows("lower(name) IS NULL", "low") == "d ");
    BOOST_TEST(Rows("lower(name) IS NULL AND name IS NOT NULL", "low") == "d ");
    BOOST_TEST(Rows("json(doc, '$.age')::int64 > 20", "age") == "a ");
    BOOST_TEST(Rows("json(doc, '$.age')::int64 < 20", "age") == "b ");
    BOOST_TEST(Rows("json(doc, '$.age')::int64 IS NULL", "age") == "c d e ");
    BOOST_TEST(Rows("json(doc, '$.age')::double < 5") == "e ");
    BOOST_TEST(Rows("lower(name) = 'ann' AND json(doc, '$.age')::int64 = 17") == "b ");
    BOOST_TEST(Rows("lower(name) = 'bob' OR json(doc, '$.age')::int64 = 17") == "b c e ");
    BOOST_TEST(Rows("length(name) = 3 AND substr(name, 1, 1) = 'A'") == "a b ");
  });
}

BOOST_AUTO_TEST_CASE(TheyFollowUpdatesAndDeletes) {
  for (int i = 0; i < 200; ++i) {
    const std::string row = "row" + std::to_string(1000 + i);
    PutAll(row, i % 2 == 0 ? "Even" : "Odd", "{\"age\":" + std::to_string(i % 10) + "}");
  }
  BOOST_REQUIRE(database->Flush("t").ok());
  const auto before = database->TakeSnapshot();
  BOOST_REQUIRE(before.has_value());
  BOOST_REQUIRE(Put("row1000", "name", "odd").ok());
  BOOST_REQUIRE(Put("row1001", "name", "EVEN").ok());
  BOOST_REQUIRE(Put("row1003", "doc", "broken").ok());
  WriteBatch batch;
  batch.DeleteRow("t", "row1005");
  batch.DeleteColumn("t", "row1007", "d", "name");
  BOOST_REQUIRE(database->Write({}, batch).ok());
  BOOST_TEST(IndexUsed("lower(name) = 'od' AND length(name) = 2") == "low");
  BOOST_TEST(IndexUsed("json(doc, '$.age')::int64 = 5") == "age");
  BOOST_TEST(IndexUsed("name = 'odd'") == "");
  BOOST_TEST(IndexUsed("upper(name) = 'OD'") == "");
  BOOST_TEST(IndexUsed("json(doc, '$.age') = '5'") == "");
  BOOST_TEST(IndexUsed("json(doc, '$.ages')::int64 = 5") == "");
  const auto count = [&](std::string_view text, const Snapshot* snapshot) {
    const std::string rows = Rows(text, "", snapshot);
    return std::count(rows.begin(), rows.end(), ' ');
  };
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(count("lower(name) = 'even'", nullptr) == 100);
    BOOST_TEST(count("lower(name) = 'odd'", nullptr) == 98);
    BOOST_TEST(count("lower(name) IS NULL", nullptr) == 1);
    BOOST_TEST(count("json(doc, '$.age')::int64 = 3", nullptr) == 19);
    BOOST_TEST(count("json(doc, '$.age')::int64 = 5", nullptr) == 19);
    BOOST_TEST(count("lower(name) = 'odd'", &*before) == 100);
    BOOST_TEST(count("json(doc, '$.age')::int64 = 3", &*before) == 20);
    BOOST_REQUIRE((i == 0 ? database->Flush("t") : database->Compact("t")).ok());
  }
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(TheirOrderIsThatOfWhatFunctionsReturn) {
  PutAll("a", "ccc", "{}");
  PutAll("b", "A", "{}");
  PutAll("c", "\xff", "{}");
  PutAll("d", "Bb", "{}");
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", IndexOf("len", "length(name) DESC")).ToString(),
                      "OK");
  const auto in_order = [&](const std::string& index, bool descending) {
    QueryOptions query;
    query.order_by = index;
    query.descending = descending;
    auto cursor = database->Query({}, "t", {}, query);
    BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
    std::string rows;
    while (cursor->Next()) rows += std::string(cursor->row().key()) + " ";
    return rows;
  };
  for (const bool flushed : {false, true}) {
    if (flushed) BOOST_REQUIRE(database->Flush("t").ok());
    BOOST_TEST(in_order("low", false) == "b d a ");
    BOOST_TEST(in_order("low", true) == "a d b ");
    BOOST_TEST(in_order("len", false) == "b d a ");
    BOOST_TEST(in_order("len", true) == "a d b ");
  }
}

BOOST_AUTO_TEST_CASE(OneIsMadeOnATableWithData) {
  for (int i = 0; i < 500; ++i) {
    const std::string row = "row" + std::to_string(1000 + i);
    PutAll(row, i % 50 == 7 ? "\xff" : "Name" + std::to_string(i % 20), "{}");
  }
  BOOST_REQUIRE(database->Flush("t").ok());
  BOOST_REQUIRE_EQUAL(
      database->CreateIndex("t", IndexOf("tail", "substr(name, 5)::int64")).ToString(), "OK");
  BOOST_TEST(Rows("substr(name, 5)::int64 = 19").size() == 25 * 8);
  BOOST_REQUIRE(database->Compact("t").ok());
  BOOST_TEST(Rows("substr(name, 5)::int64 = 19", "tail").size() == 25 * 8);
  BOOST_TEST(Rows("substr(name, 5)::int64 IS NULL").size() == 10 * 8);
  const auto info = database->Info();
  BOOST_REQUIRE(info.has_value());
  const IndexInfo& index = info->tables[0].indexes.back();
  BOOST_TEST(index.options.columns[0].ToString() == "substr(d:name, 5)::int64");
  BOOST_TEST(index.rows_without_entry == 10u);
  // No index changes the type of the column itself.
  BOOST_TEST(Rows("name = 'Name3'").size() == 25 * 8);
  BOOST_REQUIRE(database->DropIndex("t", "tail").ok());
  BOOST_TEST(Rows("substr(name, 5)::int64 = 19").size() == 25 * 8);
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(TimestampsOfCellsAreIndexed) {
  BOOST_REQUIRE_EQUAL(
      database->CreateIndex("t", IndexOf("hour", "date_trunc('hour', timestamp_of(name))"))
          .ToString(),
      "OK");
  constexpr int64_t kHour = 3'600'000'000;
  WriteBatch batch;
  batch.Put("t", "a", "d", "name", "x", 5 * kHour + 7);
  batch.Put("t", "b", "d", "name", "x", 6 * kHour);
  batch.Put("t", "c", "d", "name", "x", 5 * kHour);
  batch.Put("t", "c", "d", "name", "y", 9 * kHour);
  batch.Put("t", "d", "d", "name", std::string(100'000, 'l'), 6 * kHour + 1);
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  for (const bool flushed : {false, true}) {
    if (flushed) BOOST_REQUIRE(database->Flush("t").ok());
    const std::string hour = "date_trunc('hour', timestamp_of(name)) = ";
    BOOST_TEST(Rows(hour + std::to_string(5 * kHour), "hour") == "a ");
    BOOST_TEST(Rows(hour + "'1970-01-01T06:00:00Z'", "hour") == "b d ");
    BOOST_TEST(Rows(hour + "'1970-01-01T09:00:00Z'", "hour") == "c ");
    BOOST_TEST(Rows("lower(name) IS NULL", "low") == "d ");
  }
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(APutIsRefusedOnlyForTextThatIsTooLong) {
  BOOST_TEST(Put("a", "doc", "no json").ok());
  BOOST_TEST(Put("a", "name", "\xff").ok());
  BOOST_TEST(Put("a", "name", std::string(2'000, 'N')).ok());
  const Status status = Put("a", "name", std::string(2'100, 'N'));
  BOOST_TEST(status.code() == StatusCode::kInvalidArgument);
  BOOST_TEST(std::string(status.message())
                 .find("of lower(name) as text encodes to more than 2048 bytes") !=
             std::string::npos);
  // More than a function takes.
  BOOST_TEST(Put("a", "name", std::string(70'000, 'N')).ok());
  BOOST_TEST(Rows("lower(name) IS NULL") == "a ");
}

BOOST_AUTO_TEST_CASE(WrongDefinitionsChangeNothing) {
  const auto why = [&](IndexColumn column) {
    const Status status =
        database->CreateIndex("t", {.name = "new", .columns = {std::move(column)}});
    BOOST_TEST(status.code() == StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  BOOST_TEST(why({.qualifier = "name", .functions = {Function::Bucket(0)}}) ==
             "index 'new': bucket: expected a number from 1, found 0");
  BOOST_TEST(
      why({.qualifier = "name", .type = ColumnType::kInt64Be, .functions = {Function::Lower()}}) ==
      "index 'new': lower: it returns text, and type int64_be reads bytes");
  BOOST_TEST(why({.qualifier = "name", .functions = Functions(9, Function::Lower())}) ==
             "index 'new': 9 functions are applied to a column, the limit is 8");
  BOOST_TEST(database->Info()->tables[0].indexes.size() == 2u);
  QueryOptions query;
  query.use_index = "low";
  const auto refused = database->Count({}, "t", *Predicate::Parse("name = 'ann'"), query);
  BOOST_TEST(refused.error().message() ==
             "index 'low' cannot serve the predicate: no condition on lower(name)");
  const auto cast = database->Count({}, "t", *Predicate::Parse("lower(name)::int64 = 1"), query);
  BOOST_TEST(cast.error().message() ==
             "index 'low' cannot serve the predicate: it has lower(name) as text, and conditions "
             "do not: cast them (lower(name)::text)");
  const auto prefix = database->Count({}, "t", *Predicate::Parse("length(name) PREFIX '1'"), {});
  BOOST_TEST(prefix.error().message() ==
             "length(name) is neither bytes nor text: it has no prefixes");
  const auto number = database->Count({}, "t", *Predicate::Parse("length(name) = 'x'"), {});
  BOOST_TEST(number.error().message() ==
             "length(name): value 'x' of length(name) does not fit the index type int64");
}

BOOST_AUTO_TEST_CASE(PreparedConditionsHaveFunctions) {
  PutAll("a", "Ann", R"({"age":41})");
  PutAll("b", "Bob", R"({"age":17})");
  auto prepared = database->Prepare(
      "t", *Predicate::Parse("lower(name) = ? AND json(doc, '$.age')::int64 > ?"));
  BOOST_REQUIRE_MESSAGE(prepared.has_value(), prepared.status().ToString());
  BOOST_REQUIRE(prepared->Bind(1, "ann").ok());
  BOOST_REQUIRE(prepared->BindInt64(2, 40).ok());
  const auto count = database->Count({}, &*prepared);
  BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
  BOOST_TEST(*count == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test

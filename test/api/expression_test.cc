// Expressions that a query returns in the place of columns, and orders that are asked for by
// columns.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/limits.h"
#include "tandem/tandem.h"
#include "test/api/index_fixture.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

TableOptions TableOfTexts() {
  IndexOptions covering = IndexOf("covering", "city");
  covering.include = {{"d", "name"}};
  IndexOptions partial = IndexOf("partial", "city, name");
  partial.where = "size > 5";
  return {
      .name = "t",
      .families = {{.name = "d", .max_versions = 3}, {.name = "tags"}},
      .indexes = {covering, partial, IndexOf("lowered", "lower(name)"),
                  IndexOf("sized", "size::int64 DESC"), IndexOf("pair", "kind, size::int64 DESC"),
                  IndexOf("parts", "split(list, ',')")},
      .columns = {{.family = "d", .qualifier = "n", .type = ColumnType::kInt64}}};
}

struct ExpressionFixture : IndexFixture {
  ExpressionFixture() : IndexFixture(TableOfTexts()) {}

  void Put(const std::string& row,
           const std::vector<std::pair<std::string, std::string>>& columns) {
    WriteBatch batch;
    for (const auto& [name, value] : columns) {
      const bool is_tag = name.starts_with("tags:");
      batch.Put("t", row, is_tag ? "tags" : "d", is_tag ? name.substr(5) : name, value);
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE(database->Flush("t").ok()); }
  static std::string TextOf(const RowView& row) {
    std::string text = std::string(row.key()) + "[";
    for (const Cell& cell : row.cells()) {
      if (text.back() != '[') text += "|";
      if (!cell.family.empty()) text += std::string(cell.family) + ":";
      text += std::string(cell.qualifier) + "=" + std::string(cell.value);
    }
    return text + "] ";
  }
  std::string Texts(Result<Cursor> cursor) {
    if (!cursor.has_value()) return cursor.status().ToString();
    std::string text;
    for (const RowView& row : *cursor) text += TextOf(row);
    return cursor->status().ok() ? text : cursor->status().ToString();
  }
  std::string Computed(const std::vector<std::string>& expressions, std::string_view predicate = {},
                       QueryOptions query = {}, const ReadOptions& read = {}) {
    query.expressions = expressions;
    const Predicate where = predicate.empty() ? Predicate() : Predicate::Parse(predicate).value();
    return Texts(database->Query(read, "t", where, query));
  }
  std::string Keys(const QueryOptions& query, std::string_view predicate = {}) {
    const Predicate where = predicate.empty() ? Predicate() : Predicate::Parse(predicate).value();
    auto cursor = database->Query({}, "t", where, query);
    if (!cursor.has_value()) return cursor.status().ToString();
    std::string keys;
    for (const RowView& row : *cursor) keys += std::string(row.key()) + " ";
    return keys;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(expressions, ExpressionFixture)

BOOST_AUTO_TEST_CASE(ValuesComeAfterTheColumns) {
  Put("k/1", {{"name", "Ann"}, {"n", "007"}, {"list", "b,a,,b"}, {"tags:x", "1"}});
  Put("k/2", {{"name", "\xff"}, {"n", "many"}, {"tags:y", "2"}, {"tags:x", "2"}});
  AtEachStage([&] {
    BOOST_TEST(Computed({"lower(name)", "length(name)"}) ==
               "k/1[lower(name)=ann|length(name)=3] k/2[] ");
    BOOST_TEST(Computed({"n::int64"}) == "k/1[n::int64=7] k/2[] ");
    BOOST_TEST(Computed({"n"}) == "k/1[n=7] k/2[] ");  // The column's type.
    BOOST_TEST(Computed({"n::bytes"}) == "k/1[n::bytes=007] k/2[n::bytes=many] ");
    BOOST_TEST(Computed({"_row", "split_part(_row, '/', 2)::int64"}) ==
               "k/1[_row=k/1|split_part(_row, '/', 2)::int64=1] "
               "k/2[_row=k/2|split_part(_row, '/', 2)::int64=2] ");
    BOOST_TEST(Computed({"split(list, ',')"}) ==
               "k/1[split(list, ',')=a|split(list, ',')=b] k/2[] ");
    BOOST_TEST(Computed({"map_keys(tags)", "map_values(tags)::int64"}) ==
               "k/1[map_keys(tags)=x|map_values(tags)::int64=1] "
               "k/2[map_keys(tags)=x|map_keys(tags)=y|map_values(tags)::int64=2] ");
    BOOST_TEST(Computed({"concat(name, '-', tags:x)"}) ==
               "k/1[concat(name, '-', tags:x)=Ann-1] k/2[] ");
    const ReadOptions names{.columns = {{"", "name"}}, .families = {"tags"}};
    BOOST_TEST(Computed({"upper(name)"}, "n = 7", {}, names) ==
               "k/1[d:name=Ann|tags:x=1|upper(name)=ANN] ");
  });
  // A value of any length.
  const std::string large(100'000, 'x');
  Put("k/3", {{"body", large}, {"n", large}});
  BOOST_TEST(Computed({"body::text"}, "_row = 'k/3'") == "k/3[body::text=" + large + "] ");
}

BOOST_AUTO_TEST_CASE(TheyReadTheVersionThatTheQuerySees) {
  Put("a", {{"name", "First"}});
  const auto before = database->TakeSnapshot();
  BOOST_REQUIRE(before.has_value());
  Put("a", {{"name", "Second"}});
  BOOST_TEST(Computed({"lower(name)"}) == "a[lower(name)=second] ");
  BOOST_TEST(Computed({"lower(name)"}, {}, {}, {.snapshot = &*before}) == "a[lower(name)=first] ");
  const ReadOptions all{.columns = {{"d", "name"}}, .versions = 3};
  BOOST_TEST(Computed({"lower(name)"}, {}, {}, all) ==
             "a[d:name=Second|d:name=First|lower(name)=second] ");
  BOOST_TEST(Computed({"lower(name)"}, "name = 'First'", {.any_version = true}) ==
             "a[lower(name)=second] ");
  BOOST_TEST(Computed({"map_values(d)"}, {}, {}, {.columns = {{"d", "none"}}, .versions = 3}) ==
             "a[map_values(d)=Second] ");
}

BOOST_AUTO_TEST_CASE(PreparedQueriesTokensAndTransactionsHaveThem) {
  for (int i = 0; i < 40; ++i)
    Put("r" + std::to_string(10 + i), {{"name", "N" + std::to_string(i)}});
  const QueryOptions query{.limit = 2, .expressions = {"lower(name)"}};
  auto prepared = database->Prepare("t", *Predicate::Parse("_row >= ?"), query);
  BOOST_REQUIRE(prepared.has_value());
  BOOST_REQUIRE(prepared->Bind(1, "r20").ok());
  auto first = database->Query({}, &*prepared);
  BOOST_REQUIRE(first.has_value());
  std::string text;
  for (const RowView& row : *first) text += TextOf(row);
  BOOST_TEST(text == "r20[lower(name)=n10] r21[lower(name)=n11] ");
  BOOST_TEST(database->Count({}, &*prepared).value() == 2);
  BOOST_TEST(database->Explain({}, &*prepared)->rows == 2);
  QueryOptions next = query;
  next.after = first->Token().value();
  BOOST_TEST(Texts(database->Query({}, "t", *Predicate::Parse("_row >= 'r20'"), next))
                 .starts_with("the token") == false);
  auto transaction = database->Begin();
  BOOST_REQUIRE(transaction.has_value());
  BOOST_REQUIRE(transaction->Put("t", "r10", "d", "name", "Own").ok());
  BOOST_TEST(Texts(transaction->Query({}, "t", Predicate(), query)) ==
             "r10[lower(name)=own] r11[lower(name)=n1] ");
}

BOOST_AUTO_TEST_CASE(AnIncludedColumnIsComputedWithoutItsRow) {
  for (int i = 0; i < 300; ++i) {
    Put("r" + std::to_string(i),
        {{"city", "c" + std::to_string(i % 3)}, {"name", "N"}, {"x", "y"}});
  }
  BOOST_REQUIRE(database->Compact("t").ok());
  BOOST_TEST(
      Explained("city = 'c1'", {.use_index = "covering", .expressions = {"lower(name)"}}).covered);
  BOOST_TEST(
      !Explained("city = 'c1'", {.use_index = "covering", .expressions = {"lower(x)"}}).covered);
}

BOOST_AUTO_TEST_CASE(WrongOnesAreRefused) {
  const auto why = [&](const std::vector<std::string>& expressions, const ReadOptions& read = {}) {
    return Computed(expressions, {}, {}, read);
  };
  BOOST_TEST(why({"lower(name)", "lower(name)"}) ==
             "InvalidArgument: expression 'lower(name)': it is given twice");
  BOOST_TEST(why({"lower(name"}).starts_with("InvalidArgument: expression 'lower(name': at posi"));
  BOOST_TEST(why({"lower(name) x"}).starts_with("InvalidArgument: expression 'lower(name) x': at"));
  BOOST_TEST(why({"sin(name)"}).starts_with("InvalidArgument: expression 'sin(name)': "));
  BOOST_TEST(why({"no:name"}) == "NotFound: table 't' has no family 'no'");
  BOOST_TEST(why({"call('f', name)"}).find("function 'f' is not registered") != std::string::npos);
  BOOST_TEST(
      why({"lower(name)"}, {.pieces = true}).starts_with("InvalidArgument: expressions and"));
  BOOST_TEST(why({"lower(name)::int64_be"}).starts_with("InvalidArgument: expression "));
  std::vector<std::string> many;
  for (size_t i = 0; i <= kExpressionsMax; ++i) many.push_back("c" + std::to_string(i));
  BOOST_TEST(why(many).starts_with("InvalidArgument: a query has at most 64 expressions"));
}

// Whatever a row lies in, a value is one that conditions find the row by, and it has all of these.
BOOST_AUTO_TEST_CASE(ValuesAreThoseOfConditions) {
  const std::vector<std::string> expressions = {
      "lower(name)",          "n::int64",        "split(list, ',')",  "map_keys(tags)",
      "concat(name, tags:x)", "bucket(name, 4)", "substr(name, 1, 1)"};
  TestRandom random("ValuesAreThoseOfConditions");
  const auto text = [&](std::string_view letters) { return random.Text(3, letters); };
  for (size_t round = 0; round < Trials(30); ++round) {
    for (int i = 0; i < 20; ++i) {
      const std::string row = "r" + std::to_string(random.Below(30));
      WriteBatch batch;
      switch (random.Below(6)) {
        case 0:
          batch.DeleteColumn("t", row, "d", "name");
          break;
        case 1:
          batch.DeleteRow("t", row);
          break;
        case 2:
          batch.Put("t", row, "tags", text("xyxx"), text("1234"));
          break;
        case 3:
          batch.Put("t", row, "d", "n", text("12-x"));
          break;
        case 4:
          batch.Put("t", row, "d", "list", text("a,bc"));
          break;
        default:
          batch.Put("t", row, "d", "name", text("aBcD"));
      }
      BOOST_REQUIRE(database->Write({}, batch).ok());
    }
    if (random.OneIn(3)) Flush();
    if (random.OneIn(9)) BOOST_REQUIRE(database->Compact("t").ok());
    for (const std::string& expression : expressions) {
      std::map<std::string, std::set<std::string>> rows_of;  // By value.
      std::set<std::string> without;
      auto cursor = database->Query({}, "t", Predicate(), {.expressions = {expression}});
      BOOST_REQUIRE(cursor.has_value());
      for (const RowView& row : *cursor) {
        if (row.cells().empty()) without.emplace(row.key());
        for (const Cell& cell : row.cells()) rows_of[std::string(cell.value)].emplace(row.key());
      }
      const auto rows_with = [&](const std::string& condition) {
        std::set<std::string> rows;
        auto found = database->Query({}, "t", *Predicate::Parse(expression + condition));
        BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
        for (const RowView& row : *found) rows.emplace(row.key());
        return rows;
      };
      BOOST_TEST(rows_with(" IS NULL") == without, expression);
      for (const auto& [value, rows] : rows_of) {
        BOOST_TEST(rows_with(" = '" + value + "'") == rows, expression << " of " << value);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(AnOrderIsFoundByItsColumns) {
  Put("a", {{"name", "b"}, {"size", "1"}, {"kind", "k"}, {"city", "z"}});
  Put("b", {{"name", "C"}, {"size", "9"}, {"kind", "k"}, {"city", "y"}});
  Put("c", {{"name", "A"}, {"size", "5"}, {"kind", "j"}});
  AtEachStage([&] {
    BOOST_TEST(Keys({.order_by = "lower(name)"}) == "c a b ");
    BOOST_TEST(Keys({.order_by = "lower(name) DESC"}) == "b a c ");
    BOOST_TEST(Keys({.order_by = "lower(d:name) DESC", .descending = true}) == "c a b ");
    BOOST_TEST(Keys({.order_by = "size::int64"}) == "a c b ");
    BOOST_TEST(Keys({.order_by = "size"}) == "a c b ");
    BOOST_TEST(Keys({.order_by = "size DESC"}) == "b c a ");
    BOOST_TEST(Keys({.order_by = "kind, size DESC"}) == "c b a ");
    BOOST_TEST(Keys({.order_by = "kind DESC, size"}) == "a b c ");
    BOOST_TEST(Keys({.order_by = "kind"}) == "c b a ");
    BOOST_TEST(Keys({.order_by = "city"}) == "b a ");
    BOOST_TEST(Explained("", {.order_by = "city", .limit = 1}).index == "covering");
  });
  // One token is of both ways to ask.
  auto page = database->Query({}, "t", Predicate(), {.order_by = "lowered", .limit = 1});
  BOOST_REQUIRE(page.has_value());
  BOOST_REQUIRE(page->Next());
  BOOST_TEST(Keys({.order_by = "lower(name)", .after = page->Token().value()}) == "a b ");

  const std::string none = ", and no local index without WHERE that begins with such columns";
  BOOST_TEST(Keys({.order_by = "kind, size"}) ==
             "NotFound: table 't' has no index 'kind, size'" + none);
  BOOST_TEST(Keys({.order_by = "upper(name)"}) ==
             "NotFound: table 't' has no index 'upper(name)'" + none);
  BOOST_TEST(Keys({.order_by = "split(list, ',')"}) ==
             "NotFound: table 't' has no index 'split(list, ',')'" + none);
  BOOST_TEST(Keys({.order_by = "city, name"}) ==
             "NotFound: table 't' has no index 'city, name'" + none);
  BOOST_TEST(
      Keys({.order_by = "lower("})
          .starts_with(
              "NotFound: table 't' has no index 'lower('; as columns: at position 7: expected"));
}

BOOST_AUTO_TEST_CASE(AlikeIndexesAreRefusedWithTheTable) {
  const auto why_not = [&](std::vector<IndexOptions> indexes) {
    return std::string(
        database
            ->CreateTable({.name = "u", .families = {{.name = "d"}}, .indexes = std::move(indexes)})
            .message());
  };
  IndexOptions global = IndexOf("third", "city");
  global.placement = IndexPlacement::kGlobal;
  IndexOptions other = global;
  other.name = "fourth";
  const std::string same = "index 'first' has the same definition";
  BOOST_TEST(why_not({IndexOf("first", "city"), IndexOf("second", "d:city")}) == same);
  BOOST_TEST(why_not({IndexOf("first", "city"), global, other}) ==
             "index 'third' has the same definition");
  BOOST_TEST(why_not({IndexOf("first", "city"), IndexOf("second", "city DESC"), global}) == "");
  BOOST_TEST(std::string(database->CreateIndex("u", other).message()) ==
             "index 'third' has the same definition");
  BOOST_REQUIRE(database->DropIndex("u", "third").ok());
  BOOST_TEST(database->CreateIndex("u", other).ToString() == "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test

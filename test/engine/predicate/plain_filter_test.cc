// A filter over plain rows decides as the predicate does, for every kind of condition that it
// takes.
#define BOOST_TEST_DYN_LINK
#include "engine/predicate/plain_filter.h"

#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/create_table.h"
#include "test/support/test_random.h"

namespace tandem::engine {
namespace {

using test::TestRandom;

struct TypedColumn {
  std::string name;
  ColumnType type;
  std::vector<std::string> literals;
};

const std::vector<TypedColumn> kColumns = {
    {"text", ColumnType::kText, {"", "a", "ab", "b", "\xff"}},
    {"bytes", ColumnType::kBytes, {"", "a", "ab", "\xff"}},
    {"int64", ColumnType::kInt64, {"-1", "0", "1", "9223372036854775808"}},
    {"uint64_be", ColumnType::kUint64Be, {"0", "1", "97", "18446744073709551615"}},
    {"double", ColumnType::kDouble, {"-1", "0", "0.5", "1"}},
};

// Of any column, whether they fit its type or not.
const std::vector<std::string> kStored = {"",
                                          "a",
                                          "ab",
                                          "abc",
                                          "b",
                                          "\xff",
                                          "1",
                                          "-1",
                                          "0.5",
                                          "one",
                                          std::string(7, '\0') + "a",
                                          std::string(8, '\0'),
                                          std::string(70000, 'a')};

format::TableRecord Table() {
  TableOptions options{.name = "t", .families = {{.name = "d"}}};
  for (const TypedColumn& column : kColumns) {
    if (column.type == ColumnType::kBytes) continue;  // As columns are without an index.
    options.indexes.push_back(
        {.name = column.name, .columns = {{.qualifier = column.name, .type = column.type}}});
  }
  const auto random = base::NewSeededRandom(1);
  auto table = MakeTableRecord(options, random.get());
  BOOST_REQUIRE_MESSAGE(table.has_value(), table.status().ToString());
  return *std::move(table);
}

Predicate RandomLeaf(TestRandom& random) {
  const TypedColumn& column = kColumns[random.Below(kColumns.size())];
  const auto literal = [&] { return column.literals[random.Below(column.literals.size())]; };
  const bool has_bytes = ComparesAsBytes(column.type);
  switch (random.Below(has_bytes ? 9 : 7)) {
    case 0:
      return Predicate::Equal(column.name, literal());
    case 1:
      return Predicate::NotEqual(column.name, literal());
    case 2:
      return Predicate::LessOrEqual(column.name, literal());
    case 3:
      return Predicate::Between(column.name, literal(), literal());
    case 4:
      return Predicate::In(column.name, {literal(), literal()});
    case 5:
      return Predicate::IsNull(column.name);
    case 6:
      return Predicate::IsNotNull(column.name);
    case 7:
      return Predicate::Prefix(column.name, literal());
    default:
      return Predicate::Contains(column.name, literal());
  }
}

Predicate RandomPredicate(TestRandom& random, int depth) {
  if (depth == 0 || random.OneIn(3)) {
    Predicate leaf = RandomLeaf(random);
    return random.OneIn(3) ? Predicate::Not(std::move(leaf)) : leaf;
  }
  std::vector<Predicate> children;
  for (uint64_t left = random.Below(4); left > 0; --left) {
    children.push_back(RandomPredicate(random, depth - 1));
  }
  return random.OneIn(2) ? Predicate::And(std::move(children)) : Predicate::Or(std::move(children));
}

// A value of each column at most; a null view where there is none.
struct PlainRow {
  std::vector<format::Cell> cells;

  std::string_view Find(std::string_view qualifier) const {
    for (const format::Cell& cell : cells) {
      if (cell.qualifier == qualifier) return cell.value;
    }
    return {};
  }
};

PlainRow RandomRow(TestRandom& random) {
  PlainRow row;
  for (const TypedColumn& column : kColumns) {
    if (random.OneIn(4)) continue;
    format::Cell& cell = row.cells.emplace_back();
    cell.qualifier = column.name;
    cell.value = kStored[random.Below(kStored.size())];
  }
  return row;
}

BoundPredicate Bound(const Predicate& predicate, const format::TableRecord& table,
                     const BindOptions& options = {}) {
  auto bound = BoundPredicate::Bind(predicate, table, options);
  BOOST_REQUIRE_MESSAGE(bound.has_value(), predicate.ToString()
                                               << ": " << bound.status().ToString());
  return *std::move(bound);
}

// Whether a filter takes the predicate.
bool Takes(const char* text, const BindOptions& options = {}) {
  const format::TableRecord table = Table();
  const BoundPredicate bound = Bound(*Predicate::Parse(text), table, options);
  return PlainFilter::Of(bound.root(), format::FamilyId(0)).has_value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plain_filter)

BOOST_AUTO_TEST_CASE(DecidesAsThePredicateDoes) {
  TestRandom random("DecidesAsThePredicateDoes");
  const format::TableRecord table = Table();
  uint64_t matching = 0, decided = 0;
  for (int i = 0; i < 2000; ++i) {
    const Predicate predicate = RandomPredicate(random, 3);
    BoundPredicate bound = Bound(predicate, table);
    std::optional<PlainFilter> filter = PlainFilter::Of(bound.root(), table.families.front().id);
    BOOST_REQUIRE_MESSAGE(filter.has_value(), predicate.ToString());
    for (int k = 0; k < 20; ++k) {
      const PlainRow row = RandomRow(random);
      std::vector<std::string_view> values;
      for (const std::string& column : filter->columns()) values.push_back(row.Find(column));
      const bool expected = *bound.Matches("row", row.cells);
      BOOST_REQUIRE_MESSAGE(filter->Matches(values) == expected, predicate.ToString());
      ++decided;
      matching += expected ? 1 : 0;
    }
  }
  BOOST_TEST(matching > decided / 10);
  BOOST_TEST(matching < decided - decided / 10);
}

BOOST_AUTO_TEST_CASE(NeedsEachColumnOnce) {
  const format::TableRecord table = Table();
  const BoundPredicate bound = Bound(
      *Predicate::Parse("text = 'a' OR bytes = 'b' AND NOT (text = 'c' AND int64 = 1)"), table);
  const auto filter = PlainFilter::Of(bound.root(), table.families.front().id);
  BOOST_REQUIRE(filter.has_value());
  BOOST_TEST((filter->columns() == std::vector<std::string>{"bytes", "int64", "text"}));
}

BOOST_AUTO_TEST_CASE(LeavesWhatNeedsMoreThanOneStoredValue) {
  BOOST_TEST(Takes("text = 'a'"));
  BOOST_TEST(!Takes("text = 'a' AND _row > 'b'"));
  BOOST_TEST(!Takes("lower(text) = 'a'"));
  BOOST_TEST(!Takes("words(text) = 'a'"));
  BOOST_TEST(!Takes("text = 'a'", {.versions = DecidingVersions::kAny}));
  const format::TableRecord table = Table();
  const BoundPredicate bound = Bound(*Predicate::Parse("text = 'a'"), table);
  BOOST_TEST(!PlainFilter::Of(bound.root(), format::FamilyId(7)).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::engine

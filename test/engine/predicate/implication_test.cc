// What is implied by the shape of two predicates holds for every row; and by a part of a row that
// satisfies a predicate it is never false.
#define BOOST_TEST_DYN_LINK
#include "engine/predicate/implication.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/create_table.h"
#include "index/partial.h"
#include "tools/generator/generator.h"

namespace tandem::engine {
namespace {

using test::Dice;

constexpr std::array<const char*, 3> kColumns = {"a", "b", "c"};
const std::vector<std::string> kValues = {"1", "2"};

// A value of each column, or none.
using SmallRow = std::array<std::optional<std::string>, kColumns.size()>;

std::vector<SmallRow> AllRows() {
  std::vector<SmallRow> rows;
  for (int number = 0; number < 27; ++number) {
    SmallRow& row = rows.emplace_back();
    for (int i = 0, rest = number; i < 3; ++i, rest /= 3) {
      if (rest % 3 > 0) row[i] = kValues[rest % 3 - 1];
    }
  }
  return rows;
}

std::vector<format::Cell> CellsOf(const SmallRow& row) {
  std::vector<format::Cell> cells;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!row[i].has_value()) continue;
    format::Cell& cell = cells.emplace_back();
    cell.qualifier = kColumns[i];
    cell.value = *row[i];
  }
  return cells;
}

test::TablePlan PlanOfTable() {
  test::TablePlan plan;
  plan.options = {.name = "t", .families = {{.name = "d"}}};
  for (const char* column : kColumns) plan.columns.push_back({.qualifier = column});
  plan.values = kValues;
  return plan;
}

format::TableRecord TableWith(const test::TablePlan& plan, const std::string& where) {
  TableOptions options = plan.options;
  options.indexes = {{.name = "i", .columns = {{.qualifier = "a"}}, .where = where}};
  const auto random = base::NewSeededRandom(1);
  auto table = MakeTableRecord(options, random.get());
  BOOST_REQUIRE_MESSAGE(table.has_value(), where << ": " << table.status().ToString());
  return *std::move(table);
}

bool Matches(const Predicate& predicate, const format::TableRecord& table, const SmallRow& row) {
  return BoundPredicate::Bind(predicate, table)->Matches("row", CellsOf(row)).value();
}

BOOST_AUTO_TEST_SUITE(implication)

BOOST_AUTO_TEST_CASE(WhatIsImpliedHoldsForEveryRow) {
  Dice dice(11);
  const test::TablePlan plan = PlanOfTable();
  const std::vector<SmallRow> rows = AllRows();
  uint64_t implied = 0, true_of_all = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::string where = RandomWhere(&dice, plan);
    const format::TableRecord table = TableWith(plan, where);
    Predicate asked = Predicate::Parse(RandomWhere(&dice, plan)).value();
    if (dice.Chance(50)) asked = Predicate::And({asked, Predicate::Parse(where).value()});
    const bool is_implied =
        Implies(BoundPredicate::Bind(asked, table)->root(), *table.indexes[0].where);
    bool holds = true;
    for (const SmallRow& row : rows) {
      holds &= !Matches(asked, table, row) || Matches(Predicate::Parse(where).value(), table, row);
    }
    BOOST_TEST((!is_implied || holds), asked.ToString() << " implies " << where);
    implied += is_implied;
    true_of_all += holds;
  }
  BOOST_TEST(implied > 1'000u);
  BOOST_TEST(implied * 10 > true_of_all * 8);  // Few are too involved.
}

BOOST_AUTO_TEST_CASE(TheTextThatIsKeptIsImplied) {
  Dice dice(12);
  const test::TablePlan plan = PlanOfTable();
  for (int i = 0; i < 1'000; ++i) {
    const format::TableRecord table = TableWith(plan, RandomWhere(&dice, plan));
    const format::IndexPredicate& where = *table.indexes[0].where;
    const auto kept = BoundPredicate::Bind(Predicate::Parse(where.text).value(), table);
    BOOST_TEST(Implies(kept->root(), where), where.text);
  }
}

BOOST_AUTO_TEST_CASE(PartOfARowIsNeverFalseOfOneThatSatisfiesIt) {
  Dice dice(13);
  const test::TablePlan plan = PlanOfTable();
  uint64_t left_out = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string text = RandomWhere(&dice, plan);
    const format::TableRecord table = TableWith(plan, text);
    const format::IndexPredicate& where = *table.indexes[0].where;
    for (const SmallRow& row : AllRows()) {
      const bool satisfies = Matches(Predicate::Parse(text).value(), table, row);
      const std::vector<format::Cell> cells = CellsOf(row);
      for (uint32_t known = 0; known < 8; ++known) {
        std::vector<const format::Cell*> puts;
        bool knows_all = true;
        for (const format::IndexColumnRecord& column : where.columns) {
          const format::Cell* put = FindNewest(column, cells);
          if ((known >> (column.qualifier[0] - 'a') & 1) == 0) put = nullptr;
          puts.push_back(put);
          knows_all &= put != nullptr;
        }
        const format::Truth truth = format::TruthOf(where, puts);
        const format::Truth refused = satisfies ? format::Truth::kFalse : format::Truth::kTrue;
        BOOST_TEST((truth != refused), text);
        if (knows_all) BOOST_TEST((truth != format::Truth::kUnknown), text);
        left_out += truth == format::Truth::kFalse;
      }
    }
  }
  BOOST_TEST(left_out > 10'000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine

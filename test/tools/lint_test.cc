// What lint finds in keys and rows that are made to have one fault each, and in none.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tools/generator/dice.h"
#include "tools/row_keys/key_lint.h"
#include "tools/row_keys/read_lint.h"
#include "tools/row_keys/table_lint.h"
#include "tools/tandem/format_text.h"

namespace tandem::test {
namespace {

using row_keys::FindingsOf;
using row_keys::KeyFigures;
using row_keys::KeyLint;
using row_keys::kLintQueriesMin;
using row_keys::LintFinding;
using row_keys::ReadLint;
using row_keys::TableLint;
using tools::Format;
using Rules = std::vector<std::string>;

constexpr int64_t kKeys = 10'000;

Rules RulesOf(const std::vector<LintFinding>& findings) {
  Rules rules;
  for (const LintFinding& finding : findings) rules.push_back(finding.rule);
  return rules;
}

template <typename MakeKey>
KeyFigures Figures(int64_t count, MakeKey make) {
  KeyLint lint(1);
  for (int64_t i = 0; i < count; ++i) lint.Add(make(i), i);
  return lint.Finish();
}

std::string Hashed(int64_t i) { return Format("{:016x}", Mix(7, static_cast<uint64_t>(i))); }

TableInfo TableOf(const std::string& row_key, const std::vector<uint64_t>& rows) {
  TableInfo table;
  table.options.row_key = row_key;
  for (const uint64_t count : rows) table.regions.emplace_back().rows = count;
  return table;
}

BOOST_AUTO_TEST_SUITE(lint)

BOOST_AUTO_TEST_CASE(KeysThatSpreadAreLeftAlone) {
  const KeyFigures figures = Figures(kKeys, Hashed);
  BOOST_TEST(figures.keys == kKeys);
  BOOST_TEST(figures.mean_bytes() == 16);
  BOOST_TEST(std::abs(figures.rising_share.value() - 0.5) < 0.02);
  BOOST_TEST(figures.hottest_share.value() < 0.12);
  BOOST_TEST(RulesOf(FindingsOf(figures)) == Rules{}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(KeysThatRiseOrFallAreMonotone) {
  const KeyFigures rising = Figures(kKeys, [](int64_t i) { return Format("{:08}", i); });
  BOOST_TEST(rising.rising_share.value() == 1);
  BOOST_TEST(RulesOf(FindingsOf(rising)) == Rules{"monotone"}, boost::test_tools::per_element());
  const KeyFigures falling = Figures(kKeys, [](int64_t i) { return Format("{:08}", kKeys - i); });
  BOOST_TEST(falling.rising_share.value() == 0);
  BOOST_TEST(RulesOf(FindingsOf(falling)) == Rules{"monotone"}, boost::test_tools::per_element());
  BOOST_TEST(FindingsOf(falling)[0].text.find("smaller") != std::string::npos);
}

// A random order of the last few thousand keys: no order between neighbours, and one hot range.
BOOST_AUTO_TEST_CASE(KeysOfATimeThatLieTogetherAreHot) {
  const KeyFigures figures =
      Figures(kKeys, [](int64_t i) { return Format("{:04}{}", i / 625, Hashed(i).substr(0, 8)); });
  BOOST_TEST(figures.rising_share.value() < 0.9);
  BOOST_TEST(figures.hottest_share.value() > 0.9);
  BOOST_TEST(RulesOf(FindingsOf(figures)) == Rules{"hot-range"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(TheSampleIsFromAllOverTheStream) {
  const int64_t many = 10 * static_cast<int64_t>(row_keys::kLintSample);
  const KeyFigures figures = Figures(many, [](int64_t i) {
    return i < many / 2 ? Format("{:08}", i) : Hashed(i);  // Half of them rise.
  });
  BOOST_TEST(figures.sampled == row_keys::kLintSample);
  BOOST_TEST(std::abs(figures.rising_share.value() - 0.75) < 0.02);
}

BOOST_AUTO_TEST_CASE(NothingIsSaidWithoutAnOrderOfTime) {
  KeyLint one_load(1);
  for (int64_t i = 0; i < kKeys; ++i) one_load.Add(Format("{:08}", i), 5);
  BOOST_TEST(!one_load.Finish().rising_share.has_value());
  const auto few = static_cast<int64_t>(row_keys::kLintKeysMin) - 1;
  BOOST_TEST(!Figures(few, Hashed).hottest_share.has_value());
  const KeyFigures none = KeyLint(1).Finish();
  BOOST_TEST(none.mean_bytes() == 0);
  BOOST_TEST(FindingsOf(none).empty());
}

BOOST_AUTO_TEST_CASE(LengthsAndPrefixesAreMeasured) {
  const KeyFigures usual =
      Figures(kKeys, [](int64_t i) { return "tenant-a" + Hashed(i).substr(0, 9); });
  BOOST_TEST(usual.common_prefix == "tenant-a");
  BOOST_TEST(RulesOf(FindingsOf(usual)) == (Rules{"long-keys", "common-prefix"}),
             boost::test_tools::per_element());
  BOOST_TEST((FindingsOf(usual)[0].level == LintFinding::Level::kHint));
  const KeyFigures longer =
      Figures(kKeys, [](int64_t i) { return Hashed(i) + std::string(400, 'x'); });
  BOOST_TEST(longer.longest_bytes == 416);
  BOOST_TEST(RulesOf(FindingsOf(longer)) == Rules{"long-keys"}, boost::test_tools::per_element());
  BOOST_TEST((FindingsOf(longer)[0].level == LintFinding::Level::kWarning));
}

BOOST_AUTO_TEST_CASE(TablesAreJudgedByTheirDeclaration) {
  const TableLint empty(1);
  const auto rules = [&](const TableInfo& table) { return RulesOf(empty.FindingsOn(table)); };
  BOOST_TEST(rules(TableOf("at:timestamp, user:text", {1})) == Rules{"time-first"},
             boost::test_tools::per_element());
  BOOST_TEST(rules(TableOf("salt(8), at:timestamp", {1})).empty());
  BOOST_TEST(rules(TableOf("user:text, at:timestamp desc", {1})).empty());
  BOOST_TEST(rules(TableOf("", {90, 5, 5})) == Rules{"uneven-regions"},
             boost::test_tools::per_element());
  BOOST_TEST(rules(TableOf("", {30, 40, 30})).empty());
  BOOST_TEST(rules(TableOf("", {0, 0})).empty());
}

BOOST_AUTO_TEST_CASE(NamesAndFamiliesAreComparedWithValues) {
  const std::string name(30, 'n'), large(2000, 'v');
  TableLint lint(1);
  for (int64_t i = 0; i < 100; ++i) {
    const std::string key = Hashed(i);
    const std::vector<Cell> first = {{"a", name, i, "1"}, {"a", "short", i, "1"}};
    const std::vector<Cell> second = {{"b", "x", i, "12345"}, {"c", "x", i, large}};
    lint.Add(RowView(key, first, true));  // A row in two pieces.
    lint.Add(RowView(key, second));
  }
  BOOST_TEST(lint.rows() == 100);
  BOOST_TEST(lint.raw_bytes() ==
             100 * (4 * (16 + 1 + 8) + (30 + 1) + (5 + 1) + (1 + 5) + (1 + 2000)));
  const auto findings = lint.FindingsOn(TableOf("", {100}));
  BOOST_TEST(RulesOf(findings) == (Rules{"long-name", "same-rows"}),
             boost::test_tools::per_element());
  BOOST_TEST(findings[0].subject == "column a:" + name);
  BOOST_TEST(findings[1].subject == "families a and b");
}

// Families a, b and c; by_b is an index of b.
TableOptions ThreeFamilies() {
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  table.indexes = {{"by_b", {{"b", "x"}}}};
  return table;
}

AdvisedQuery ReadOf(uint64_t count, std::vector<std::string> families) {
  return {.count = count, .families = std::move(families)};
}

BOOST_AUTO_TEST_CASE(FamiliesThatAreReadTogetherAreNamed) {
  const TableOptions table = ThreeFamilies();
  ReadLint lint(table);
  lint.Add(ReadOf(95, {"a", "b"}));
  lint.Add(ReadOf(5, {"a"}));
  lint.Add(ReadOf(50, {"c"}));
  std::vector<LintFinding> findings = lint.Findings();
  BOOST_TEST_REQUIRE(findings.size() == 1u);
  BOOST_TEST(findings[0].rule == "read-together");
  BOOST_TEST(findings[0].subject == "families a and b");
  BOOST_TEST(findings[0].text.starts_with("95 of 100 queries "));
  lint.Add(ReadOf(1, {"b"}));
  BOOST_TEST(lint.Findings().empty());
}

BOOST_AUTO_TEST_CASE(FewQueriesSayNothingAboutFamilies) {
  const TableOptions table = ThreeFamilies();
  ReadLint lint(table);
  lint.Add(ReadOf(kLintQueriesMin - 1, {"a", "b"}));
  BOOST_TEST(lint.Findings().empty());
  lint.Add(ReadOf(1, {"a", "b"}));
  BOOST_TEST(lint.Findings().size() == 1u);
}

// Of a condition, of an order by an index or by columns, and of a query that returns all.
BOOST_AUTO_TEST_CASE(AQueryReadsWhatItAsksAsWell) {
  const TableOptions table = ThreeFamilies();
  const auto subjects = [&](AdvisedQuery query) {
    ReadLint lint(table);
    query.count = 100;
    lint.Add(query);
    std::string all;
    for (const LintFinding& finding : lint.Findings()) all += finding.subject + ";";
    return all;
  };
  BOOST_TEST(subjects({.columns = {{"", "y"}}}) == "");
  BOOST_TEST(subjects({.predicate = *Predicate::Parse("_row > 'k' AND NOT (c:x = 1 OR c:y = 2)"),
                       .columns = {{"", "y"}}}) == "families a and c;");
  BOOST_TEST(subjects({.options = {.order_by = "by_b"}, .columns = {{"c", "y"}}}) ==
             "families b and c;");
  BOOST_TEST(subjects({.options = {.order_by = "lower(b:x) DESC"}, .columns = {{"c", "y"}}}) ==
             "families b and c;");
  BOOST_TEST(subjects({}) == "families a and b;families a and c;families b and c;");
  BOOST_TEST(subjects({.is_count = true}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

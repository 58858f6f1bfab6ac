// Facts of rows against a reference that looks at every pair of Put and marker. Small random rows
// (3 columns, 2 values, timestamps 1 to 7) find what is wrong fast.
#define BOOST_TEST_DYN_LINK
#include "index/entries.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "format/cell/visibility.h"
#include "index/key.h"
#include "tandem/limits.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::TestRandom;

IndexRecord IndexOn(std::string qualifier, FamilyId family = FamilyId(0)) {
  IndexRecord index;
  index.columns.push_back({family, std::move(qualifier), ColumnType::kText, false});
  return index;
}

Cell MakeCell(CellKind kind, std::string_view qualifier, int64_t timestamp, uint64_t sequence,
              std::string_view value = "") {
  return {kind, FamilyId(0), qualifier, timestamp, SequenceNumber(sequence), value};
}

std::string KeyOf(std::string_view value) {
  std::string key;
  AppendIndexKey(IndexOn("").columns[0], value, &key).Ignore("text is valid");
  return key;
}

std::vector<Cell> RandomRow(TestRandom* random) {
  static constexpr std::string_view kQualifiers[] = {"a", "b", "c"};
  static constexpr std::string_view kValues[] = {"1", "2"};
  std::vector<Cell> cells(random->Below(9));
  uint64_t sequence = 0;
  for (Cell& cell : cells) {
    cell.kind = random->OneIn(2) ? CellKind::kPut : static_cast<CellKind>(random->Below(4));
    cell.family = FamilyId(static_cast<uint8_t>(random->Below(2)));
    cell.timestamp = static_cast<int64_t>(1 + random->Below(7));
    if (!random->OneIn(6)) ++sequence;  // A few share one: rules 3 and 4 imply such cells.
    cell.sequence = SequenceNumber(sequence);
    if (cell.kind != CellKind::kDeleteFamily) cell.qualifier = kQualifiers[random->Below(3)];
    if (cell.kind == CellKind::kPut) cell.value = kValues[random->Below(2)];
  }
  std::sort(cells.begin(), cells.end(), CellLess);
  return cells;
}

struct ReferenceFacts {
  std::map<std::string, bool> entries;  // Key and whether it is current.
  bool present = false;
  bool touched = false;
};

ReferenceFacts Reference(const IndexColumnRecord& column, const std::vector<Cell>& cells) {
  ReferenceFacts facts;
  const Cell* current = nullptr;
  for (const Cell& cell : cells) {
    if (cell.family != column.family) continue;
    const bool family_wide = cell.kind == CellKind::kDeleteFamily;
    if (!family_wide && cell.qualifier != column.qualifier) continue;
    facts.touched = true;
    if (cell.kind != CellKind::kPut) continue;
    facts.present = true;
    facts.entries.emplace(KeyOf(cell.value), false);
    const bool hidden = std::any_of(cells.begin(), cells.end(), [&](const Cell& other) {
      return other.kind != CellKind::kPut && other.family == cell.family && Hides(other, cell);
    });
    if (hidden) continue;
    if (current == nullptr || cell.timestamp > current->timestamp ||
        (cell.timestamp == current->timestamp && cell.sequence > current->sequence)) {
      current = &cell;
    }
  }
  if (current != nullptr) facts.entries[KeyOf(current->value)] = true;
  return facts;
}

bool ReferenceIsClean(const std::vector<Cell>& cells) {
  std::set<std::pair<FamilyId, std::string_view>> columns;
  for (const Cell& cell : cells) {
    if (cell.kind != CellKind::kPut) return false;
    if (!columns.emplace(cell.family, cell.qualifier).second) return false;
  }
  return !cells.empty();
}

BOOST_AUTO_TEST_SUITE(IndexEntriesSuite)

BOOST_AUTO_TEST_CASE(RandomRowsHaveTheFactsOfTheReference) {
  TestRandom random("RandomRowsHaveTheFactsOfTheReference");
  RowIndexFacts facts;
  for (int i = 0; i < 100'000; ++i) {
    const std::vector<Cell> cells = RandomRow(&random);
    const IndexRecord index = IndexOn("b", FamilyId(static_cast<uint8_t>(i % 2)));
    const ReferenceFacts expected = Reference(index.columns[0], cells);
    FactsOfRow(index, "row", cells, &facts);
    std::map<std::string, bool> entries;
    for (const IndexEntry& entry : facts.entries) {
      BOOST_REQUIRE(entries.emplace(entry.key, entry.current).second);
    }
    BOOST_REQUIRE(entries == expected.entries);
    BOOST_REQUIRE(facts.present == expected.present);
    BOOST_REQUIRE(facts.touched == expected.touched);
    BOOST_REQUIRE(IsCleanRow(cells) == ReferenceIsClean(cells));
  }
}

// Of an index over several columns: the current entry has what the index over each column has as
// current, the older ones are those of the first column, without the others.
// The facts of an index over a family are those of indexes over each of its columns, together.
BOOST_AUTO_TEST_CASE(RandomRowsHaveTheFactsOfEachColumnOfAFamily) {
  TestRandom random("RandomRowsHaveTheFactsOfEachColumnOfAFamily");
  RowIndexFacts facts;
  for (int i = 0; i < 50'000; ++i) {
    const std::vector<Cell> cells = RandomRow(&random);
    const FamilyId family(static_cast<uint8_t>(i % 2));
    const bool is_of_keys = random.OneIn(2);
    IndexRecord index = IndexOn("", family);
    index.columns[0].functions = {is_of_keys ? Function::MapKeys() : Function::MapValues()};
    ReferenceFacts expected;
    for (const char* qualifier : {"a", "b", "c"}) {
      const ReferenceFacts one = Reference(IndexOn(qualifier, family).columns[0], cells);
      expected.present |= one.present;
      expected.touched |= one.touched;
      for (const auto& [key, current] : one.entries) {
        expected.entries[is_of_keys ? KeyOf(qualifier) : key] |= current;
      }
    }
    FactsOfRow(index, "row", cells, &facts);
    std::map<std::string, bool> entries;
    for (const IndexEntry& entry : facts.entries) {
      BOOST_REQUIRE(entries.emplace(entry.key, entry.current).second);
    }
    BOOST_REQUIRE(entries == expected.entries);
    BOOST_REQUIRE_EQUAL(facts.present, expected.present);
    BOOST_REQUIRE_EQUAL(facts.touched, expected.touched);
    BOOST_REQUIRE(facts.complete);
  }
}

BOOST_AUTO_TEST_CASE(ValuesAreKeptWhereEntriesDependOnThem) {
  TableRecord table;
  table.indexes.push_back(IndexOn(""));
  table.indexes.back().columns[0].functions = {Function::MapKeys()};
  table.indexes.push_back(IndexOn("b"));
  CellBuffer kept;
  for (const char* qualifier : {"a", "b"}) {
    KeepIndexed(table, MakeCell(CellKind::kPut, qualifier, 1, 1, "value"), &kept);
  }
  Cell other = MakeCell(CellKind::kPut, "b", 1, 1, "value");
  other.family = FamilyId(1);
  KeepIndexed(table, other, &kept);
  std::vector<Cell> cells;
  kept.AppendSorted(&cells);
  BOOST_REQUIRE_EQUAL(cells.size(), 2u);
  BOOST_TEST(cells[0].value == "");
  BOOST_TEST(cells[1].value == "value");
}

BOOST_AUTO_TEST_CASE(RandomRowsHaveTheEntriesOfEachColumnTogether) {
  TestRandom random("RandomRowsHaveTheEntriesOfEachColumnTogether");
  RowIndexFacts facts;
  size_t current_rows = 0, older_entries = 0, partial_rows = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::vector<Cell> cells = RandomRow(&random);
    IndexRecord index = IndexOn("b", FamilyId(static_cast<uint8_t>(i % 2)));
    index.columns.push_back(IndexOn("a", FamilyId(0)).columns[0]);
    index.columns.push_back(IndexOn("c", FamilyId(1)).columns[0]);
    index.columns[2].descending = random.OneIn(2);
    std::string current;
    size_t known = 0;
    std::vector<ReferenceFacts> of_columns;
    for (const IndexColumnRecord& column : index.columns) {
      of_columns.push_back(Reference(column, cells));
      std::string part;
      for (const auto& [key, is_current] : of_columns.back().entries) {
        if (is_current) part = key;
      }
      known += part.empty() ? 0 : 1;
      if (part.empty()) part = "\x01";
      if (column.descending) InvertIndexKey(&part);
      current += part;
    }
    std::map<std::string, bool> expected;
    const std::string without = index.columns[2].descending ? "\x01\xfe" : "\x01\x01";
    for (const auto& [key, is_current] : of_columns[0].entries) {
      if (!is_current) expected.emplace(key + without, false);
    }
    const bool is_touched = std::any_of(of_columns.begin(), of_columns.end(),
                                        [](const auto& column) { return column.touched; });
    if (is_touched) expected[current] = true;
    FactsOfRow(index, "row", cells, &facts);
    std::map<std::string, bool> entries;
    for (const IndexEntry& entry : facts.entries) {
      BOOST_REQUIRE(entries.emplace(entry.key, entry.current).second);
    }
    BOOST_REQUIRE(entries == expected);
    BOOST_REQUIRE(facts.present == of_columns[0].present);
    BOOST_REQUIRE(facts.touched == of_columns[0].touched);
    current_rows += known > 0 ? 1 : 0;
    partial_rows += known > 0 && known < 3 ? 1 : 0;
    older_entries += expected.size() - (is_touched ? 1 : 0);
  }
  BOOST_TEST(current_rows > 20'000u);
  BOOST_TEST(partial_rows > 10'000u);
  BOOST_TEST(older_entries > 5'000u);
}

BOOST_AUTO_TEST_CASE(NewerTimestampWinsNotLaterSequence) {
  const std::vector<Cell> cells = {MakeCell(CellKind::kPut, "a", 5, 1, "new"),
                                   MakeCell(CellKind::kPut, "a", 3, 2, "old")};
  RowIndexFacts facts;
  FactsOfRow(IndexOn("a"), "row", cells, &facts);
  BOOST_REQUIRE(facts.entries.size() == 2);
  BOOST_TEST(facts.entries[0].key == KeyOf("new"));
  BOOST_TEST(facts.entries[0].current);
  BOOST_TEST(!facts.entries[1].current);
}

BOOST_AUTO_TEST_CASE(HiddenPutsStayAsOlderEntries) {
  const std::vector<Cell> cells = {MakeCell(CellKind::kDeleteColumn, "a", 9, 3),
                                   MakeCell(CellKind::kPut, "a", 5, 1, "x"),
                                   MakeCell(CellKind::kPut, "a", 4, 2, "x")};
  RowIndexFacts facts;
  FactsOfRow(IndexOn("a"), "row", cells, &facts);
  BOOST_REQUIRE(facts.entries.size() == 1);
  BOOST_TEST(!facts.entries[0].current);
  BOOST_TEST(facts.present);
}

// As it may be where the value was written before the index was made.
BOOST_AUTO_TEST_CASE(ValueThatDoesNotFitHasNoEntry) {
  IndexRecord index = IndexOn("a");
  index.columns[0].type = ColumnType::kInt64;
  const std::vector<Cell> newest = {MakeCell(CellKind::kPut, "a", 5, 1, "x")};
  RowIndexFacts facts;
  FactsOfRow(index, "row", newest, &facts);
  BOOST_TEST(facts.entries.empty());
  BOOST_TEST(!facts.present);
  BOOST_TEST(facts.touched);
  BOOST_TEST(facts.complete);
  // The older value that fits is not the current one.
  const std::vector<Cell> both = {MakeCell(CellKind::kPut, "a", 5, 2, "x"),
                                  MakeCell(CellKind::kPut, "a", 4, 1, "7")};
  FactsOfRow(index, "row", both, &facts);
  BOOST_REQUIRE(facts.entries.size() == 1);
  BOOST_TEST(!facts.entries[0].current);
  BOOST_TEST(facts.present);
}

BOOST_AUTO_TEST_CASE(OnlyBytesThatAreTooLongAreHidden) {
  const std::string value(kIndexKeyBytesMax, 'v');
  const std::vector<Cell> cells = {MakeCell(CellKind::kPut, "a", 5, 1, value)};
  RowIndexFacts facts;
  for (const ColumnType type : {ColumnType::kBytes, ColumnType::kText, ColumnType::kInt64}) {
    IndexRecord index = IndexOn("a");
    index.columns[0].type = type;
    FactsOfRow(index, "row", cells, &facts);
    BOOST_TEST(facts.entries.empty());
    BOOST_TEST(facts.complete == (type != ColumnType::kBytes));
  }
}

BOOST_AUTO_TEST_CASE(ManyMarkersTakeLinearTime) {
  // 200,000 markers and as many hidden Puts: pairwise comparison would not end.
  std::vector<Cell> cells;
  for (int64_t t = 200'000; t > 0; --t) {
    cells.push_back(MakeCell(CellKind::kDeleteCell, "a", t, 9));
    cells.push_back(MakeCell(CellKind::kPut, "a", t, 1, "v"));
  }
  RowIndexFacts facts;
  FactsOfRow(IndexOn("a"), "row", cells, &facts);
  BOOST_TEST(facts.entries.size() == 1u);
}

BOOST_AUTO_TEST_CASE(AMultiValuedColumnHasAnEntryOfEachValue) {
  IndexRecord index = IndexOn("a");
  index.columns[0].functions = {Function::Split(",")};
  const std::vector<Cell> cells = {MakeCell(CellKind::kPut, "a", 5, 9, "y,x,y"),
                                   MakeCell(CellKind::kPut, "a", 4, 8, "z,x"),
                                   MakeCell(CellKind::kPut, "b", 4, 8, "w")};
  RowIndexFacts facts;
  FactsOfRow(index, "row", cells, &facts);
  BOOST_REQUIRE_EQUAL(facts.entries.size(), 3u);
  const std::pair<std::string, bool> expected[] = {{"x", true}, {"y", true}, {"z", false}};
  for (size_t i = 0; i < 3; ++i) {
    BOOST_TEST(facts.entries[i].key == KeyOf(expected[i].first));
    BOOST_TEST(facts.entries[i].current == expected[i].second);
  }
  BOOST_TEST(facts.present);
  BOOST_TEST(facts.complete);
  const std::vector<Cell> none = {MakeCell(CellKind::kPut, "a", 5, 9, ",,")};
  FactsOfRow(index, "row", none, &facts);
  BOOST_TEST(facts.entries.empty());
  BOOST_TEST(!facts.present);
  BOOST_TEST(facts.touched);
  BOOST_TEST(facts.complete);
}

// What cannot be computed here must not look as if the row had no word.
BOOST_AUTO_TEST_CASE(WordsOfAnotherVersionOfUnicodeAreHidden) {
  IndexRecord index = IndexOn("a");
  index.columns[0].functions = {Function::Words()};
  index.columns[0].functions[0].first = 10'000;
  const std::vector<Cell> cells = {MakeCell(CellKind::kPut, "a", 5, 9, "word")};
  RowIndexFacts facts;
  FactsOfRow(index, "row", cells, &facts);
  BOOST_TEST(!facts.complete);
  BOOST_TEST(facts.entries.empty());
}

BOOST_AUTO_TEST_CASE(TrigramsOfAValueThatIsTooLongForThemAreHidden) {
  IndexRecord index = IndexOn("a");
  index.columns[0].functions = {Function::Trigrams()};
  for (const size_t more : {0, 1}) {
    const std::string value(kFunctionValueBytesMax + more, 'x');
    const std::vector<Cell> cells = {MakeCell(CellKind::kPut, "a", 5, 9, value)};
    RowIndexFacts facts;
    FactsOfRow(index, "row", cells, &facts);
    BOOST_TEST(facts.complete == (more == 0));
    BOOST_TEST(facts.entries.size() == 1 - more);
  }
}

// The key is a Put that every row has, whatever its cells.
// The text of the row's one entry, "none" if it has no entry; and whether it is present.
std::string JoinedEntry(const IndexRecord& index, std::vector<Cell> cells) {
  std::sort(cells.begin(), cells.end(), CellLess);
  RowIndexFacts facts;
  FactsOfRow(index, "row", cells, &facts);
  if (facts.entries.empty()) return "none";
  BOOST_TEST(facts.entries.size() == 1u);
  BOOST_TEST(facts.entries[0].current);
  std::string_view key = facts.entries[0].key;
  const auto value = DecodeIndexKey(index.columns[0], &key);
  BOOST_REQUIRE(value.has_value());
  BOOST_TEST(facts.present == value->has_value());
  return value->value_or("absent");
}

BOOST_AUTO_TEST_CASE(JoinedColumnsHaveAValueWhereAllAre) {
  IndexRecord index = IndexOn("a");
  index.columns[0].functions = {
      Function::Concat({ConcatPart::Value(), ConcatPart::Text("-"), ConcatPart::Column("", "b")})};
  index.columns[0].joined = IndexOn("b").columns;
  BOOST_TEST(index.is_of_several());
  const Cell a = MakeCell(CellKind::kPut, "a", 2, 1, "1");
  const Cell b = MakeCell(CellKind::kPut, "b", 2, 2, "2");
  const Cell older = MakeCell(CellKind::kPut, "a", 1, 3, "9");
  const auto marker = [](std::string_view qualifier) {
    return MakeCell(CellKind::kDeleteColumn, qualifier, 3, 4);
  };
  BOOST_TEST(JoinedEntry(index, {a, b}) == "1-2");
  BOOST_TEST(JoinedEntry(index, {a, b, older}) == "1-2");
  BOOST_TEST(JoinedEntry(index, {a}) == "absent");
  BOOST_TEST(JoinedEntry(index, {b}) == "absent");
  BOOST_TEST(JoinedEntry(index, {a, b, marker("a")}) == "absent");
  BOOST_TEST(JoinedEntry(index, {a, b, marker("b")}) == "absent");
  BOOST_TEST(JoinedEntry(index, {marker("b")}) == "absent");
  BOOST_TEST(JoinedEntry(index, {MakeCell(CellKind::kPut, "c", 1, 1, "1")}) == "none");
  const std::string half(kIndexKeyBytesMax / 2, 'x');
  BOOST_TEST(JoinedEntry(index, {MakeCell(CellKind::kPut, "a", 1, 1, half),
                                 MakeCell(CellKind::kPut, "b", 1, 1, half)}) == "absent");
}

BOOST_AUTO_TEST_CASE(APartOfTheRowKeyIsInEveryRow) {
  IndexRecord index = IndexOn("", kRowKeyFamily);
  index.columns[0].functions = {Function::SplitPart("/", 2)};
  const std::vector<Cell> put = {MakeCell(CellKind::kPut, "b", 5, 9, "w")};
  const std::vector<Cell> marker = {MakeCell(CellKind::kDeleteFamily, "", 5, 9)};
  RowIndexFacts facts;
  for (const std::vector<Cell>& cells : {put, marker}) {
    FactsOfRow(index, "x/y", cells, &facts);
    BOOST_REQUIRE_EQUAL(facts.entries.size(), 1u);
    BOOST_TEST(facts.entries[0].key == KeyOf("y"));
    BOOST_TEST(facts.entries[0].current);
    BOOST_TEST((facts.present && facts.touched && facts.complete));
  }
  FactsOfRow(index, "x", put, &facts);  // It has no such part.
  BOOST_TEST(facts.entries.empty());
  BOOST_TEST((!facts.present && facts.touched && facts.complete));

  index.columns.push_back(IndexOn("b").columns[0]);
  FactsOfRow(index, "x/y", put, &facts);
  BOOST_REQUIRE_EQUAL(facts.entries.size(), 1u);
  BOOST_TEST(facts.entries[0].key == KeyOf("y") + KeyOf("w"));
  FactsOfRow(index, "x/y", marker, &facts);
  BOOST_REQUIRE_EQUAL(facts.entries.size(), 1u);
  std::string left_out = KeyOf("y");
  AppendAbsentKey(index.columns[1], &left_out);
  BOOST_TEST(facts.entries[0].key == left_out);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

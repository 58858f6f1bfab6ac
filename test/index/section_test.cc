// Sections against a reference of plain maps: entries collected from random rows, copied from other
// sections through ordinal maps, or both, must read back the same by counts, ranges, cursors,
// bitmaps and digests.
#define BOOST_TEST_DYN_LINK
#include "index/section.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "format/block/block_cache.h"
#include "index/entries.h"
#include "index/key.h"
#include "test/index/section_file.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::SectionFile;
using test::TestRandom;
using test::TextIndex;

constexpr IndexPart kParts[] = {IndexPart::kCurrent, IndexPart::kOlder};

struct Row {
  std::string key;
  std::vector<Cell> cells;
};

// Values must outlive the cells that view them.
struct Rows {
  std::vector<std::string> values;
  std::vector<Row> rows;
};

struct Shape {
  uint32_t rows = 0;
  size_t values = 0;  // Distinct ones.
  size_t value_bytes_max = 0;
  bool messy = false;  // Rows with several versions, markers, or without the column.
};

Rows MakeRows(TestRandom* random, const Shape& shape) {
  Rows made;
  const std::string prefix = random->Text(20, "xy");
  for (size_t i = 0; i < shape.values; ++i) {
    made.values.push_back(prefix +
                          random->Text(shape.value_bytes_max, std::string_view("ab\0", 3)) +
                          std::to_string(i));
  }
  for (uint32_t i = 0; i < shape.rows; ++i) {
    Row row;
    row.key = "row" + std::to_string(1'000'000 + i);
    const uint64_t cells = shape.messy ? random->Below(4) : 1;
    for (uint64_t c = 0; c < cells; ++c) {
      Cell cell;
      cell.qualifier = shape.messy && random->OneIn(5) ? "b" : "c";
      cell.timestamp = static_cast<int64_t>(random->Below(5));
      cell.sequence = SequenceNumber(c + 1);
      if (shape.messy && random->OneIn(5)) {
        cell.kind = static_cast<CellKind>(1 + random->Below(3));
        if (cell.kind == CellKind::kDeleteFamily) cell.qualifier = "";
      } else {
        cell.value = made.values[random->Below(made.values.size())];
      }
      row.cells.push_back(cell);
    }
    std::sort(row.cells.begin(), row.cells.end(), CellLess);
    made.rows.push_back(std::move(row));
  }
  return made;
}

// What a section must hold.
struct Reference {
  using Part = std::map<std::string, std::set<uint32_t>>;
  Part current, older;
  std::set<uint32_t> present, touched;
  IndexDigest current_digest, older_digest;

  const Part& part(IndexPart which) const { return which == IndexPart::kCurrent ? current : older; }

  void Add(const IndexRecord& index, uint32_t ordinal, const Row& row) {
    RowIndexFacts facts;
    FactsOfRow(index, row.key, row.cells, &facts);
    if (facts.present) present.insert(ordinal);
    if (facts.touched) touched.insert(ordinal);
    for (const IndexEntry& entry : facts.entries) {
      (entry.current ? current : older)[entry.key].insert(ordinal);
      (entry.current ? current_digest : older_digest).Add(entry.key, row.key);
    }
  }
};

uint64_t CountIn(const Reference::Part& part, const KeyRange& range) {
  uint64_t count = 0;
  for (const auto& [key, ordinals] : part) count += range.Contains(key) ? ordinals.size() : 0;
  return count;
}

std::vector<uint32_t> OrdinalsIn(const Reference::Part& part, const KeyRange& range) {
  std::vector<uint32_t> all;
  for (const auto& [key, ordinals] : part) {
    if (range.Contains(key)) all.insert(all.end(), ordinals.begin(), ordinals.end());
  }
  return all;
}

std::string RandomBound(TestRandom* random, const Reference::Part& part) {
  if (part.empty() || random->OneIn(8)) return random->Text(3, std::string_view("\1\2\3ab", 5));
  auto key = part.lower_bound(std::next(part.begin(), static_cast<std::ptrdiff_t>(random->Below(
                                                          std::min<size_t>(part.size(), 500))))
                                  ->first);
  if (random->OneIn(2))
    key = std::prev(part.end(), 1 + static_cast<std::ptrdiff_t>(
                                        random->Below(std::min<size_t>(part.size(), 500))));
  std::string bound = key->first;
  if (random->OneIn(3)) bound.push_back('\0');
  if (random->OneIn(3)) bound.resize(random->Below(bound.size()) + 1);
  return bound;
}

KeyRange RandomRange(TestRandom* random, const Reference::Part& part) {
  KeyRange range{RandomBound(random, part), RandomBound(random, part)};
  if (random->OneIn(3)) return EqualRange(range.low);
  if (random->OneIn(6)) range.high.reset();
  if (range.high.has_value() && *range.high < range.low && !random->OneIn(5)) {
    std::swap(*range.high, range.low);
  }
  return range;
}

void CheckRanges(TestRandom* random, IndexSection* section, const Reference& expected) {
  for (const IndexPart which : kParts) {
    const Reference::Part& part = expected.part(which);
    for (int i = 0; i < 60; ++i) {
      const KeyRange range = i == 0 ? KeyRange{"", std::nullopt} : RandomRange(random, part);
      const auto count = section->CountEntries(which, range);
      BOOST_REQUIRE(count.has_value());
      BOOST_REQUIRE(*count == CountIn(part, range));
      const auto most = section->EntriesAtMost(which, range);
      BOOST_REQUIRE(most.has_value());
      BOOST_REQUIRE(*most >= *count);
      BOOST_REQUIRE(*most <= CountIn(part, {"", std::nullopt}));
      std::vector<uint32_t> ordinals;
      BOOST_REQUIRE(section->AppendOrdinals(which, range, &ordinals).ok());
      BOOST_REQUIRE(ordinals == OrdinalsIn(part, range));
      std::vector<uint32_t> few;
      const size_t entries_max = random->Below(100);
      const auto are_few = section->AppendFew(which, range, {{}, entries_max}, &few);
      BOOST_REQUIRE(are_few.has_value());
      BOOST_REQUIRE(!*are_few || ordinals.size() <= entries_max);
      BOOST_REQUIRE(few == (*are_few ? ordinals : std::vector<uint32_t>()));
    }
  }
}

void CheckAtCursor(IndexValueCursor* cursor, const Reference::Part& part,
                   Reference::Part::const_iterator at, uint64_t entries_before) {
  BOOST_REQUIRE(cursor->valid() == (at != part.end()));
  if (!cursor->valid()) return;
  BOOST_REQUIRE(cursor->key() == at->first);
  BOOST_REQUIRE(cursor->count() == at->second.size());
  BOOST_REQUIRE(cursor->entries_before() == entries_before);
  std::vector<uint32_t> ordinals;
  BOOST_REQUIRE(cursor->AppendOrdinals(&ordinals).ok());
  BOOST_REQUIRE(std::equal(ordinals.begin(), ordinals.end(), at->second.begin(), at->second.end()));
}

void CheckCursors(TestRandom* random, IndexSection* section, const Reference& expected) {
  for (const IndexPart which : kParts) {
    const Reference::Part& part = expected.part(which);
    const auto cursor =
        random->OneIn(2) ? section->NewCursor(which) : section->NewUncachedCursor(which);
    uint64_t before = 0;
    BOOST_REQUIRE(cursor->Seek("").ok());
    for (auto at = part.begin(); at != part.end(); ++at) {
      CheckAtCursor(cursor.get(), part, at, before);
      before += at->second.size();
      BOOST_REQUIRE(cursor->Next().ok());
    }
    BOOST_REQUIRE(!cursor->valid());
    BOOST_REQUIRE(cursor->SeekBefore(std::nullopt).ok());
    for (auto at = part.end(); at != part.begin();) {
      --at;
      before -= at->second.size();
      CheckAtCursor(cursor.get(), part, at, before);
      BOOST_REQUIRE(cursor->Previous().ok());
    }
    BOOST_REQUIRE(!cursor->valid());
    for (int i = 0; i < 30; ++i) {
      const std::string bound = RandomBound(random, part);
      const auto at = part.lower_bound(bound);
      const KeyRange below{"", bound};
      BOOST_REQUIRE(cursor->Seek(bound).ok());
      CheckAtCursor(cursor.get(), part, at, CountIn(part, below));
      BOOST_REQUIRE(cursor->SeekBefore(bound).ok());
      const auto previous = at == part.begin() ? part.end() : std::prev(at);
      const uint64_t own = previous == part.end() ? 0 : previous->second.size();
      CheckAtCursor(cursor.get(), part, previous, CountIn(part, below) - own);
    }
  }
}

// Values that are passed together are those that single steps pass, and end where they may.
void CheckPasses(TestRandom* random, IndexSection* section, const Reference::Part& part) {
  if (part.empty()) return;
  for (int i = 0; i < 30; ++i) {
    const bool backward = random->OneIn(2);
    const auto cursor = section->NewCursor(IndexPart::kCurrent);
    const std::string bound = RandomBound(random, part);
    BOOST_REQUIRE((backward ? cursor->SeekBefore(bound) : cursor->Seek(bound)).ok());
    if (!cursor->valid()) continue;
    auto at = part.find(std::string(cursor->key()));
    const auto passed_of = [&](uint64_t entries, const KeyRange& range) {
      const Result<uint64_t> passed = cursor->PassMany(entries, range, backward);
      BOOST_REQUIRE(passed.has_value());
      BOOST_REQUIRE(*passed <= entries);
      uint64_t stepped = 0;
      for (; at->first != cursor->key(); backward ? --at : ++at) {
        BOOST_REQUIRE(at != (backward ? part.begin() : std::prev(part.end())));
        stepped += at->second.size();
      }
      BOOST_REQUIRE_EQUAL(stepped, *passed);
      CheckAtCursor(cursor.get(), part, at, CountIn(part, {"", at->first}));
      return *passed;
    };
    const std::string here(cursor->key());
    BOOST_REQUIRE_EQUAL(passed_of(UINT64_MAX, EqualRange(here)), 0u);
    BOOST_REQUIRE_EQUAL(passed_of(0, {}), 0u);
    passed_of(random->Below(200), {});
    passed_of(UINT64_MAX, {});
  }
}

void CheckBits(const Result<const Bitmap*>& bits, const std::set<uint32_t>& expected,
               uint32_t row_count) {
  BOOST_REQUIRE(bits.has_value());
  BOOST_REQUIRE((*bits)->size() == row_count);
  BOOST_REQUIRE((*bits)->CountOnes() == expected.size());
  for (const uint32_t ordinal : expected) BOOST_REQUIRE((*bits)->Test(ordinal));
}

void CheckSection(TestRandom* random, const SectionFile& file, const Reference& expected,
                  uint32_t row_count) {
  const IndexSummary& summary = file.section->summary();
  BOOST_TEST(summary.current_values == expected.current.size());
  BOOST_TEST(summary.older_values == expected.older.size());
  BOOST_TEST((summary.current_digest == expected.current_digest));
  BOOST_TEST((summary.older_digest == expected.older_digest));
  BOOST_TEST(summary.current_entries == expected.current_digest.count);
  BOOST_TEST(summary.older_entries == expected.older_digest.count);
  CheckRanges(random, file.section.get(), expected);
  CheckCursors(random, file.section.get(), expected);
  CheckPasses(random, file.section.get(), expected.current);
  CheckBits(file.section->Present(), expected.present, row_count);
  CheckBits(file.section->Touched(), expected.touched, row_count);
}

Shape RandomShape(TestRandom* random) {
  static constexpr size_t kValues[] = {1, 2, 40, 500, 6000};
  Shape shape;
  shape.rows = static_cast<uint32_t>(1 + random->Below(random->OneIn(2) ? 100 : 8000));
  shape.values = kValues[random->Below(5)];
  shape.value_bytes_max = random->OneIn(5) ? 400 : 12;
  shape.messy = random->OneIn(2);
  return shape;
}

BOOST_AUTO_TEST_SUITE(IndexSectionSuite)

BOOST_AUTO_TEST_CASE(CollectedEntriesReadBack) {
  TestRandom random("CollectedEntriesReadBack");
  const IndexRecord index = TextIndex();
  for (int i = 0; i < 40; ++i) {
    const Shape shape = RandomShape(&random);
    const Rows rows = MakeRows(&random, shape);
    IndexSectionWriter writer(index);
    Reference expected;
    for (uint32_t ordinal = 0; ordinal < shape.rows; ++ordinal) {
      const Row& row = rows.rows[ordinal];
      writer.AddRow(Ordinal(ordinal), row.key, row.cells);
      expected.Add(index, ordinal, row);
    }
    BlockCache cache(i % 2 == 0 ? 1 << 24 : 0);
    SectionFile file;
    const Status status = test::WriteSection(&writer, shape.rows, &file, &cache);
    BOOST_REQUIRE(status.ok());
    CheckSection(&random, file, expected, shape.rows);
  }
}

BOOST_AUTO_TEST_CASE(LargeListsSpanBlocks) {
  constexpr uint32_t kRows = 600'000;
  static constexpr std::string_view kValues[] = {"a", "b", "c"};
  TestRandom random("LargeListsSpanBlocks");
  IndexSectionWriter writer(TextIndex());
  std::vector<uint32_t> expected[3];
  for (uint32_t ordinal = 0; ordinal < kRows; ++ordinal) {
    const uint64_t value = random.OneIn(60) ? 2 : random.Below(2);
    const Cell cell{CellKind::kPut, FamilyId(0), "c", 1, SequenceNumber(1), kValues[value]};
    writer.AddRow(Ordinal(ordinal), "row", {&cell, 1});
    expected[value].push_back(ordinal);
  }
  SectionFile file;
  BOOST_REQUIRE(test::WriteSection(&writer, kRows, &file).ok());
  for (size_t i = 0; i < 3; ++i) {
    std::string key;
    BOOST_REQUIRE(AppendIndexKey(TextIndex().columns[0], kValues[i], &key).ok());
    std::vector<uint32_t> ordinals;
    BOOST_REQUIRE(
        file.section->AppendOrdinals(IndexPart::kCurrent, EqualRange(key), &ordinals).ok());
    BOOST_REQUIRE(ordinals == expected[i]);
  }
}

// Several input files whose rows are interleaved in the output. Some rows are dropped, some
// collected again with other cells, the rest copied through the map.
struct MergeCase {
  std::vector<Rows> inputs;
  std::vector<SectionFile> files;
  std::vector<std::vector<uint32_t>> maps;
};

void BuildInputs(TestRandom* random, const IndexRecord& index, MergeCase* merge) {
  for (uint64_t n = 1 + random->Below(4); n > 0; --n) {
    const Shape shape = RandomShape(random);
    merge->inputs.push_back(MakeRows(random, shape));
    IndexSectionWriter writer(index);
    for (uint32_t ordinal = 0; ordinal < shape.rows; ++ordinal) {
      const Row& row = merge->inputs.back().rows[ordinal];
      writer.AddRow(Ordinal(ordinal), row.key, row.cells);
    }
    BOOST_REQUIRE(test::WriteSection(&writer, shape.rows, &merge->files.emplace_back()).ok());
    merge->maps.emplace_back(shape.rows, kNotCopied);
  }
}

BOOST_AUTO_TEST_CASE(MergedSectionsEqualCollectedOnes) {
  TestRandom random("MergedSectionsEqualCollectedOnes");
  const IndexRecord index = TextIndex();
  for (int i = 0; i < 40; ++i) {
    MergeCase merge;
    BuildInputs(&random, index, &merge);
    IndexSectionWriter writer(index);
    for (size_t n = 0; n < merge.inputs.size(); ++n) {
      writer.AddSection(merge.files[n].section.get(), merge.maps[n]);
    }
    Reference expected;
    std::vector<size_t> next(merge.inputs.size(), 0);
    uint32_t ordinal = 0;
    for (size_t left = 0; left < merge.inputs.size();) {
      const size_t n = random.Below(merge.inputs.size());
      if (next[n] == merge.inputs[n].rows.size()) {
        left = static_cast<size_t>(std::count_if(next.begin(), next.end(), [&](const size_t& at) {
          return at == merge.inputs[static_cast<size_t>(&at - next.data())].rows.size();
        }));
        continue;
      }
      const size_t old_ordinal = next[n]++;
      Row row = merge.inputs[n].rows[old_ordinal];
      if (!random.OneIn(5)) {
        merge.maps[n][old_ordinal] = ordinal;
        writer.CopyRow(Ordinal(ordinal), row.key, row.cells);
        expected.Add(index, ordinal++, row);
        continue;
      }
      writer.SubtractRow(row.key, row.cells);
      if (random.OneIn(3)) continue;
      if (!row.cells.empty()) row.cells.pop_back();
      writer.AddRow(Ordinal(ordinal), row.key, row.cells);
      expected.Add(index, ordinal++, row);
    }
    if (ordinal == 0) continue;
    SectionFile file;
    const Status status = test::WriteSection(&writer, ordinal, &file);
    BOOST_TEST(status.ok(), status);
    BOOST_REQUIRE(status.ok());
    CheckSection(&random, file, expected, ordinal);
  }
}

BOOST_AUTO_TEST_CASE(DigestThatDoesNotAgreeIsCorruption) {
  TestRandom random("DigestThatDoesNotAgreeIsCorruption");
  const IndexRecord index = TextIndex();
  MergeCase merge;
  BuildInputs(&random, index, &merge);
  // Rows vanish without SubtractRow.
  IndexSectionWriter writer(index);
  writer.AddSection(merge.files[0].section.get(), merge.maps[0]);
  SectionFile file;
  const bool empty =
      merge.files[0].summary.current_entries + merge.files[0].summary.older_entries == 0;
  if (!empty) BOOST_TEST(test::WriteSection(&writer, 1, &file).code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(BitmapsWithoutInformationHaveNoBytes) {
  const auto sections_of = [](std::vector<std::vector<Cell>> rows) {
    IndexSectionWriter writer(TextIndex());
    for (uint32_t ordinal = 0; ordinal < rows.size(); ++ordinal) {
      writer.AddRow(Ordinal(ordinal), "key", rows[ordinal]);
    }
    SectionFile file;
    BOOST_REQUIRE(test::WriteSection(&writer, static_cast<uint32_t>(rows.size()), &file).ok());
    std::map<SectionKind, SectionEntry> sections;
    for (const SectionEntry& section : file.sections) sections[section.kind] = section;
    return sections;
  };
  const Cell put{CellKind::kPut, FamilyId(0), "c", 1, SequenceNumber(1), "v"};
  const Cell other{CellKind::kPut, FamilyId(0), "d", 1, SequenceNumber(1), "v"};
  const Cell marker{CellKind::kDeleteColumn, FamilyId(0), "c", 1, SequenceNumber(1), ""};

  auto sections = sections_of({{put}, {put}});
  BOOST_TEST(sections[SectionKind::kIndexPresent].flags == kSectionFlagFull);
  BOOST_TEST(sections[SectionKind::kIndexTouched].flags == kSectionFlagFull);
  BOOST_TEST(sections[SectionKind::kIndexTouched].size_bytes == 0u);
  BOOST_TEST(sections.count(SectionKind::kIndexPostings) == 0u);

  sections = sections_of({{put}, {other}});
  BOOST_TEST(sections[SectionKind::kIndexPresent].flags == 0u);
  BOOST_TEST(sections[SectionKind::kIndexTouched].flags == kSectionFlagEqual);
  BOOST_TEST(sections[SectionKind::kIndexTouched].size_bytes == 0u);

  sections = sections_of({{other}, {marker}});
  BOOST_TEST(sections[SectionKind::kIndexPresent].flags == kSectionFlagEmpty);
  BOOST_TEST(sections[SectionKind::kIndexTouched].flags == 0u);
  BOOST_TEST(sections.count(SectionKind::kIndexLeaves) == 0u);
}

BOOST_AUTO_TEST_CASE(UnknownIndexHasNoSection) {
  IndexSectionWriter writer(TextIndex());
  SectionFile file;
  BOOST_REQUIRE(test::WriteSection(&writer, 5, &file).ok());
  const auto section = IndexSection::Open(*file.blocks, file.sections, IndexId(99), 5);
  BOOST_REQUIRE(section.has_value());
  BOOST_TEST(section->get() == nullptr);
}

BOOST_AUTO_TEST_CASE(DigestDependsOnBoundariesNotOnOrder) {
  IndexDigest forward, backward, shifted;
  forward.Add("a", "bc");
  forward.Add("ab", "c");
  backward.Add("ab", "c");
  backward.Add("a", "bc");
  BOOST_TEST((forward == backward));
  shifted.Add("ab", "c");
  shifted.Add("ab", "c");
  BOOST_TEST(!(forward == shifted));
  const std::string long_key(2000, 'k');
  forward.Add(long_key, "row");
  forward.AddAll(shifted);
  forward.Subtract(long_key, "row");
  forward.Subtract("ab", "c");
  forward.Subtract("ab", "c");
  BOOST_TEST((forward == backward));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

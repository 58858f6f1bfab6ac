// Records of covered columns: what a row's is, and their sections.
#define BOOST_TEST_DYN_LINK
#include "index/covering.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>
#include <vector>

#include "format/block/section_table.h"
#include "format/coding.h"
#include "test/index/section_file.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::SectionFile;
using test::TestRandom;

// Over column "c" of family 0, with "b" of it and "x" of family 2.
IndexRecord Covering() {
  IndexRecord index = test::TextIndex();
  index.included = {{FamilyId(2), "x"}, {FamilyId(0), "b"}};
  return index;
}

Cell Put(uint8_t family, std::string_view qualifier, int64_t timestamp, std::string_view value) {
  return {.family = FamilyId(family),
          .qualifier = qualifier,
          .timestamp = timestamp,
          .sequence = SequenceNumber(5),
          .value = value};
}

std::string RecordOf(std::vector<Cell> cells, std::string_view key = "row") {
  SortCells(cells);
  std::string record;
  AppendIndexRecord(CoveredColumns(Covering()), key, cells, &record);
  return record;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(covering)

BOOST_AUTO_TEST_CASE(ColumnsAreInTheOrderOfCells) {
  const auto columns = CoveredColumns(Covering());
  BOOST_REQUIRE_EQUAL(columns.size(), 3u);
  BOOST_TEST(columns[0].qualifier == "b");
  BOOST_TEST(columns[1].qualifier == "c");
  BOOST_TEST(columns[2].qualifier == "x");
  BOOST_TEST(CoveredColumns(test::TextIndex()).empty());
}

BOOST_AUTO_TEST_CASE(ARecordHasTheBytesOfItsTable) {
  // Key, "b" absent, "c" = 007 at 3, "x" = "" at 1.
  BOOST_TEST(RecordOf({Put(0, "c", 3, "007"), Put(2, "x", 1, ""), Put(0, "d", 9, "other")}) ==
             std::string("\x03row\x00\x04\x06"
                         "007\x01\x03",
                         12));
}

BOOST_AUTO_TEST_CASE(ARecordIsReadBack) {
  const auto columns = CoveredColumns(Covering());
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::string long_value(3000, 'x'), other("\0\xff", 2);
  const std::vector<std::vector<Cell>> rows = {
      {},
      {Put(0, "c", 7, "value")},
      {Put(0, "b", kMin, "first"), Put(0, "c", kMax, ""), Put(2, "x", kMin, long_value)},
      {Put(0, "b", kMax, "first"), Put(2, "x", kMin, other)}};
  for (const std::vector<Cell>& row : rows) {
    const std::string record = RecordOf(row, "key");
    std::string_view key;
    std::vector<Cell> cells;
    BOOST_REQUIRE(ReadIndexRecord(columns, record, &key, &cells));
    BOOST_TEST(key == "key");
    BOOST_REQUIRE_EQUAL(cells.size(), row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      BOOST_TEST((cells[i].family == row[i].family && cells[i].kind == CellKind::kPut));
      BOOST_TEST(cells[i].qualifier == row[i].qualifier);
      BOOST_TEST(cells[i].timestamp == row[i].timestamp);
      BOOST_TEST(cells[i].value == row[i].value);
    }
    for (size_t size = 0; size < record.size(); ++size) {
      cells.clear();
      BOOST_TEST(!ReadIndexRecord(columns, record.substr(0, size), &key, &cells));
    }
    BOOST_TEST(!ReadIndexRecord(columns, record + '\0', &key, &cells));
  }
}

BOOST_AUTO_TEST_CASE(ARowThatIsNotPlainHasNone) {
  const Cell put = Put(0, "c", 7, "value");
  BOOST_TEST(!RecordOf({put}).empty());
  BOOST_TEST(RecordOf({put, Put(0, "c", 6, "older")}).empty());
  BOOST_TEST(RecordOf({put, Put(2, "x", 6, "a"), Put(2, "x", 5, "b")}).empty());
  for (const CellKind kind : {CellKind::kDeleteCell, CellKind::kDeleteColumn}) {
    Cell marker = Put(0, "b", 3, "");
    marker.kind = kind;
    BOOST_TEST(RecordOf({put, marker}).empty());
    marker.qualifier = "other";
    BOOST_TEST(!RecordOf({put, marker}).empty());
  }
  Cell marker = Put(2, "", 3, "");
  marker.kind = CellKind::kDeleteFamily;
  BOOST_TEST(RecordOf({put, marker}).empty());
  marker.family = FamilyId(1);
  BOOST_TEST(!RecordOf({put, marker}).empty());
}

BOOST_AUTO_TEST_CASE(ARecordHasALimit) {
  const size_t besides = RecordOf({Put(0, "b", 0, std::string(1000, 'b'))}).size() - 1000;
  const std::string longest(kIndexRecordBytesMax - besides, 'b');
  BOOST_TEST(RecordOf({Put(0, "b", 0, longest)}).size() == kIndexRecordBytesMax);
  BOOST_TEST(RecordOf({Put(0, "b", 0, longest + "b")}).empty());
  BOOST_TEST(RecordOf({Put(0, "b", 0, "b")}, std::string(kIndexRecordBytesMax, 'k')).empty());
  BlockFile blocks(std::make_unique<test::MemoryFile>(""), FileNumber(1), test::kTestFileId,
                   nullptr);
  Cell overflow = Put(0, "b", 0, "reference");
  overflow.overflow_file = &blocks;
  BOOST_TEST(RecordOf({overflow}).empty());
}

namespace {

std::vector<std::string> RecordsOf(const SectionFile& file, uint64_t first, uint64_t count) {
  std::vector<IndexRecords::Part> parts;
  BOOST_REQUIRE(file.section->records()->ReadRange(first, count, &parts).ok());
  std::vector<std::string> records;
  for (const IndexRecords::Part& part : parts) {
    for (uint32_t i = 0; i < part.count; ++i) records.emplace_back(part.At(i));
  }
  return records;
}

struct CoveringFile {
  explicit CoveringFile(uint32_t rows) {
    TestRandom random("records");
    IndexSectionWriter writer(index);
    for (uint32_t ordinal = 0; ordinal < rows; ++ordinal) {
      const std::string key = "row" + std::to_string(ordinal);
      const std::string value(1, static_cast<char>('a' + random.Below(7)));
      const std::string included(random.Below(60), 'i');
      std::vector<Cell> cells = {Put(0, "b", 1, included), Put(0, "c", 2, value)};
      if (random.Below(10) == 0) cells.push_back(Put(0, "c", 1, "older"));
      if (random.Below(10) == 0) cells.erase(cells.begin() + 1, cells.end());
      writer.AddRow(Ordinal(ordinal), key, cells);
      std::string& record = by_ordinal.emplace_back();
      AppendIndexRecord(CoveredColumns(index), key, cells, &record);
    }
    BOOST_REQUIRE(test::WriteSection(&writer, rows, &file).ok());
    BOOST_REQUIRE(file.section->AppendOrdinals(IndexPart::kCurrent, {}, &order).ok());
  }

  // The records of entries are those of their rows.
  void Check(uint64_t first, uint64_t count) const {
    const std::vector<std::string> records = RecordsOf(file, first, count);
    BOOST_REQUIRE_EQUAL(records.size(), count);
    for (uint64_t i = 0; i < count; ++i) {
      BOOST_TEST(records[i] == by_ordinal[order[first + i]]);
    }
  }

  IndexRecord index = Covering();
  SectionFile file;
  std::vector<std::string> by_ordinal;
  std::vector<uint32_t> order;
};

}  // namespace

BOOST_AUTO_TEST_CASE(RecordsAreInTheOrderOfEntries) {
  for (const uint32_t rows : {1u, 2u, 100u, 3000u}) {
    const CoveringFile covering(rows);
    if (covering.order.empty()) continue;
    const uint64_t entries = covering.order.size();
    BOOST_TEST(covering.file.section->records()->count() == entries);
    covering.Check(0, entries);
    for (uint64_t first = 0; first < entries; first += 1 + entries / 50) {
      covering.Check(first, std::min<uint64_t>(entries - first, 1 + first % 200));
    }
    IndexRecords::Cursor cursor(*covering.file.section->records());
    std::string_view record;
    for (uint64_t i = 0; i < entries; ++i) {
      BOOST_REQUIRE(cursor.Next(&record).value());
      BOOST_TEST(record == covering.by_ordinal[covering.order[i]]);
    }
    BOOST_TEST(!cursor.Next(&record).value());
    std::vector<IndexRecords::Part> parts;
    BOOST_TEST(covering.file.section->records()->ReadRange(entries, 1, &parts).code() ==
               StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_CASE(RecordsWithoutBytesAreNotTooManyForABlock) {
  const IndexRecord index = Covering();
  IndexSectionWriter writer(index);
  const std::vector<Cell> cells = {Put(0, "c", 2, "new"), Put(0, "c", 1, "old")};
  constexpr uint32_t kRows = 10'000;
  for (uint32_t ordinal = 0; ordinal < kRows; ++ordinal) {
    writer.AddRow(Ordinal(ordinal), "row" + std::to_string(ordinal), cells);
  }
  SectionFile file;
  BOOST_REQUIRE(test::WriteSection(&writer, kRows, &file).ok());
  std::vector<IndexRecords::Part> parts;
  BOOST_REQUIRE(file.section->records()->ReadRange(0, kRows, &parts).ok());
  BOOST_TEST(parts.size() > 3u);
  const std::vector<std::string> records = RecordsOf(file, 0, kRows);
  BOOST_TEST(records.size() == kRows);
  BOOST_TEST(std::ranges::all_of(records, &std::string::empty));
}

BOOST_AUTO_TEST_CASE(ASmallFileStaysSmall) {
  int files = 0;  // One whose rows lack the column has no records.
  while (files < 5) {
    const CoveringFile covering(2);
    if (covering.order.empty()) continue;
    BOOST_TEST(covering.file.section->records()->size_bytes() < 300u);
    ++files;
  }
}

// Rows that a merge copies have the records that they had.
BOOST_AUTO_TEST_CASE(CopiedRowsKeepTheirRecords) {
  const IndexRecord index = Covering();
  const std::vector<Cell> cells = {Put(0, "b", 1, "included"), Put(0, "c", 2, "value")};
  SectionFile from, to;
  IndexSectionWriter first(index);
  first.AddRow(Ordinal(0), "row", cells);
  BOOST_REQUIRE(test::WriteSection(&first, 1, &from).ok());
  IndexSectionWriter second(index);
  second.AddRow(Ordinal(0), "before", std::vector<Cell>{Put(0, "c", 2, "zzz")});
  second.CopyRow(Ordinal(1), "row", cells);
  const std::vector<uint32_t> map = {1};
  second.AddSection(from.section.get(), map);
  BOOST_REQUIRE(test::WriteSection(&second, 2, &to).ok());
  BOOST_TEST(RecordsOf(to, 0, 2)[0] == RecordsOf(from, 0, 1)[0]);
}

// Each byte of both sections is changed: a call answers or reports corruption.
BOOST_AUTO_TEST_CASE(DamageIsFound) {
  CoveringFile covering(500);
  const std::string sound = covering.file.bytes;
  for (const SectionKind kind : {SectionKind::kIndexRecords, SectionKind::kIndexRecordDirectory}) {
    const SectionEntry entry = *FindSection(covering.file.sections, kind, covering.index.id.value);
    for (uint64_t at = 0; at < entry.size_bytes; at += 1 + at / 64) {
      covering.file.bytes = sound;
      covering.file.bytes[entry.offset + at] ^= 0x10;
      BOOST_REQUIRE(test::OpenSection(500, covering.index.id, &covering.file).ok());
      std::vector<IndexRecords::Part> parts;
      const Status status =
          covering.file.section->records()->ReadRange(0, covering.order.size(), &parts);
      if (!status.ok()) BOOST_TEST(status.code() == StatusCode::kCorruption);
      // Padding after a block belongs to nothing.
      if (status.ok()) BOOST_TEST(parts[0].At(0) == covering.by_ordinal[covering.order[0]]);
    }
  }
}

BOOST_AUTO_TEST_CASE(SectionsThatDoNotFitAreRefused) {
  CoveringFile covering(50);
  const auto open = [&](auto change) {
    SectionFile file;
    file.bytes = covering.file.bytes;
    file.sections = covering.file.sections;
    change(&file.sections);
    return test::OpenSection(50, covering.index.id, &file).code();
  };
  BOOST_TEST(open([](auto*) {}) == StatusCode::kOk);
  const auto without = [](SectionKind kind) {
    return [kind](std::vector<SectionEntry>* sections) {
      std::erase_if(*sections, [=](const SectionEntry& entry) { return entry.kind == kind; });
    };
  };
  BOOST_TEST(open(without(SectionKind::kIndexRecords)) == StatusCode::kCorruption);
  BOOST_TEST(open(without(SectionKind::kIndexRecordDirectory)) == StatusCode::kCorruption);
  const auto recounted = [](std::vector<SectionEntry>* sections) {
    for (SectionEntry& entry : *sections) {
      entry.count += entry.kind == SectionKind::kIndexRecords ? 1 : 0;
    }
  };
  BOOST_TEST(open(recounted) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format

// A file that is copied with new indexes has the bytes of one that was written with them.
#define BOOST_TEST_DYN_LINK
#include "store_file/indexed_copy.h"

#include <boost/test/unit_test.hpp>

#include "test/store_file/family_files.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::FindingsOf;
using test::MemoryFile;
using test::OpenBytes;
using test::OwnedRow;
using test::RandomRows;
using test::Rows;
using test::TableOf;
using test::WriteRows;
using test::WrittenFile;

std::shared_ptr<StoreFile> Opened(const std::string& bytes) {
  auto file = OpenBytes(bytes);
  BOOST_TEST_REQUIRE(file.has_value(), file.status());
  return *file;
}

std::string Written(const TableRecord& table, const Rows& rows) {
  auto written = WriteRows(table, rows);
  BOOST_TEST_REQUIRE(written.has_value(), written.status());
  return written->bytes;
}

void AddIndex(TableRecord* table, uint32_t id, uint8_t family, ColumnType type) {
  test::AddTextIndex(table, id, "column" + std::to_string(2 + id % 5));
  table->indexes.back().columns[0].family = FamilyId(family);
  table->indexes.back().columns[0].type = type;
}

/// Three indexes of two families, one over two columns of the other.
TableRecord IndexedTable() {
  TableRecord table = TableOf({2, 5});
  AddIndex(&table, 1, 2, ColumnType::kText);
  AddIndex(&table, 2, 5, ColumnType::kInt64);
  AddIndex(&table, 3, 2, ColumnType::kText);
  return table;
}

TableRecord Without(TableRecord table, const std::vector<uint32_t>& indexes) {
  std::erase_if(table.indexes, [&](const IndexRecord& index) {
    return std::ranges::find(indexes, index.id.value) != indexes.end();
  });
  return table;
}

/// Rows of both families, some of which are wide in one of them.
Rows MixedRows(uint64_t seed) {
  RandomRows random(seed);
  Rows rows;
  while (rows.size() < 2) {
    rows = random.ManyOver(40 + random.Below(400), {{2, 70}, {5, seed % 3 == 0 ? 100 : 40}});
  }
  if (seed % 2 == 0) return rows;
  OwnedRow& wide =
      std::next(rows.begin(), static_cast<ptrdiff_t>(random.Below(rows.size())))->second;
  for (int64_t i = 0; i < 3000; ++i) {
    wide.push_back({CellKind::kPut, "column" + std::to_string(i % 9), i, 1, "wide value", 2});
  }
  wide.push_back({CellKind::kDeleteFamily, "", 1500, 2, "", 2});
  wide.push_back({CellKind::kPut, "column3", 4000, 3, std::string(70'000, 'v'), 2});
  test::SortCells(&wide);
  const auto same = [](const auto& a, const auto& b) { return !CellLess(a.View(), b.View()); };
  wide.erase(std::unique(wide.begin(), wide.end(), same), wide.end());
  return rows;
}

Result<std::string> CopyOf(StoreFile* from, const TableRecord& table, IndexedCopySpec spec = {}) {
  spec.table = &table;
  if (spec.number.value == 0) {
    spec.number = from->number();
    spec.id = from->id();
  }
  if (spec.passed == nullptr) spec.passed = [](uint64_t) { return Status(); };
  MemoryFile copy;
  auto summary = CopyWithIndexes(from, &copy, spec);
  if (!summary) return summary.error();
  BOOST_TEST(summary->size_bytes == copy.bytes().size());
  BOOST_CHECK(*Opened(copy.bytes())->VerifyBytes() == summary->hash);
  return copy.bytes();
}

void CheckCopy(const TableRecord& before, const TableRecord& after, const Rows& rows) {
  const auto from = Opened(Written(before, rows));
  BOOST_TEST_REQUIRE(CanCopyWithIndexes(*from, after));
  const auto copy = CopyOf(from.get(), after);
  BOOST_TEST_REQUIRE(copy.has_value(), copy.status());
  BOOST_CHECK(*copy == Written(after, rows));
}

BOOST_AUTO_TEST_SUITE(IndexedCopyTest)

BOOST_AUTO_TEST_CASE(ACopyHasTheBytesOfAFileThatWasWrittenWithTheIndexes) {
  const TableRecord table = IndexedTable();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      const Rows rows = MixedRows(seed);
      CheckCopy(Without(table, {3}), table, rows);
      CheckCopy(Without(table, {2, 3}), table, rows);
      CheckCopy(Without(table, {1, 2, 3}), table, rows);
    }
  }
}

BOOST_AUTO_TEST_CASE(SectionsOfDroppedIndexesAreLeftOut) {
  const TableRecord table = IndexedTable();
  const Rows rows = MixedRows(3);
  for (const uint32_t dropped : {1u, 2u}) {
    CheckCopy(Without(table, {3}), Without(table, {dropped}), rows);
    CheckCopy(table, Without(table, {dropped}), rows);
  }
}

BOOST_AUTO_TEST_CASE(AFileWithoutTheFamilyGetsAnEmptyIndex) {
  RandomRows random(5);
  const Rows rows = random.ManyOver(50, {{5, 100}});
  CheckCopy(Without(IndexedTable(), {1, 2, 3}), Without(IndexedTable(), {2}), rows);
}

BOOST_AUTO_TEST_CASE(AnIndexThatCannotHaveAllValuesHasNoSection) {
  TableRecord table = IndexedTable();
  table.indexes[2].columns[0].type = ColumnType::kBytes;
  Rows rows = MixedRows(2);
  rows.begin()->second = {
      {CellKind::kPut, table.indexes[2].columns[0].qualifier, 1, 1, std::string(5000, 'v'), 2}};
  CheckCopy(Without(table, {3}), table, rows);
  // The copy knows the index; a further one does not look at its rows again.
  AddIndex(&table, 4, 5, ColumnType::kText);
  CheckCopy(Without(table, {4}), table, rows);
}

BOOST_AUTO_TEST_CASE(AFileOfOneSequenceStaysOne) {
  const TableRecord table = IndexedTable(), before = Without(table, {2, 3});
  const auto written = [&](const TableRecord& record) {
    auto memory = std::make_unique<MemoryFile>();
    MemoryFile* const bytes = memory.get();
    StoreFileSpec spec = test::SpecOf(record);
    spec.one_sequence = true;
    StoreFileWriter writer(std::move(memory), spec);
    for (int i = 100; i < 300; ++i) {
      const OwnedRow row = {{CellKind::kPut, "column3", 1, 0, std::to_string(i % 7), 2},
                            {CellKind::kPut, "column4", 1, 0, std::to_string(i % 9), 5}};
      BOOST_REQUIRE(writer.AddRow("k" + std::to_string(i), test::Views(row)).has_value());
    }
    BOOST_REQUIRE(writer.FinishRows().ok());
    BOOST_REQUIRE(writer.FinishAt(SequenceNumber(77)).has_value());
    return bytes->bytes();
  };
  const auto copy = CopyOf(Opened(written(before)).get(), table);
  BOOST_TEST_REQUIRE(copy.has_value(), copy.status());
  BOOST_CHECK(*copy == written(table));
}

BOOST_AUTO_TEST_CASE(ACopyIsAFileOfItsOwn) {
  const TableRecord table = IndexedTable();
  for (const uint64_t seed : {4, 7}) {
    const Rows rows = MixedRows(seed);
    const auto from = Opened(Written(Without(table, {2}), rows));
    const auto bytes = CopyOf(from.get(), table, {.number = FileNumber(99), .id = {{1, 2, 3}}});
    BOOST_TEST_REQUIRE(bytes.has_value(), bytes.status());
    const auto copy = Opened(*bytes);
    BOOST_TEST(copy->number().value == 99u);
    const auto read = test::ReadAllRows(copy.get());
    BOOST_TEST_REQUIRE(read.has_value(), read.status());
    BOOST_CHECK(*read == rows);
    for (const std::string& finding : FindingsOf(copy.get())) BOOST_ERROR(finding);
  }
}

// Damage must not get a checksum that is right.
BOOST_AUTO_TEST_CASE(DamageIsNotCopied) {
  const TableRecord table = IndexedTable(), before = Without(table, {3});
  const std::string bytes = Written(before, MixedRows(6));
  const auto sections = Opened(bytes)->sections();
  for (const SectionEntry& section : sections) {
    const bool is_copied = section.kind != SectionKind::kStatistics &&
                           section.kind != SectionKind::kSchema && section.size_bytes > 0;
    if (!is_copied) continue;
    std::string damaged = bytes;
    damaged[section.offset + 40] ^= 1;
    const auto copy = CopyOf(Opened(damaged).get(), table);
    BOOST_TEST_CONTEXT("section of kind " << static_cast<int>(section.kind)) {
      BOOST_TEST_REQUIRE(!copy.has_value());
      BOOST_CHECK(copy.error().code() == StatusCode::kCorruption);
    }
  }
}

BOOST_AUTO_TEST_CASE(ACopyEndsWhenItIsAskedToOrTakesTooMuchMemory) {
  const TableRecord table = IndexedTable();
  const auto from = Opened(Written(Without(table, {1}), MixedRows(8)));
  const auto ended =
      CopyOf(from.get(), table, {.passed = [](uint64_t) { return Status::Cancelled("enough"); }});
  BOOST_CHECK(ended.error().code() == StatusCode::kCancelled);
  const auto large = CopyOf(from.get(), table, {.entry_bytes_max = 10});
  BOOST_CHECK(large.error().code() == StatusCode::kOverBudget);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

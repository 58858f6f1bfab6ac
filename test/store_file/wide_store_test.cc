// Rows of any width in store files: they come back whole, by column and by pieces, whoever wrote
// them how; verification agrees with what was written and finds what was forged.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "format/block/block_codec.h"
#include "format/byte_reader.h"
#include "format/cell/overflow_value.h"
#include "format/hash.h"
#include "format/row/wide_row.h"
#include "store_file/writer.h"
#include "test/store_file/family_files.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::FindingsOf;
using test::OpenBytes;
using test::OwnedCell;
using test::OwnedRow;
using test::RandomRows;
using test::Rows;
using test::StreamRows;
using test::TableOf;
using test::WriteInPieces;
using test::WriteRows;
using test::WrittenFile;

std::shared_ptr<StoreFile> Opened(const std::string& bytes) {
  auto file = OpenBytes(bytes);
  BOOST_TEST_REQUIRE(file.has_value(), file.status());
  return *file;
}

// Adds cells of more than kWideRowBytes to one family of the row.
void Widen(RandomRows* random, uint8_t family, bool overflow, OwnedRow* row) {
  const size_t count = 1500 + random->Below(2000);
  for (size_t i = 0; i < count; ++i) {
    OwnedCell cell;
    cell.family = family;
    cell.qualifier = "wide" + std::to_string(random->Below(2000));
    cell.timestamp = static_cast<int64_t>(random->Below(1000));
    cell.sequence = 1 + random->Below(1'000'000);
    const uint64_t kind = random->Below(40);
    if (kind > 0 && kind < 4) cell.kind = static_cast<CellKind>(kind);
    if (cell.kind == CellKind::kDeleteFamily) cell.qualifier.clear();
    if (cell.kind == CellKind::kPut) cell.value.assign(random->Below(100), 'v');
    row->push_back(std::move(cell));
  }
  for (uint64_t i = overflow ? 1 + random->Below(4) : 0; i > 0; --i) {
    OwnedCell& cell = (*row)[random->Below(row->size())];
    cell.kind = CellKind::kPut;
    cell.qualifier = "far";  // No indexed column.
    cell.value.assign(kInlineValueBytesMax + 1 + random->Below(2 << 20), 'f');
  }
  test::SortCells(row);
  const auto same = [](const OwnedCell& a, const OwnedCell& b) {
    return !CellLess(a.View(), b.View());
  };
  row->erase(std::unique(row->begin(), row->end(), same), row->end());
}

TableRecord IndexedTable(const std::vector<uint8_t>& families) {
  TableRecord table = TableOf(families);
  test::AddTextIndex(&table, 1, "wide5");
  test::AddTextIndex(&table, 2, "wide77");
  for (IndexRecord& index : table.indexes) index.columns[0].family = FamilyId(families.back());
  return table;
}

Rows MixedRows(RandomRows* random, bool overflow) {
  Rows rows = random->ManyOver(20 + random->Below(40), {{2, 70}, {5, 60}});
  for (uint64_t i = 1 + random->Below(3); i > 0; --i) {
    const auto row = std::next(rows.begin(), static_cast<ptrdiff_t>(random->Below(rows.size())));
    if (random->Below(4) > 0) Widen(random, 2, overflow, &row->second);
    if (random->Below(4) > 0) Widen(random, 5, overflow, &row->second);
  }
  return rows;
}

WrittenFile Required(Result<WrittenFile> written) {
  BOOST_TEST_REQUIRE(written.has_value(), written.status());
  return *std::move(written);
}

void CheckSound(const std::string& bytes, const Rows& rows) {
  const auto file = Opened(bytes);
  const auto read = StreamRows(file.get(), 0, file->row_count());
  BOOST_TEST_REQUIRE(read.has_value(), read.status());
  BOOST_REQUIRE(*read == rows);
  for (const std::string& finding : FindingsOf(file.get())) BOOST_ERROR(finding);
}

BOOST_AUTO_TEST_SUITE(WideStoreTest)

BOOST_AUTO_TEST_CASE(RowsOfEveryWidthComeBack) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomRows random(seed);
      const bool overflow = seed % 2 == 0;
      const TableRecord table = IndexedTable({2, 5});
      const Rows rows = MixedRows(&random, overflow);
      const WrittenFile whole = Required(WriteRows(table, rows));
      const WrittenFile pieces = Required(WriteInPieces(table, rows, &random));
      CheckSound(whole.bytes, rows);
      CheckSound(pieces.bytes, rows);
      BOOST_TEST((whole.summary.statistics == pieces.summary.statistics));
      // Overflow values of a row in pieces are between its chunks.
      if (!overflow) BOOST_TEST((whole.bytes == pieces.bytes));
    }
  }
}

BOOST_AUTO_TEST_CASE(ARowIsWideOnlyInTheFamilyThatIsWide) {
  RandomRows random(7);
  Rows rows;
  rows["k"] = {{CellKind::kPut, "a", 1, 1, "x", 2}};
  Widen(&random, 5, false, &rows["k"]);
  const auto file = Opened(Required(WriteRows(TableOf({2, 5}), rows)).bytes);
  BOOST_TEST(!(*(*file->Family(FamilyId(2)))->ReadRows(0))->is_wide());
  BOOST_TEST((*(*file->Family(FamilyId(5)))->ReadRows(0))->is_wide());
  RowStream stream(file.get(), 0, 1);
  BOOST_REQUIRE(stream.Next().ok());
  BOOST_TEST(stream.is_wide());
}

BOOST_AUTO_TEST_CASE(OverflowValuesOfOtherFilesAreCopied) {
  Rows rows;
  rows["a"] = {{CellKind::kPut, "q", 1, 1, std::string(3 << 20, 'a')}};
  rows["b"] = {{CellKind::kPut, "q", 1, 1, "near"},
               {CellKind::kPut, "r", 1, 1, std::string(kInlineValueBytesMax + 1, 'b')}};
  const TableRecord table = test::PlainTable();
  const auto source = Opened(Required(WriteRows(table, rows)).bytes);
  auto memory = std::make_unique<test::MemoryFile>();
  test::MemoryFile* const out = memory.get();
  StoreFileWriter writer(std::move(memory), test::SpecOf(table));
  RowStream stream(source.get(), 0, source->row_count());
  while (stream.Next().ok() && stream.valid()) {
    std::vector<Cell> cells;
    BOOST_REQUIRE(stream.Cells(&cells).ok());
    if (stream.key() == "a") {
      BOOST_REQUIRE(writer.AddRow(stream.key(), cells).has_value());
    } else {
      BOOST_REQUIRE(writer.BeginRow(stream.key()).ok());
      BOOST_REQUIRE(writer.AddCells(cells).ok());
      BOOST_REQUIRE(writer.EndRow().has_value());
    }
  }
  const auto summary = writer.Finish();
  BOOST_TEST_REQUIRE(summary.has_value(), summary.status());
  BOOST_TEST((summary->statistics == source->statistics()));
  CheckSound(out->bytes(), rows);
}

BOOST_AUTO_TEST_CASE(ValuesBeyondTheLimitAreRefused) {
  const TableRecord table = test::PlainTable();
  StoreFileWriter writer(std::make_unique<test::MemoryFile>(), test::SpecOf(table));
  const OwnedRow row = {{CellKind::kPut, "q", 1, 1, std::string(kOverflowValueBytesMax + 1, 'v')}};
  BOOST_TEST(writer.AddRow("k", test::Views(row)).status().code() == StatusCode::kInvalidArgument);
}

// Changes the raw bytes of the first block of that kind, not compressed, keeping their size.
void Forge(BlockKind kind, const std::function<void(std::string*)>& change, std::string* bytes) {
  for (size_t at = 128; at + kBlockHeaderBytes < bytes->size(); at += kBlockAlignment) {
    const uint32_t stored = LoadAt<uint32_t>(*bytes, at + 8);
    const std::string_view block = std::string_view(*bytes).substr(at, kBlockHeaderBytes + stored);
    if (ClaimedKind(block) != kind ||
        LoadAt<uint64_t>(block, 0) != Hash64(block.substr(8), ChecksumSeed(test::kStoreFileId, at)))
      continue;
    BlockContent content{.kind = kind};
    content.flags = LoadAt<uint16_t>(block, 18);
    content.count = LoadAt<uint32_t>(block, 20);
    content.first = LoadAt<uint32_t>(block, 24);
    std::string raw(block.substr(kBlockHeaderBytes)), scratch, forged;
    change(&raw);
    content.raw = raw;
    AppendBlock(content, ChecksumSeed(test::kStoreFileId, at), &scratch, &forged);
    bytes->replace(at, forged.size(), forged);
    return;
  }
  BOOST_FAIL("no such block");
}

bool Finds(const std::string& bytes, std::string_view what) {
  const std::vector<std::string> findings = FindingsOf(Opened(bytes).get());
  return std::any_of(findings.begin(), findings.end(), [what](const std::string& finding) {
    return finding.find(what) != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(ForgedReferencesAreFound) {
  TableRecord table = test::PlainTable();
  table.families[0].options.compression = Compression::kNone;
  Rows rows;
  rows["j"] = {{CellKind::kPut, "a", 1, 1, std::string(70'000, 'j')}};
  rows["k"] = {{CellKind::kPut, "a", 1, 1, std::string(70'000, 'a')},
               {CellKind::kPut, "b", 1, 1, std::string(70'000, 'b')}};
  const std::string bytes = Required(WriteRows(table, rows)).bytes;
  BOOST_TEST(FindingsOf(Opened(bytes).get()).empty());
  std::string twice = bytes;
  Forge(
      BlockKind::kRows,
      [](std::string* raw) {
        // Both references have the same size and are at the ends of their cells.
        const size_t second = raw->size() - 14;
        const size_t first = second - 3 - 14;
        BOOST_REQUIRE(raw->substr(first, 3) == raw->substr(second, 3));
        raw->replace(second, 14, raw->substr(first, 14));
      },
      &twice);
  BOOST_TEST(Finds(twice, "where no overflow value waits for a cell"));
  BOOST_TEST(Finds(twice, "an overflow value that no cell refers to"));
  std::string hash = bytes;
  Forge(
      BlockKind::kRows, [](std::string* raw) { raw->back() ^= 1; }, &hash);
  BOOST_TEST(Finds(hash, "hash of overflow value"));
  std::string number = bytes;
  // The second value's block as if it went on.
  Forge(
      BlockKind::kValue, [](std::string* raw) { raw->front() ^= 1; }, &number);
  BOOST_TEST(Finds(number, "hash of overflow value"));
}

BOOST_AUTO_TEST_CASE(ForgedHeadsAreFound) {
  RandomRows random(3);
  TableRecord table = test::PlainTable();
  table.families[0].options.compression = Compression::kNone;
  Rows rows;
  Widen(&random, 0, false, &rows["k"]);
  const std::string bytes = Required(WriteRows(table, rows)).bytes;
  BOOST_TEST(FindingsOf(Opened(bytes).get()).empty());
  std::string forged = bytes;
  Forge(
      BlockKind::kWideHead, [](std::string* raw) { (*raw)[16] ^= 1; }, &forged);
  BOOST_TEST(Finds(forged, "chunk of the row with hash"));
  BOOST_TEST(Finds(forged, "the head of a wide row does not follow its chunks"));
  forged = bytes;
  Forge(
      BlockKind::kChunk, [](std::string* raw) { (*raw)[24] ^= 1; }, &forged);
  BOOST_TEST(Finds(forged, "number of chunk"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

// Several families in one file: what was written is read back per family and whole, positions and
// ordinals belong together, and the keys have a carrier whatever the families lack.
#include <algorithm>

#include "format/hash.h"
#include "store_file/writer.h"
#include "tandem/limits.h"
#include "test/store_file/family_files.h"
#include "test/support/print.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

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

std::shared_ptr<StoreFile> Opened(const Result<WrittenFile>& written, BlockCache* cache = nullptr) {
  BOOST_TEST_REQUIRE(written.has_value(), written.status());
  auto file = OpenBytes(written->bytes, cache);
  BOOST_TEST_REQUIRE(file.has_value(), file.status());
  return *file;
}

// The cells of one family; empty when the row lacks it.
OwnedRow CellsOf(const OwnedRow& row, uint8_t family) {
  OwnedRow cells;
  std::copy_if(row.begin(), row.end(), std::back_inserter(cells),
               [=](const OwnedCell& cell) { return cell.family == family; });
  return cells;
}

// The family's rows by position, and that they are where the reference says.
void CheckFamily(const StoreFile& file, uint8_t family, const Rows& rows) {
  const auto loaded = file.Family(FamilyId(family));
  BOOST_TEST_REQUIRE(loaded.has_value(), loaded.status());
  const DataSection* data = *loaded;
  uint32_t ordinal = 0, position = 0, block = 0;
  RowBlockRef cached;
  for (const auto& [key, row] : rows) {
    const OwnedRow expected = CellsOf(row, family);
    BOOST_REQUIRE(data != nullptr || expected.empty());
    if (data == nullptr) continue;
    BOOST_TEST_REQUIRE(data->RankOf(ordinal) == position);
    BOOST_TEST_REQUIRE(data->Has(ordinal) == !expected.empty());
    if (!expected.empty()) {
      BOOST_TEST_REQUIRE(data->OrdinalOf(position) == ordinal);
      BOOST_TEST_REQUIRE(*data->BlockOf(position, block) == *data->BlockOf(position));
      block = *data->BlockOf(position, block);
      cached = *data->ReadRows(block);
      BOOST_TEST_REQUIRE(*data->BlockOfKey(key) == block);
      const uint32_t slot = position - cached->first();
      BOOST_TEST_REQUIRE(*cached->KeyEquals(slot, key));
      std::vector<Cell> cells;
      BOOST_REQUIRE(cached->Cells(slot, Projection(data->names(), nullptr), &cells).ok());
      for (Cell& cell : cells) BOOST_TEST_REQUIRE(cell.family.value == family);
      BOOST_REQUIRE(test::Owned(cells) == expected);
      ++position;
    }
    ++ordinal;
  }
  if (data == nullptr) return;
  BOOST_TEST(data->row_count() == position);
  BOOST_TEST(data->RankOf(ordinal) == position);
  BOOST_TEST(data->is_full() == (position == rows.size()));
}

void CheckKeys(StoreFile* file, const Rows& rows) {
  uint32_t ordinal = 0;
  for (const auto& [key, row] : rows) {
    const auto found = file->FindByHash(key, RowHash(key, file->table().hash_secret));
    BOOST_TEST_REQUIRE(found.has_value(), found.status());
    BOOST_REQUIRE(found->has_value());
    BOOST_TEST_REQUIRE((*found)->ordinal.value == ordinal);
    BOOST_TEST_REQUIRE(*file->LowerBound(key) == ordinal);
    BOOST_TEST_REQUIRE(*file->LowerBound(key + '\0') == ordinal + 1);
    ++ordinal;
  }
}

// Of every second key and of as many that are not there, all at once.
void CheckManyKeys(StoreFile* file, const Rows& rows) {
  std::vector<std::string> keys;
  std::vector<uint32_t> expected, found;
  uint32_t ordinal = 0;
  for (const auto& [key, row] : rows) {
    if (ordinal % 2 == 0) {
      expected.push_back(ordinal);
      keys.push_back(key);
    }
    if (!rows.contains(key + '\0')) keys.push_back(key + '\0');
    ++ordinal;
  }
  std::vector<HashedKey> hashed;
  for (const std::string& key : keys) {
    hashed.push_back({key, RowHash(key, file->table().hash_secret)});
  }
  const Status status = file->FindEachByHash(hashed, &found);
  BOOST_TEST_REQUIRE(status.ok(), status);
  BOOST_REQUIRE(found == expected);
}

// Everything that a file of these rows answers.
void CheckFile(StoreFile* file, const std::vector<uint8_t>& ids, const Rows& rows,
               RandomRows* random) {
  BOOST_TEST(file->row_count() == rows.size());
  std::vector<uint8_t> with_rows, full;
  for (const uint8_t id : ids) {
    const size_t count = std::count_if(rows.begin(), rows.end(), [=](const auto& row) {
      return !CellsOf(row.second, id).empty();
    });
    if (count > 0) with_rows.push_back(id);
    if (count == rows.size()) full.push_back(id);
    CheckFamily(*file, id, rows);
  }
  std::sort(with_rows.begin(), with_rows.end());
  std::sort(full.begin(), full.end());
  std::vector<uint8_t> stated;
  for (const FamilyId family : file->families()) stated.push_back(family.value);
  BOOST_TEST(stated == with_rows);
  const uint8_t carrier = full.empty() ? static_cast<uint8_t>(kKeysOwner) : full.front();
  BOOST_TEST((*file->Carrier())->family().value == carrier);
  BOOST_TEST((*file->Family(FamilyId(kKeysOwner)) == nullptr) == !full.empty());
  CheckKeys(file, rows);
  CheckManyKeys(file, rows);

  BOOST_REQUIRE(*StreamRows(file, 0, file->row_count()) == rows);
  for (int i = 0; i < 5; ++i) {
    const auto low = static_cast<uint32_t>(random->Below(rows.size() + 1));
    const auto high = static_cast<uint32_t>(low + random->Below(rows.size() - low + 1));
    const Rows part(std::next(rows.begin(), low), std::next(rows.begin(), high));
    BOOST_REQUIRE(*StreamRows(file, low, high) == part);
  }
  for (const std::string& finding : FindingsOf(file)) BOOST_ERROR(finding);
}

BOOST_AUTO_TEST_SUITE(FamiliesTest)

BOOST_AUTO_TEST_CASE(RandomRowsComeBackPerFamilyAndWhole) {
  constexpr uint64_t kPercentages[] = {0, 1, 10, 50, 95, 100};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomRows random(seed);
      std::map<uint8_t, uint64_t> families;
      const size_t count = 1 + random.Below(5);
      while (families.size() < count) {
        families[static_cast<uint8_t>(random.Below(255))] = kPercentages[random.Below(6)];
      }
      const Rows rows = random.ManyOver(1 + random.Below(seed % 10 == 0 ? 3000 : 150), families);
      if (rows.empty()) continue;
      std::vector<uint8_t> ids;
      for (const auto& family : families) ids.push_back(family.first);
      if (seed % 3 == 0) std::reverse(ids.begin(), ids.end());  // Ids need not rise in the table.
      TableRecord table = TableOf(ids);
      // A text that every column name of RandomRows may hold.
      table.indexes.push_back({IndexId(4),
                               "i",
                               IndexState::kReady,
                               {{FamilyId(ids.back()), "column7", ColumnType::kBytes, false}}});
      const Rows indexable = [&] {
        Rows small = rows;
        for (auto& [key, row] : small) {
          for (OwnedCell& cell : row) cell.value.resize(std::min<size_t>(cell.value.size(), 500));
        }
        return small;
      }();
      const auto whole = WriteRows(table, indexable);
      const auto pieces = WriteInPieces(table, indexable, &random);
      BlockCache cache(1 << 20);
      const auto file = Opened(whole, &cache);
      CheckFile(file.get(), ids, indexable, &random);
      BOOST_TEST_REQUIRE(pieces.has_value(), pieces.status());
      BOOST_TEST((whole->bytes == pieces->bytes), "rows in pieces make another file");
    }
  }
}

BOOST_AUTO_TEST_CASE(TheKeysStandAloneFromTheRowOnThatNoFamilyCovers) {
  // Blocks of both families are in the file, others wait, when the last full one lacks a row.
  for (const size_t miss : {1, 2, 100, 3000}) {
    BOOST_TEST_CONTEXT("miss " << miss) {
      Rows rows;
      for (size_t i = 0; i < 6000; ++i) {
        OwnedRow& row = rows["row" + std::to_string(100'000 + i)];
        const std::string value(i % 50 == 0 ? 20'000 : 200, static_cast<char>('a' + i % 26));
        if (i != miss / 2) row.push_back({CellKind::kPut, "a", 1, i + 1, value, 3});
        if (i != miss) row.push_back({CellKind::kPut, "b", 1, i + 1, value, 8});
      }
      const auto file = Opened(WriteRows(TableOf({3, 8}), rows));
      RandomRows random(miss);
      CheckFile(file.get(), {3, 8}, rows, &random);
      BOOST_TEST((*file->Carrier())->row_count() == 6000u);
    }
  }
}

BOOST_AUTO_TEST_CASE(AFamilyStandsInExtentsOfAboutAMebibyte) {
  Rows rows;
  TableRecord table = TableOf({0, 2, 4});
  for (FamilyRecord& family : table.families) family.options.block_size_bytes = 8192;
  for (size_t i = 0; i < 40'000; ++i) {
    OwnedRow& row = rows["row" + std::to_string(100'000 + i)];
    for (const uint8_t family : {0, 2, 4}) {
      row.push_back({CellKind::kPut, "a", 1, 1, std::string(100, 'v'), family});
    }
  }
  const auto file = Opened(WriteRows(table, rows));
  for (const uint8_t family : {0, 2, 4}) {
    const DataSection* data = *file->Family(FamilyId(family));
    uint64_t bytes = 0, runs = 0, end = 0;
    BOOST_REQUIRE(data->LoadBlocks().ok());
    for (uint32_t block = 0; block < data->block_count(); ++block) {
      const BlockHandle place = data->BlockAt(block)->handle;
      if (place.offset - end >= kBlockAlignment) ++runs;
      end = place.offset + place.stored_bytes;
      bytes += place.stored_bytes;
    }
    BOOST_TEST(runs > 1u);
    BOOST_TEST(runs <= bytes / kExtentBytes + 1);
  }
}

BOOST_AUTO_TEST_CASE(AFileOfOneFamilyHasNothingOfTheOthers) {
  const Rows rows = RandomRows(4).ManyOver(300, {{7, 100}});
  const auto alone = WriteRows(TableOf({7}), rows);
  const auto beside = WriteRows(TableOf({1, 7, 9}), rows);
  const auto file = Opened(beside);
  BOOST_TEST((*file->Family(FamilyId(1)) == nullptr));
  BOOST_TEST((*file->Family(FamilyId(9)) == nullptr));
  BOOST_TEST((*file->Family(FamilyId(200)) == nullptr));
  BOOST_TEST(file->sections().size() == Opened(alone)->sections().size());
}

BOOST_AUTO_TEST_CASE(EachFamilyHasItsOwnNames) {
  // More names than a dictionary holds in one family, few in the other, some alike.
  Rows rows;
  for (size_t i = 0; i < 9000; ++i) {
    OwnedRow& row = rows["row" + std::to_string(100'000 + i)];
    row.push_back({CellKind::kPut, "many" + std::to_string(i), 5, 1, "x", 1});
    row.push_back({CellKind::kPut, "many" + std::to_string(i % 3), 5, 1, "y", 2});
  }
  const auto file = Opened(WriteRows(TableOf({1, 2}), rows));
  RandomRows random(1);
  CheckFile(file.get(), {1, 2}, rows, &random);
  BOOST_TEST((*file->Family(FamilyId(1)))->names().size() == kDictionaryNamesMax);
  BOOST_TEST((*file->Family(FamilyId(2)))->names().size() == 3u);
}

BOOST_AUTO_TEST_CASE(OptionsAreTheFamilysOwn) {
  TableRecord table = TableOf({0, 1});
  table.families[0].options = {
      .name = "a", .compression = Compression::kNone, .block_size_bytes = 512};
  table.families[1].options = {
      .name = "b", .compression = Compression::kZstd, .block_size_bytes = 64 * 1024};
  Rows rows;
  for (size_t i = 0; i < 4000; ++i) {
    OwnedRow& row = rows["row" + std::to_string(100'000 + i)];
    row.push_back({CellKind::kPut, "a", 5, 1, std::string(60, 'x'), 0});
    row.push_back({CellKind::kPut, "a", 5, 1, std::string(60, 'x'), 1});
  }
  const auto file = Opened(WriteRows(table, rows));
  const auto raw_and_stored = [&](uint8_t family) {
    const DataSection* data = *file->Family(FamilyId(family));
    BOOST_REQUIRE(data->LoadBlocks().ok());
    return std::pair((*data->ReadRows(0))->raw_bytes, data->BlockAt(0)->handle.stored_bytes);
  };
  const auto [small_raw, small_stored] = raw_and_stored(0);
  const auto [large_raw, large_stored] = raw_and_stored(1);
  BOOST_TEST(small_raw < 1024u);
  BOOST_TEST(small_stored == small_raw + kBlockHeaderBytes);
  BOOST_TEST(large_raw > 50'000u);
  BOOST_TEST(large_stored < large_raw / 10);
}

BOOST_AUTO_TEST_CASE(FamilyMarkersMayComeLast) {
  const TableRecord table = TableOf({1, 2, 3});
  Rows rows;
  for (int i = 0; i < 50; ++i) {
    OwnedRow& row = rows["row" + std::to_string(100 + i)];
    row.push_back({CellKind::kDeleteFamily, "", 9, 4, "", 1});
    row.push_back({CellKind::kDeleteFamily, "", 5, 2, "", 1});
    row.push_back({CellKind::kPut, "q", 7, 3, "v", 1});
    row.push_back({CellKind::kDeleteFamily, "", 9, 4, "", 2});
    if (i % 2 == 0) row.push_back({CellKind::kPut, "q", 7, 3, "v", 3});
  }
  auto memory = std::make_unique<test::MemoryFile>();
  test::MemoryFile* bytes = memory.get();
  StoreFileWriter writer(std::move(memory), test::SpecOf(table));
  for (const auto& [key, row] : rows) {
    const std::vector<Cell> cells = test::Views(row);
    const auto all = std::span(cells);
    BOOST_REQUIRE(writer.BeginRow(key).ok());
    BOOST_REQUIRE(writer.AddCells(all.subspan(2, 1)).ok());
    BOOST_REQUIRE(writer.AddFamilyDeletes(all.subspan(1, 1)).ok());
    BOOST_REQUIRE(writer.AddFamilyDeletes(all.subspan(0, 1)).ok());
    BOOST_REQUIRE(writer.AddFamilyDeletes(all.subspan(3, 1)).ok());
    if (all.size() > 4) BOOST_REQUIRE(writer.AddCells(all.subspan(4, 1)).ok());
    BOOST_REQUIRE(writer.EndRow().has_value());
  }
  BOOST_REQUIRE(writer.Finish().has_value());
  BOOST_TEST((bytes->bytes() == WriteRows(table, rows)->bytes));
}

BOOST_AUTO_TEST_CASE(PiecesOutOfOrderAreRefused) {
  const TableRecord table = TableOf({1, 2});
  const auto code_of = [&](const std::vector<OwnedRow>& pieces) {
    StoreFileWriter writer(std::make_unique<test::MemoryFile>(), test::SpecOf(table));
    Status status = writer.BeginRow("row");
    for (const OwnedRow& piece : pieces) {
      if (status.ok()) status = writer.AddCells(test::Views(piece));
    }
    return status.ok() ? writer.EndRow().status().code() : status.code();
  };
  const OwnedCell b1{CellKind::kPut, "b", 5, 1, "", 1}, c1{CellKind::kPut, "c", 5, 1, "", 1};
  const OwnedCell a2{CellKind::kPut, "a", 5, 1, "", 2}, a3{CellKind::kPut, "a", 5, 1, "", 3};
  BOOST_TEST(code_of({{b1}, {c1, a2}}) == StatusCode::kOk);
  BOOST_TEST(code_of({{c1}, {b1}}) == StatusCode::kCorruption);
  BOOST_TEST(code_of({{b1}, {b1}}) == StatusCode::kCorruption);
  BOOST_TEST(code_of({{a2}, {b1}}) == StatusCode::kCorruption);
  BOOST_TEST(code_of({{a3}}) == StatusCode::kUnsupported);
  BOOST_TEST(code_of({}) == StatusCode::kInvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

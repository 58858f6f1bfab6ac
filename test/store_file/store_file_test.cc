// Store files: whatever was written is found again by key, by ordinal and by hash, and the file
// says the right things about itself.
#include "store_file/store_file.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "format/block/footer.h"
#include "format/cell/visibility.h"
#include "format/file_header.h"
#include "format/hash.h"
#include "index/entries.h"
#include "store_file/writer.h"
#include "tandem/limits.h"
#include "test/store_file/store_files.h"
#include "test/support/forwarding_file.h"
#include "test/support/print.h"
#include "test/support/split_loops.h"

namespace tandem::format {
namespace {

using test::OpenBytes;
using test::OwnedCell;
using test::OwnedRow;
using test::PlainTable;
using test::RandomRows;
using test::ReadAllRows;
using test::Rows;
using test::WriteRows;
using test::WrittenFile;

WrittenFile Written(const TableRecord& table, const Rows& rows) {
  auto written = WriteRows(table, rows);
  BOOST_TEST_REQUIRE(written.has_value(), written.status());
  return *std::move(written);
}

std::shared_ptr<StoreFile> Opened(const WrittenFile& written, BlockCache* cache = nullptr) {
  auto file = OpenBytes(written.bytes, cache);
  BOOST_TEST_REQUIRE(file.has_value(), file.status());
  return *std::move(file);
}

// What the statistics of `rows` have to be, counted plainly.
FileStatistics Counted(const Rows& rows) {
  FileStatistics s;
  s.rows = static_cast<uint32_t>(rows.size());
  s.min_sequence = kSequenceMax;
  s.min_timestamp = INT64_MAX;
  s.max_timestamp = INT64_MIN;
  s.min_key = rows.begin()->first;
  s.max_key = rows.rbegin()->first;
  ColumnTimes family{FamilyId(0), "", INT64_MAX, INT64_MIN};
  for (const auto& [key, row] : rows) {
    s.raw_bytes += key.size();
    if (IsCleanRow(test::Views(row))) ++s.clean_rows;
    for (const OwnedCell& cell : row) {
      ++s.cells;
      s.raw_bytes += cell.qualifier.size() + cell.value.size();
      s.min_sequence = std::min(s.min_sequence, SequenceNumber(cell.sequence));
      s.max_sequence = std::max(s.max_sequence, SequenceNumber(cell.sequence));
      s.min_timestamp = std::min(s.min_timestamp, cell.timestamp);
      s.max_timestamp = std::max(s.max_timestamp, cell.timestamp);
      if (cell.kind != CellKind::kPut) {
        ++s.deletes;
      } else {
        family.min_timestamp = std::min(family.min_timestamp, cell.timestamp);
        family.max_timestamp = std::max(family.max_timestamp, cell.timestamp);
      }
    }
  }
  if (s.cells > s.deletes) s.family_times.push_back(family);
  return s;
}

std::string SmallFile() { return Written(PlainTable(), RandomRows(7).Many(9)).bytes; }

BOOST_AUTO_TEST_SUITE(StoreFileTest)

BOOST_AUTO_TEST_CASE(RandomRowsComeBack) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomRows random(seed);
      const TableRecord table = PlainTable(512 << random.Below(5));
      const Rows rows = random.Many(1 + random.Below(400));
      const WrittenFile written = Written(table, rows);
      BlockCache cache(random.Below(2) == 0 ? 64 * 1024 : 16 * 1024 * 1024);
      const auto file = Opened(written, &cache);
      const auto found = ReadAllRows(file.get());
      BOOST_TEST_REQUIRE(found.has_value(), found.status());
      BOOST_TEST((*found == rows));
      BOOST_TEST(file->row_count() == rows.size());
      BOOST_TEST((file->statistics() == Counted(rows)));
      BOOST_TEST((file->statistics() == written.summary.statistics));
      BOOST_TEST(file->size_bytes() == written.bytes.size());
      BOOST_TEST(written.summary.size_bytes == written.bytes.size());
      BOOST_TEST((written.summary.hash == HashOf128(written.bytes)));
      BOOST_TEST(file->region_start() == "from here");
      BOOST_TEST(file->table().name == "t");
      BOOST_TEST((file->table().hash_secret == table.hash_secret));
      const auto verified = file->VerifyBytes();
      BOOST_TEST_REQUIRE(verified.has_value(), verified.status());
      BOOST_TEST((*verified == written.summary.hash));
    }
  }
}

BOOST_AUTO_TEST_CASE(LowerBoundAgreesWithStdLowerBound) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomRows random(seed);
      const Rows rows = random.Many(1 + random.Below(600));
      const auto file = Opened(Written(PlainTable(), rows));
      for (int i = 0; i < 500; ++i) {
        std::string key = random.Key();
        if (i % 3 == 0) key = std::next(rows.begin(), random.Below(rows.size()))->first;
        if (i % 9 == 0) key.push_back('\0');
        if (i % 9 == 3) key.pop_back();
        const auto slot = file->LowerBound(key);
        BOOST_TEST_REQUIRE(slot.has_value(), slot.status());
        BOOST_TEST(*slot == std::distance(rows.begin(), rows.lower_bound(key)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(EveryKeyIsFoundByItsHashAndNoOther) {
  RandomRows random(4);
  const TableRecord table = PlainTable();
  const Rows rows = random.Many(500);
  const auto file = Opened(Written(table, rows));
  uint32_t ordinal = 0;
  for (const auto& [key, row] : rows) {
    const uint64_t hash = RowHash(key, table.hash_secret);
    BOOST_TEST((*file->KeyHashes())[ordinal] == hash);
    BOOST_TEST(*file->MayContain(hash));
    const auto found = file->FindByHash(key, hash);
    BOOST_REQUIRE(found.has_value() && found->has_value());
    BOOST_TEST((*found)->ordinal.value == ordinal);
    ++ordinal;
  }
  size_t passed = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = random.Key() + "?";
    const uint64_t hash = RowHash(key, table.hash_secret);
    BOOST_TEST(!file->FindByHash(key, hash)->has_value());
    passed += *file->MayContain(hash);
  }
  BOOST_TEST(passed < 200u);
}

// Among so many rows a block has several whose hashes agree in a byte, and the last rows of a block
// have neighbours in the next.
BOOST_AUTO_TEST_CASE(RowsOfABlockWithEqualBytesOfTheirHashesAreToldApart) {
  const TableRecord table = PlainTable(/*block_size_bytes=*/32'768);
  Rows rows;
  for (int i = 0; i < 20'000; ++i) {
    rows["key" + std::to_string(i)] = {{CellKind::kPut, "q", 1, 1, "v", 0}};
  }
  const auto file = Opened(Written(table, rows));
  BOOST_REQUIRE(file->KeyHashes().has_value());  // Else the first ones are found by their keys.
  uint32_t ordinal = 0;
  for (const auto& [key, row] : rows) {
    const uint64_t hash = RowHash(key, table.hash_secret);
    const auto found = file->FindByHash(key, hash);
    BOOST_REQUIRE(found.has_value() && found->has_value());
    BOOST_REQUIRE_EQUAL((*found)->ordinal.value, ordinal++);
    constexpr uint64_t kOtherBit = uint64_t{1} << 40;
    BOOST_REQUIRE(!file->FindByHash(key, hash ^ kOtherBit)->has_value());
  }
}

BOOST_AUTO_TEST_CASE(OrdinalsLeadToTheirBlocks) {
  RandomRows random(9);
  const Rows rows = random.Many(700);
  const auto file = Opened(Written(PlainTable(), rows));
  const DataSection* data = *file->Carrier();
  const uint32_t blocks = data->block_count();
  BOOST_REQUIRE(data->LoadBlocks().ok());
  BOOST_TEST(blocks > 20u);
  for (uint32_t block = 0; block < blocks; ++block) {
    const DataBlock place = *data->BlockAt(block);
    for (uint32_t ordinal = place.first; ordinal < place.first + place.count; ++ordinal) {
      for (const uint32_t hint : {0u, block / 2, block, blocks - 1}) {
        BOOST_TEST(*data->BlockOf(ordinal, hint) == block);
      }
    }
  }
  BOOST_TEST(data->BlockAt(blocks - 1)->first + data->BlockAt(blocks - 1)->count == rows.size());
}

BOOST_AUTO_TEST_CASE(BlocksComeFromCacheFileAndCaller) {
  const Rows rows = RandomRows(9).Many(100);
  const WrittenFile written = Written(PlainTable(), rows);
  BlockCache cache(1 << 20);
  const auto file = Opened(written, &cache);
  const DataSection* data = *file->Carrier();
  const size_t before = cache.size_bytes();
  const DataBlock first = *data->BlockAt(1), second = *data->BlockAt(2);
  BOOST_TEST(data->CachedRows(first) == nullptr);
  BOOST_TEST(data->ReadRowsUncached(first).has_value());
  BOOST_TEST(data->CachedRows(first) == nullptr);
  BOOST_TEST(cache.size_bytes() == before);
  const BlockHandle handle = first.handle;
  const std::string_view stored =
      std::string_view(written.bytes).substr(handle.offset, handle.stored_bytes);
  BOOST_TEST(data->AdmitRows(first, stored).has_value());
  BOOST_TEST(data->CachedRows(first) != nullptr);
  BOOST_TEST(data->AdmitRows(first, stored.substr(1)).status().code() == StatusCode::kCorruption);
  BOOST_TEST(data->AdmitRows(second, stored).status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(CachedRowsLiveAsLongAsTheCacheOrAReaderKeepsThem) {
  const WrittenFile written = Written(PlainTable(), RandomRows(9).Many(100));
  BlockCache cache(1 << 20);
  const auto file = Opened(written, &cache);
  const DataSection* data = *file->Carrier();
  const DataBlock place = *data->BlockAt(1);
  RowBlockRef rows = *data->ReadRows(1);
  BOOST_TEST(data->CachedRows(place) == rows);
  BOOST_TEST(*data->ReadRows(1) == rows);

  // Another opening of the same file finds the block through the cache.
  const auto twin = Opened(written, &cache);
  const DataSection* twin_data = *twin->Carrier();
  BOOST_TEST(twin_data->CachedRows(place) == rows);
  BOOST_TEST(twin_data->CachedRows(*twin_data->BlockAt(0)) == nullptr);

  cache.EraseFile(file->number());
  BOOST_TEST(data->CachedRows(place) == rows);
  rows.reset();
  BOOST_TEST(data->CachedRows(place) == nullptr);
  BOOST_TEST(twin_data->CachedRows(place) == nullptr);
  BOOST_TEST(cache.size_bytes() == 0u);
  rows = *data->ReadRows(1);
  BOOST_TEST(data->CachedRows(place) == rows);
}

BOOST_AUTO_TEST_CASE(CacheKeepsItsBudgetUnderScans) {
  const Rows rows = RandomRows(2).Many(2000);
  BlockCache cache(256 * 1024);
  const auto file = Opened(Written(PlainTable(4096), rows), &cache);
  const DataSection* data = *file->Carrier();
  BOOST_REQUIRE(data->LoadBlocks().ok());
  for (int round = 0; round < 3; ++round) {
    for (uint32_t block = 0; block < data->block_count(); ++block) {
      BOOST_REQUIRE(data->ReadRows(block).has_value());
    }
    BOOST_TEST(cache.size_bytes() <= 256u * 1024);
  }
  BOOST_TEST(cache.size_bytes() > 0u);
}

BOOST_AUTO_TEST_CASE(CleanBitsAreThoseOfTheRows) {
  const Rows rows = RandomRows(6).Many(300);
  const auto file = Opened(Written(PlainTable(), rows));
  const Bitmap* clean = *file->CleanRows();
  uint32_t ordinal = 0;
  for (const auto& [key, row] : rows) {
    BOOST_TEST(clean->Test(ordinal++) == IsCleanRow(test::Views(row)));
  }
  BOOST_TEST(!file->all_clean());
  Rows puts;
  for (const auto& [key, row] : rows) puts[key] = {{CellKind::kPut, "a", 1, 1, "x"}};
  const auto clean_file = Opened(Written(PlainTable(), puts));
  BOOST_TEST(clean_file->all_clean());
  BOOST_TEST((*clean_file->CleanRows())->all());
}

BOOST_AUTO_TEST_CASE(ALargeRowHasABlockToItself) {
  Rows rows;
  for (int i = 0; i < 30; ++i) {
    rows["k" + std::to_string(100 + i)] = {{CellKind::kPut, "a", i, 1, "small"}};
  }
  OwnedRow& large = rows["k115x"];
  for (int i = 0; i < 10; ++i) {
    large.push_back({CellKind::kPut, "c", -i, 1, std::string(1000, 'v')});
  }
  const auto file = Opened(Written(PlainTable(), rows));
  BOOST_TEST((*ReadAllRows(file.get()) == rows));
  const DataSection* data = *file->Carrier();
  BOOST_TEST(data->BlockAt(*data->BlockOf(16))->count == 1u);
}

BOOST_AUTO_TEST_CASE(ForeignFamiliesBadKeysAndDisorderAreRefused) {
  const TableRecord table = PlainTable();
  StoreFileWriter writer(std::make_unique<test::MemoryFile>(), test::SpecOf(table));
  Cell cell{CellKind::kPut, FamilyId(0), "a", 1, SequenceNumber(1), "x"};
  const auto code = [&](std::string_view key) {
    return writer.AddRow(key, {&cell, 1}).status().code();
  };
  BOOST_TEST(code("b") == StatusCode::kOk);
  BOOST_TEST(code("b") == StatusCode::kCorruption);
  BOOST_TEST(code("a") == StatusCode::kCorruption);
  BOOST_TEST(code("") == StatusCode::kInvalidArgument);
  BOOST_TEST(code(std::string(kRowKeyBytesMax + 1, 'c')) == StatusCode::kInvalidArgument);
  cell.family = FamilyId(1);
  BOOST_TEST(code("c") == StatusCode::kUnsupported);
  cell.family = FamilyId(0);
  BOOST_TEST(code(std::string(kRowKeyBytesMax, 'c')) == StatusCode::kOk);
  BOOST_TEST(writer.row_count() == 2u);
}

BOOST_AUTO_TEST_CASE(ManifestsExpectationsAreChecked) {
  const WrittenFile written = Written(PlainTable(), RandomRows(1).Many(3));
  const auto code = [&](const ExpectedFile& expected) {
    return OpenBytes(written.bytes, nullptr, expected).status().code();
  };
  const uint64_t size = written.bytes.size();
  BOOST_TEST(code({FileNumber(12), size, test::kStoreFileId}) == StatusCode::kOk);
  BOOST_TEST(code({FileNumber(13), size, test::kStoreFileId}) == StatusCode::kCorruption);
  BOOST_TEST(code({FileNumber(12), size + 1, test::kStoreFileId}) == StatusCode::kCorruption);
  BOOST_TEST(code({FileNumber(12), size, FileId{}}) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(SequencesCanBeWidenedAndExpiryIsSeen) {
  TableRecord table = PlainTable();
  auto memory = std::make_unique<test::MemoryFile>();
  test::MemoryFile* bytes = memory.get();
  StoreFileWriter writer(std::move(memory), test::SpecOf(table));
  const Cell cell{CellKind::kPut, FamilyId(0), "a", 1000, SequenceNumber(50), "x"};
  BOOST_REQUIRE(writer.AddRow("k", {&cell, 1}).has_value());
  writer.WidenSequences(SequenceNumber(3), SequenceNumber(70));
  BOOST_REQUIRE(writer.Finish().has_value());
  const auto file = OpenBytes(bytes->bytes());
  BOOST_REQUIRE(file.has_value());
  BOOST_TEST((*file)->statistics().min_sequence.value == 3u);
  BOOST_TEST((*file)->statistics().max_sequence.value == 70u);
  BOOST_TEST(!(*file)->MayHaveExpired(table.families, INT64_MAX));
  table.families[0].options.ttl_micros = 10;
  BOOST_TEST(!(*file)->MayHaveExpired(table.families, 1009));
  BOOST_TEST((*file)->MayHaveExpired(table.families, 1010));
  table.families[0].options.ttl_micros = INT64_MAX;
  BOOST_TEST(!(*file)->MayHaveExpired(table.families, INT64_MAX));
}

BOOST_AUTO_TEST_CASE(IndexSectionsAnswerForTheirColumns) {
  TableRecord table = PlainTable();
  test::AddTextIndex(&table, 4, "column7");
  test::AddTextIndex(&table, 9, "column2");
  Rows rows = RandomRows(14).Many(300);
  for (auto& [key, row] : rows) {
    for (OwnedCell& cell : row) cell.value.resize(std::min<size_t>(cell.value.size(), 500));
  }
  const WrittenFile written = Written(table, rows);
  BOOST_TEST(written.summary.indexes.size() == 2u);
  const auto file = Opened(written);
  BOOST_TEST(*file->Index(IndexId(5)) == nullptr);
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    const IndexRecord& index = table.indexes[i];
    uint64_t current = 0;
    std::vector<bool> present;
    ColumnTimes times{FamilyId(0), index.columns[0].qualifier, INT64_MAX, INT64_MIN};
    for (const auto& [key, row] : rows) {
      RowIndexFacts facts;
      FactsOfRow(index, key, test::Views(row), &facts);
      for (const IndexEntry& entry : facts.entries) current += entry.current;
      present.push_back(facts.present);
      for (const OwnedCell& cell : row) {
        if (cell.kind != CellKind::kPut || cell.qualifier != times.qualifier) continue;
        times.min_timestamp = std::min(times.min_timestamp, cell.timestamp);
        times.max_timestamp = std::max(times.max_timestamp, cell.timestamp);
      }
    }
    const auto section = file->Index(index.id);
    BOOST_TEST_REQUIRE(section.has_value(), section.status());
    BOOST_REQUIRE(*section != nullptr);
    BOOST_TEST((*section)->summary().current_entries == current);
    BOOST_TEST(written.summary.indexes[i].current_entries == current);
    const Bitmap* bits = *(*section)->Present();
    for (uint32_t row = 0; row < rows.size(); ++row) BOOST_TEST(bits->Test(row) == present[row]);
    const auto& all = file->statistics().column_times;
    BOOST_TEST((std::find(all.begin(), all.end(), times) != all.end()));
  }
}

BOOST_AUTO_TEST_CASE(ThreadsThatLoadAtOnceAgree) {
  const TableRecord table = PlainTable();
  const Rows rows = RandomRows(3).Many(300);
  const WrittenFile written = Written(table, rows);
  for (int round = 0; round < 20; ++round) {
    BlockCache cache(1 << 20);
    const auto file = Opened(written, &cache);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const std::string& key = rows.rbegin()->first;
        const uint64_t hash = RowHash(key, table.hash_secret);
        const auto found = file->FindByHash(key, hash);
        if (!found || !*found || (*found)->ordinal.value != rows.size() - 1) ++wrong;
        if (!*file->MayContain(hash) || !file->Family(FamilyId(0)) || !file->CleanRows()) ++wrong;
        if (*file->LowerBound(key) != rows.size() - 1) ++wrong;
      });
    }
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST(wrong == 0);
  }
}

BOOST_AUTO_TEST_CASE(ThreadsReadRightRowsWhileBlocksAreEvicted) {
  const Rows rows = RandomRows(5).Many(800);
  BlockCache cache(64 * 1024);
  const auto file = Opened(Written(PlainTable(1024), rows), &cache);
  const DataSection* data = *file->Carrier();
  const uint32_t blocks = data->block_count();
  BOOST_REQUIRE(data->LoadBlocks().ok());
  std::vector<OwnedRow> expected;
  for (const auto& [key, row] : rows) expected.push_back(row);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      RandomRows random(seed);
      std::vector<Cell> cells;
      for (int i = 0; i < 2000; ++i) {
        const uint32_t block = static_cast<uint32_t>(random.Below(blocks));
        const auto found = data->ReadRows(block);
        const uint32_t slot = static_cast<uint32_t>(random.Below((*found)->row_count()));
        cells.clear();
        const bool ok = (*found)->Cells(slot, Projection(data->names(), nullptr), &cells).ok();
        if (!ok || test::Owned(cells) != expected[(*found)->first() + slot]) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(wrong == 0);
}

// Blocks of one family, whose extents are small otherwise; wide rows and overflow values between.
BOOST_AUTO_TEST_CASE(AFileThatIsWrittenInParallelHasTheSameRows) {
  TableRecord table = PlainTable();
  test::AddTextIndex(&table, 4, "column7");
  test::AddTextIndex(&table, 9, "column2");
  RandomRows random(11);
  const Rows rows = random.Many(3000);
  test::SplitLoops loops;
  auto parallel = WriteRows(table, rows, &loops);
  BOOST_TEST_REQUIRE(parallel.has_value(), parallel.status());
  BOOST_TEST(loops.loops() > 2u);
  const auto file = Opened(*parallel);
  const auto read = ReadAllRows(file.get());
  BOOST_TEST_REQUIRE(read.has_value(), read.status());
  BOOST_TEST((*read == rows));
  const WrittenFile written = Written(table, rows);
  BOOST_TEST((parallel->bytes == written.bytes));
}

BOOST_AUTO_TEST_CASE(AFileIsOpenedFromTheEndsThatWereRead) {
  const std::string bytes = SmallFile();
  TableRecords tables;
  std::shared_ptr<StoreFile> other;
  // All of what an open reads, and the footer alone.
  for (const size_t last : {bytes.size(), kFooterBytes}) {
    uint64_t reads = 0;
    auto file =
        std::make_unique<test::CountingFile>(std::make_shared<test::MemoryFile>(bytes), &reads);
    const std::string copy = bytes;
    const FileEnds ends{.size_bytes = bytes.size(),
                        .first = copy,
                        .last = std::string_view(copy).substr(bytes.size() - last)};
    const auto store =
        StoreFile::Open(std::move(file), {}, nullptr, {.ends = &ends, .tables = &tables});
    BOOST_TEST_REQUIRE(store.has_value(), store.status());
    BOOST_TEST((reads == 0) == (last == bytes.size()));
    BOOST_TEST((*store)->row_count() == 9u);
    BOOST_TEST((*store)->region_start() == "from here");
    if (other != nullptr) BOOST_TEST((&other->table() == &(*store)->table()));
    other = *store;
    BOOST_TEST((ReadAllRows(store->get()).value() == RandomRows(7).Many(9)));
  }
}

// What was read may end early, or be another file's.
BOOST_AUTO_TEST_CASE(EndsThatDoNotFitAreRefused) {
  const std::string bytes = SmallFile();
  const auto open = [&](const FileEnds& ends) {
    return StoreFile::Open(std::make_unique<test::MemoryFile>(bytes), {}, nullptr, {.ends = &ends})
        .status()
        .code();
  };
  const std::string_view view = bytes;
  const FileEnds good{.size_bytes = bytes.size(), .first = view, .last = view};
  BOOST_TEST(open(good) == StatusCode::kOk);
  FileEnds ends = good;
  ends.first = view.substr(0, kFileHeaderBytes - 1);
  BOOST_TEST(open(ends) == StatusCode::kCorruption);
  ends = good;
  ends.last = view.substr(0, bytes.size() - 1);
  BOOST_TEST(open(ends) == StatusCode::kCorruption);
  ends = good;
  ends.last = view.substr(bytes.size() - kFooterBytes + 1);
  BOOST_TEST(open(ends) == StatusCode::kCorruption);
  ends = good;
  ends.size_bytes = bytes.size() + 1;
  BOOST_TEST(open(ends) == StatusCode::kCorruption);
  ends = {};
  BOOST_TEST(open(ends) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

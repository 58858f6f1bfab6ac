// What a merge leaves in the system's cache and in the cache of blocks.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compaction/merge.h"
#include "format/block/block_cache.h"
#include "format/row/data_section.h"
#include "store_file/scanner.h"
#include "test/support/paged_file.h"
#include "test/support/print.h"
#include "tools/simulation/memory_file.h"

namespace tandem::compaction {
namespace {

using test::PageCache;

constexpr uint64_t kRows = 12'000;  // Of each input, a kilobyte each.
constexpr uint64_t kMegabyte = 1 << 20;
constexpr uint64_t kPagesPerMegabyte = kMegabyte / PageCache::kPageBytes;

struct StoredFile {
  std::shared_ptr<PageCache> pages = std::make_shared<PageCache>();
  std::shared_ptr<test::MemoryFile> bytes = std::make_shared<test::MemoryFile>();
  std::shared_ptr<format::StoreFile> store;
};

struct MergePagesFixture : MergeOutput {
  explicit MergePagesFixture(size_t families = 1) {
    table->name = "t";
    for (size_t i = 0; i < families; ++i) {
      table->families.push_back({format::FamilyId(static_cast<uint32_t>(i)),
                                 {.name = "f" + std::to_string(i),
                                  .compression = Compression::kNone,
                                  .block_size_bytes = 8192}});
    }
    format::IndexRecord index;
    index.id = format::IndexId(1);
    index.name = "by_q";
    index.columns.push_back({format::FamilyId(0), "q", ColumnType::kBytes, false});
    table->indexes.push_back(index);
  }

  std::unique_ptr<base::File> Opened(const StoredFile& file) const {
    if (!is_paged) return std::make_unique<test::ForwardingFile>(file.bytes);
    auto paged = std::make_unique<test::PagedFile>(file.bytes, file.pages);
    paged->write_back_status = write_back_status;
    return paged;
  }
  std::unique_ptr<format::StoreFileWriter> NewWriter(const StoredFile& file) {
    format::StoreFileSpec spec;
    spec.number = format::FileNumber(++last_number);
    spec.table = table.get();
    spec.cache = &cache;
    return std::make_unique<format::StoreFileWriter>(Opened(file), spec);
  }
  // Opens it, with nothing of it in the system's cache.
  void Open(StoredFile* file) {
    auto store = format::StoreFile::Open(Opened(*file), {}, &cache);
    BOOST_REQUIRE(store.has_value());
    file->store = *std::move(store);
    file->pages->cached.clear();
    file->pages->cached_max = 0;
  }

  static std::string KeyOf(uint64_t row, size_t which) {
    return std::to_string(1'000'000 + row) + "-" + std::to_string(which);
  }
  void AddInput() {
    const size_t which = inputs.size();
    StoredFile& input = inputs.emplace_back();
    const auto input_writer = NewWriter(input);
    for (uint64_t row = 0; row < kRows; ++row) {
      const std::string value(1000 / table->families.size(), static_cast<char>('a' + which));
      std::vector<format::Cell> cells;
      for (const format::FamilyRecord& family : table->families) {
        format::Cell cell;
        cell.family = family.id;
        cell.qualifier = "q";
        cell.value = value;
        cell.sequence = format::SequenceNumber(1 + which);
        cells.push_back(cell);
      }
      BOOST_REQUIRE(input_writer->AddRow(KeyOf(row, which), cells).has_value());
    }
    BOOST_REQUIRE(input_writer->Finish().has_value());
    Open(&input);
  }

  Result<format::StoreFileWriter*> NextFile() override {
    writer = NewWriter(output);
    return writer.get();
  }
  Status Finished(const format::StoreFileSummary&) override { return {}; }

  void Merge() {
    const auto result = TryMerge();
    BOOST_REQUIRE_EQUAL(result.status().ToString(), "OK");
    BOOST_TEST(result->rows_out == kRows * inputs.size());
    output_pages = output.pages->cached;
  }
  Result<MergeResult> TryMerge() {
    std::vector<MergeInput> merged;
    for (const StoredFile& input : inputs) {
      merged.push_back({.file = input.store.get(), .low = 0, .high = input.store->row_count()});
    }
    MergeOptions options;
    options.table = table;
    options.window_bytes = kMegabyte;
    options.spares_page_cache = true;
    return MergeFiles(merged, options, this);
  }

  // The rows of the output of which the system's cache had the block, as [first, end) of numbers.
  std::pair<uint64_t, uint64_t> CachedRows(size_t which) {
    Open(&output);
    output.pages->cached = output_pages;
    format::RowStream rows(output.store.get(), 0, output.store->row_count());
    rows.SparePageCache();
    std::pair<uint64_t, uint64_t> found{kRows, 0};
    uint64_t number = 0;
    while (rows.Next().ok() && rows.valid()) {
      if (rows.key() != KeyOf(number, which)) continue;
      if (rows.was_cached()) {
        found.first = std::min(found.first, number);
        found.second = number + 1;
      }
      ++number;
    }
    return found;
  }

  bool is_paged = true;
  Status write_back_status;
  base::MemoryAccount account;
  format::BlockCache cache{64 << 20, &account};
  std::shared_ptr<format::TableRecord> table = std::make_shared<format::TableRecord>();
  std::vector<StoredFile> inputs;
  StoredFile output;
  std::vector<bool> output_pages;
  std::unique_ptr<format::StoreFileWriter> writer;
  uint64_t last_number = 0;
};

BOOST_FIXTURE_TEST_SUITE(MergePagesSuite, MergePagesFixture)

BOOST_AUTO_TEST_CASE(WhatWasNotCachedIsNotAfterwards) {
  AddInput();
  AddInput();
  Merge();
  for (const StoredFile& input : inputs) {
    BOOST_TEST(input.pages->count() == 0u);
    // Indexes are read at the end, and go then.
    BOOST_TEST(input.pages->cached_max < 4 * kPagesPerMegabyte);
  }
  // The ends of the file, which an open reads.
  BOOST_TEST(output.pages->count() < kPagesPerMegabyte / 4);
  BOOST_TEST(output.pages->cached_max < 20 * kPagesPerMegabyte);
}

BOOST_AUTO_TEST_CASE(WhatReadersHaveStays) {
  AddInput();
  AddInput();
  inputs[0].pages->Bring(3 * kMegabyte, 4 * kMegabyte);
  inputs[0].pages->Bring(9 * kMegabyte + 12345, 9 * kMegabyte + 12346);
  const std::vector<bool> before = inputs[0].pages->cached;
  Merge();
  std::vector<bool> after = inputs[0].pages->cached;
  after.resize(before.size());
  BOOST_TEST(after == before);
  BOOST_TEST(inputs[0].pages->count() == kPagesPerMegabyte + 1);
  BOOST_TEST(inputs[1].pages->count() == 0u);
}

BOOST_AUTO_TEST_CASE(RowsThatWereCachedAreInTheOutput) {
  AddInput();
  AddInput();
  inputs[1].pages->Bring(3 * kMegabyte, 4 * kMegabyte);
  Merge();
  // Rows of both inputs, which lie between each other; and filters and hashes, once rows stay.
  BOOST_TEST(output_pages.size() > 20 * kPagesPerMegabyte);
  BOOST_TEST(output.pages->count() > kPagesPerMegabyte * 19 / 10);
  BOOST_TEST(output.pages->count() < kPagesPerMegabyte * 26 / 10);
  const auto [first, end] = CachedRows(1);
  const uint64_t row_bytes = inputs[1].store->size_bytes() / kRows;
  BOOST_TEST(first * row_bytes > 28 * kMegabyte / 10);
  BOOST_TEST(first * row_bytes < 32 * kMegabyte / 10);
  BOOST_TEST(end * row_bytes > 38 * kMegabyte / 10);
  BOOST_TEST(end * row_bytes < 42 * kMegabyte / 10);
}

BOOST_AUTO_TEST_CASE(AllStaysOfWhatWasCached) {
  AddInput();
  AddInput();
  for (StoredFile& input : inputs) input.pages->Bring(0, input.store->size_bytes());
  Merge();
  for (const StoredFile& input : inputs) {
    BOOST_TEST(input.pages->count() == input.pages->cached.size());
  }
  BOOST_TEST(output.pages->count() == output.pages->cached.size());
}

BOOST_AUTO_TEST_CASE(NothingGoesWhereNothingIsKnown) {
  is_paged = false;
  AddInput();
  AddInput();
  Merge();
  is_paged = true;
  Open(&output);
}

BOOST_AUTO_TEST_CASE(WhatCannotBeWrittenBackFailsTheMerge) {
  AddInput();
  AddInput();
  write_back_status = Status::IoError("injected");
  BOOST_TEST((TryMerge().status().code() == StatusCode::kIoError));
}

BOOST_AUTO_TEST_CASE(TheCacheOfBlocksStaysAsItIs) {
  AddInput();
  AddInput();
  const format::DataSection& data = **inputs[0].store->Carrier();
  BOOST_REQUIRE(data.LoadBlocks().ok());
  for (uint32_t block = 10; block < 20; ++block) BOOST_REQUIRE(data.ReadRows(block).has_value());
  const size_t before = cache.size_bytes();
  BOOST_TEST(before > 10 * 8000u);
  Merge();
  BOOST_TEST(cache.size_bytes() == before);
  for (uint32_t block = 10; block < 20; ++block) {
    BOOST_TEST((inputs[0].store->blocks().Cached(data.BlockAt(block)->handle) != nullptr));
  }
}

BOOST_AUTO_TEST_SUITE_END()

struct ManyFamiliesFixture : MergePagesFixture {
  ManyFamiliesFixture() : MergePagesFixture(3) {}
};

BOOST_FIXTURE_TEST_CASE(FamiliesLieSideBySide, ManyFamiliesFixture) {
  AddInput();
  AddInput();
  inputs[0].pages->Bring(3 * kMegabyte, 4 * kMegabyte);
  const std::vector<bool> before = inputs[0].pages->cached;
  Merge();
  BOOST_TEST(inputs[0].pages->count() == kPagesPerMegabyte);
  BOOST_TEST(inputs[1].pages->count() == 0u);
  BOOST_TEST(inputs[1].pages->cached_max < 9 * kPagesPerMegabyte);
  // An extent of a family is a megabyte or so, and stays if a row in it does.
  BOOST_TEST(output.pages->count() > 2 * kPagesPerMegabyte);
  BOOST_TEST(output.pages->count() < 11 * kPagesPerMegabyte);
}

}  // namespace
}  // namespace tandem::compaction

// A store file whose block index and filter do not fit in memory: every search and every reader
// gives what one gives of a file that keeps both.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <random>
#include <thread>

#include "format/block/section_table.h"
#include "format/hash.h"
#include "format/row/block_places.h"
#include "test/store_file/store_files.h"
#include "test/support/forwarding_file.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using base::MemoryPart;
using test::OpenBytes;
using test::PlainTable;
using test::RandomRows;
using test::Rows;

// Counts the reads of a file.
class CountedFile final : public test::ForwardingFile {
 public:
  CountedFile(std::string bytes, std::atomic<uint64_t>* reads)
      : ForwardingFile(std::make_unique<test::MemoryFile>(std::move(bytes))), reads_(reads) {}
  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    ++*reads_;
    return ForwardingFile::Read(offset, buffer);
  }

 private:
  std::atomic<uint64_t>* reads_;
};

// Rows in more than 400 blocks, so that the index has pieces; beside a cache of which block
// indexes, filters and key hashes have their shares already.
struct LittleMemoryFixture {
  static constexpr uint64_t kBudget = 1 << 20;

  LittleMemoryFixture()
      : cache(kBudget, &account),
        indexes(&account, MemoryPart::kBlockIndexes, kBudget / 4),
        hashes(&account, MemoryPart::kKeyHashes, kBudget / 4),
        bytes(test::WriteRows(PlainTable(512), rows)->bytes),
        kept(*OpenBytes(bytes)) {
    little = Open(bytes);
    data = *little->Carrier();
    BOOST_TEST_REQUIRE(data->index().piece_count() > 3u);
    for (const auto& [key, row] : rows) keys.push_back(key);
  }

  std::shared_ptr<StoreFile> Open(const std::string& contents) {
    auto file = std::make_unique<CountedFile>(contents, &reads);
    return *StoreFile::Open(std::move(file), {}, &cache);
  }
  uint64_t HashOf(std::string_view key) const { return RowHash(key, little->table().hash_secret); }
  // Searches for rows that are there and for rows that are not.
  int CountWrong(uint64_t seed) {
    std::mt19937_64 random(seed);
    int wrong = 0;
    for (int i = 0; i < 1000; ++i) {
      std::string key = keys[random() % keys.size()];
      if (i % 3 == 0) key += "x";
      const uint64_t hash = HashOf(key);
      const auto found = *little->FindByHash(key, hash), expected = *kept->FindByHash(key, hash);
      const bool is_equal = found.has_value() == expected.has_value() &&
                            (!found.has_value() || found->ordinal == expected->ordinal);
      if (!is_equal || *little->LowerBound(key) != *kept->LowerBound(key)) ++wrong;
      if (!*little->MayContain(hash)) ++wrong;
      std::vector<uint32_t> ordinals, others;
      const HashedKey hashed{key, hash};
      if (!little->FindEachByHash({&hashed, 1}, &ordinals).ok()) ++wrong;
      if (!kept->FindEachByHash({&hashed, 1}, &others).ok() || ordinals != others) ++wrong;
    }
    return wrong;
  }
  bool HasNoPiece() const {
    for (uint32_t piece = 0; piece < data->index().piece_count(); ++piece) {
      if (data->index().HasPiece(piece)) return false;
    }
    return true;
  }

  base::MemoryAccount account;
  BlockCache cache;
  base::MemoryCharge indexes, hashes;
  const Rows rows = RandomRows(5).Many(6000);
  const std::string bytes;
  std::atomic<uint64_t> reads = 0;
  std::shared_ptr<StoreFile> kept, little;
  const DataSection* data = nullptr;
  std::vector<std::string> keys;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(LittleMemoryTest, LittleMemoryFixture)

BOOST_AUTO_TEST_CASE(SearchesFindTheSame) {
  BOOST_TEST(CountWrong(1) == 0);
  BOOST_TEST(HasNoPiece());
  BOOST_TEST(*little->Filter() == nullptr);
  BOOST_TEST(account.bytes(MemoryPart::kFilters) == 0u);
  BOOST_TEST(account.bytes(MemoryPart::kBlockIndexes) >= kBudget / 4);
  BOOST_TEST(account.bytes(MemoryPart::kBlockIndexes) < kBudget / 4 + kBudget / 64);
  cache.EraseFile(little->number());
  BOOST_TEST(CountWrong(2) == 0);
}

BOOST_AUTO_TEST_CASE(SearchesOfThreadsFindTheSame) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] { wrong += CountWrong(thread); });
  }
  for (int i = 0; i < 50; ++i) {
    cache.EraseFile(little->number());
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(TheFilterIsLoadedOnceItFits) {
  BOOST_TEST(*little->MayContain(HashOf("no row")));
  indexes.Set(0);
  BOOST_TEST((*little->Filter() != nullptr));
  int passed = 0;
  for (int i = 0; i < 100; ++i) {
    passed += *little->MayContain(HashOf("no row " + std::to_string(i))) ? 1 : 0;
  }
  BOOST_TEST(passed < 20);
  indexes.Set(kBudget / 4);
  BOOST_TEST((*little->Filter() != nullptr));
}

// A row block is read once, whatever of the index is in memory.
BOOST_AUTO_TEST_CASE(RowBlocksAreFoundInTheCache) {
  const DataBlock place = *data->BlockAt(200);
  BOOST_TEST((data->CachedRows(place) == nullptr));
  const RowBlockRef rows = *data->ReadRows(200);
  BOOST_TEST((data->RememberedRows(200) == nullptr));
  BOOST_TEST((data->CachedRows(place) == rows));
  BOOST_TEST((*data->ReadRows(200) == rows));
  data->PrefetchRows(200);
  data->PrefetchSlot(200, place.count, 0);
  const uint64_t before = reads;
  const BlockHandle& handle = place.handle;
  const auto stored = std::string_view(bytes).substr(handle.offset, handle.stored_bytes);
  BOOST_TEST((*data->AdmitRows(place, stored) == rows));
  BOOST_TEST(reads == before);
}

BOOST_AUTO_TEST_CASE(ReadersFromFrontToBackLeaveTheCacheAsItIs) {
  const DataSection& expected = **kept->Carrier();
  const size_t cached = cache.size_bytes();
  const uint64_t before = reads;
  BlockPlaces places(*data);
  for (uint32_t block = 0; block < data->block_count(); ++block) {
    const auto place = places.MoveTo(block);
    BOOST_TEST_REQUIRE(place.has_value(), place.status());
    BOOST_TEST_REQUIRE((place->handle == expected.BlockAt(block)->handle));
    const uint32_t later = std::min(block + 150, data->block_count() - 1);
    BOOST_TEST_REQUIRE((places.At(later)->handle == expected.BlockAt(later)->handle));
    BOOST_TEST_REQUIRE(account.bytes(MemoryPart::kFileWindows) > 0u);
  }
  const SectionEntry* index = FindSection(kept->sections(), SectionKind::kBlockIndex, 0);
  BOOST_TEST(reads <= before + index->size_bytes / (48 << 10) + 1);  // 64 KiB with each.
  test::TestRandom random("LittleMemoryTest/ReadersFromFrontToBackLeaveTheCacheAsItIs");
  for (int i = 0; i < 200; ++i) {
    const auto position = static_cast<uint32_t>(random.Below(data->row_count()));
    const DataBlock place = *places.MoveToPosition(position);
    BOOST_TEST_REQUIRE(place.number == *expected.BlockOf(position));
  }
  BOOST_TEST(HasNoPiece());
  BOOST_TEST(cache.size_bytes() == cached);
}

BOOST_AUTO_TEST_CASE(StreamsOfRowsAreTheSame) {
  BOOST_TEST((*test::ReadAllRows(little.get()) == rows));
  BOOST_TEST(HasNoPiece());
  BOOST_TEST(account.bytes(MemoryPart::kFileWindows) == 0u);
  RowStream some(little.get(), 700, 710);
  for (uint32_t row = 700; row < 710; ++row) {
    BOOST_TEST_REQUIRE(some.Next().ok());
    BOOST_TEST(some.key() == keys[row]);
  }
}

// The index is then read whole, and no more of it is kept.
BOOST_AUTO_TEST_CASE(ABrokenTopChangesNothing) {
  std::string bad = bytes;
  const SectionEntry* top = FindSection(kept->sections(), SectionKind::kBlockIndexTop, 0);
  BOOST_TEST_REQUIRE((top != nullptr));
  bad[top->offset + 40] = static_cast<char>(bad[top->offset + 40] ^ 1);
  little = Open(bad);
  int told = 0;
  little->GoOnWithout([&](const StoreFile&, const BrokenSection&) { ++told; });
  data = *little->Carrier();
  BOOST_TEST(told == 1);
  BOOST_TEST(CountWrong(3) == 0);
  BOOST_TEST(HasNoPiece());
}

// A filter that is broken is found so when it is loaded, and then made of the rows.
BOOST_AUTO_TEST_CASE(ABrokenFilterIsMadeOnceItFits) {
  std::string bad = bytes;
  const SectionEntry* filter = FindSection(kept->sections(), SectionKind::kFilter);
  bad[filter->offset + 40] = static_cast<char>(bad[filter->offset + 40] ^ 1);
  little = Open(bad);
  int told = 0;
  little->GoOnWithout([&](const StoreFile&, const BrokenSection&) { ++told; });
  BOOST_TEST(*little->MayContain(HashOf("no row")));
  BOOST_TEST(told == 0);
  indexes.Set(0);
  for (const std::string& key : keys) BOOST_TEST_REQUIRE(*little->MayContain(HashOf(key)));
  BOOST_TEST(told == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format

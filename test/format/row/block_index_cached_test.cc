// A block index whose pieces do not fit in memory: it says what one says that keeps its pieces,
// whatever the block cache holds of it, and readers that go past the cache leave that as it is.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <random>
#include <thread>

#include "test/format/row/written_index.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::IndexSpan;
using test::LoadIndex;
using test::OpenedIndex;
using test::OpenIndex;
using test::RandomSpans;
using test::WriteIndex;
using test::WrittenIndex;

// A cache beside which block indexes have their share already.
struct FullCache {
  explicit FullCache(uint64_t budget_bytes)
      : cache(budget_bytes, &account),
        share(&account, base::MemoryPart::kBlockIndexes, budget_bytes / 4) {}

  base::MemoryAccount account;
  BlockCache cache;
  base::MemoryCharge share;
};

OpenedIndex Opened(const WrittenIndex& written, bool whole, BlockCache* cache) {
  auto index = OpenIndex(written, whole, cache);
  BOOST_TEST_REQUIRE(index.has_value(), index.status());
  return *std::move(index);
}

bool AreEqual(const DataBlock& a, const DataBlock& b) {
  return a.handle == b.handle && a.first == b.first && a.count == b.count && a.number == b.number;
}

// One random search of each kind. Returns how many differ.
class Searches {
 public:
  Searches(const std::vector<IndexSpan>& spans, uint32_t rows, uint64_t seed)
      : spans_(spans), rows_(rows), random_(seed) {}

  int CountDifferences(const BlockIndex& kept, const BlockIndex& other) {
    const uint32_t hint = Below(kept.size()), position = Below(rows_);
    const IndexSpan& span = spans_[Below(kept.size())];
    std::string key = Below(2) == 0 ? span.first_key : span.last_key;
    if (Below(3) == 0) key.push_back('m');
    const uint32_t end = hint + Below(kept.size() - hint) + 1;
    std::string expected, found;
    const bool have_separators =
        kept.Separator(hint, &expected).ok() && other.Separator(hint, &found).ok();
    return (*other.Find(key) == *kept.Find(key) ? 0 : 1) +
           (*other.Find(key, hint) == *kept.Find(key, hint) ? 0 : 1) +
           (*other.BlockOf(position, hint) == *kept.BlockOf(position, hint) ? 0 : 1) +
           (*other.DataBytes(hint, end) == *kept.DataBytes(hint, end) ? 0 : 1) +
           (AreEqual(*other.At(hint), *kept.At(hint)) ? 0 : 1) +
           (have_separators && expected == found ? 0 : 1);
  }

 private:
  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }

  const std::vector<IndexSpan>& spans_;
  const uint32_t rows_;
  std::mt19937_64 random_;
};

BOOST_AUTO_TEST_SUITE(BlockIndexCachedTest)

// The largest cache holds all pieces, the one before it a few.
BOOST_AUTO_TEST_CASE(SearchesAreThoseOfAnIndexThatKeepsItsPieces) {
  const auto spans = RandomSpans(3000, "tenant/", 11);
  const WrittenIndex written = WriteIndex(spans);
  const auto kept = LoadIndex(written);
  BOOST_TEST_REQUIRE(kept.has_value(), kept.status());
  for (const bool whole : {false, true}) {
    for (const uint64_t budget : {0u, 32u << 10, 200u << 10, 8u << 20}) {
      FullCache full(budget);
      const OpenedIndex index = Opened(written, whole, &full.cache);
      Searches searches(spans, written.rows, budget + 1);
      int wrong = 0;
      for (int i = 0; i < 3000; ++i) {
        wrong += searches.CountDifferences((*kept).index, index.index);
      }
      BOOST_TEST(wrong == 0);
      for (uint32_t piece = 0; piece < index->piece_count(); ++piece) {
        BOOST_TEST(!index->HasPiece(piece));
      }
      BOOST_TEST((full.cache.size_bytes() > 0) == (budget > (32 << 10)));
      BOOST_TEST(full.account.bytes(base::MemoryPart::kBlockIndexes) == budget / 4);
    }
  }
}

BOOST_AUTO_TEST_CASE(ThreadsThatSearchAtOnceFindTheSame) {
  const auto spans = RandomSpans(2000, "", 6);
  const WrittenIndex written = WriteIndex(spans);
  const auto kept = LoadIndex(written);
  BOOST_TEST_REQUIRE(kept.has_value(), kept.status());
  constexpr uint64_t kBudget = 200 << 10;
  FullCache full(kBudget);
  const OpenedIndex index = Opened(written, false, &full.cache);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Searches searches(spans, written.rows, thread);
      for (int i = 0; i < 2000; ++i) {
        wrong += searches.CountDifferences((*kept).index, index.index);
      }
    });
  }
  // Meanwhile room comes and goes: some pieces are kept.
  for (int i = 0; i < 200; ++i) {
    full.share.Set(i % 2 == 0 ? 0 : kBudget / 4);
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(APieceIsKeptOnceThereIsRoom) {
  const auto spans = RandomSpans(1000, "", 5);
  const WrittenIndex written = WriteIndex(spans);
  FullCache full(4 << 20);
  const OpenedIndex index = Opened(written, false, &full.cache);
  BOOST_TEST(*index->Find(spans[300].first_key) == 300u);
  BOOST_TEST(!index->HasPiece(2));
  BOOST_TEST((index->CachedPiece(2) != nullptr));
  BOOST_TEST((index->SlotOf(300) == nullptr));
  full.share.Set(0);
  BOOST_TEST(*index->Find(spans[300].first_key) == 300u);
  BOOST_TEST(index->HasPiece(2));
  BOOST_TEST((index->SlotOf(300) != nullptr));
  BOOST_TEST(full.account.bytes(base::MemoryPart::kBlockIndexes) > 0u);
}

// What is pinned outlives its place in the cache.
BOOST_AUTO_TEST_CASE(APinnedPieceLivesOn) {
  const auto spans = RandomSpans(1000, "", 5);
  const WrittenIndex written = WriteIndex(spans);
  FullCache full(4 << 20);
  const OpenedIndex index = Opened(written, false, &full.cache);
  const DataBlock expected = *index->At(300);
  const IndexPieceRef pinned = index->CachedPiece(2);
  BOOST_TEST_REQUIRE((pinned != nullptr));
  full.cache.EraseFile(FileNumber(1));
  BOOST_TEST((index->CachedPiece(2) == nullptr));
  BOOST_TEST(AreEqual(pinned->At(300), expected));
}

BOOST_AUTO_TEST_CASE(LoadingReadsOnlyWhatFits) {
  const WrittenIndex written = WriteIndex(RandomSpans(3000, "", 5));
  constexpr uint64_t kMost = 3 << 18;  // Of 4 MiB; filters have the rest of their quarter.
  FullCache full(4 << 20);
  full.share.Set(kMost - 40'000);
  const OpenedIndex index = Opened(written, false, &full.cache);
  BOOST_TEST(index->LoadBlocks(0, index->size()).ok());
  BOOST_TEST(index->HasPiece(0));
  BOOST_TEST(!index->HasPiece(index->piece_count() - 1));
  BOOST_TEST(full.account.bytes(base::MemoryPart::kBlockIndexes) <= kMost);
}

BOOST_AUTO_TEST_CASE(ABadPieceIsReportedEachTimeAndIsNotCached) {
  const auto spans = RandomSpans(300, "", 5);
  WrittenIndex written = WriteIndex(spans);
  FullCache full(4 << 20);
  char& byte = written.bytes[written.index.offset + 100];
  byte = static_cast<char>(byte ^ 1);
  const OpenedIndex index = Opened(written, false, &full.cache);
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(index->Find(spans[7].first_key).status().code() == StatusCode::kCorruption);
    BOOST_TEST(index->At(7).status().code() == StatusCode::kCorruption);
    BOOST_TEST(index->BlockOf(0, 0).status().code() == StatusCode::kCorruption);
    std::string separator;
    BOOST_TEST(index->Separator(7, &separator).code() == StatusCode::kCorruption);
    BOOST_TEST(index->DataBytes(0, 7).status().code() == StatusCode::kCorruption);
  }
  BOOST_TEST(full.cache.size_bytes() == 0u);
  BOOST_TEST(*index->Find(spans[200].first_key) == 200u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

// The block cache: what it finds, what it forgets, and that it keeps its budget.
#include "format/block/block_cache.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace tandem::format {
namespace {

BlockRef BlockOf(uint32_t size, uint32_t mark) {
  auto block = std::make_shared<Block>();
  block->kind = BlockKind::kRows;
  block->raw_bytes = size;
  block->first = mark;
  block->data = base::AllocateInHeap(size);
  return block;
}

BOOST_AUTO_TEST_SUITE(BlockCacheTest)

BOOST_AUTO_TEST_CASE(FindsWhatWasInserted) {
  BlockCache cache(1 << 20);
  BOOST_TEST(cache.Find(FileNumber(1), 128) == nullptr);
  const BlockRef block = BlockOf(100, 1);
  BOOST_TEST(cache.Insert(FileNumber(1), 128, block) == block);
  BOOST_TEST(cache.Find(FileNumber(1), 128) == block);
  BOOST_TEST(cache.Find(FileNumber(2), 128) == nullptr);
  BOOST_TEST(cache.Find(FileNumber(1), 136) == nullptr);
}

BOOST_AUTO_TEST_CASE(TheFirstOfTwoEqualInsertsStays) {
  BlockCache cache(1 << 20);
  const BlockRef block = cache.Insert(FileNumber(1), 128, BlockOf(100, 1));
  BOOST_TEST(cache.Insert(FileNumber(1), 128, BlockOf(100, 2)) == block);
}

BOOST_AUTO_TEST_CASE(BudgetIsHeldAndContentsAreRight) {
  constexpr size_t kBudget = 256 * 1024;
  BlockCache cache(kBudget);
  std::mt19937 random(7);
  size_t hits = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t file = random() % 3;
    const uint64_t offset = (random() % 400) * 8;
    const uint32_t mark = static_cast<uint32_t>(file * 10000 + offset);
    const BlockRef found = cache.Find(FileNumber(file), offset);
    if (found != nullptr) {
      ++hits;
      BOOST_TEST(found->first == mark);
    } else {
      cache.Insert(FileNumber(file), offset, BlockOf(100 + random() % 3000, mark));
    }
    BOOST_TEST(cache.size_bytes() <= kBudget);
  }
  BOOST_TEST(cache.size_bytes() > kBudget / 2);
  BOOST_TEST(hits > 100u);
}

BOOST_AUTO_TEST_CASE(ABlockLargerThanItsShareStaysOutside) {
  BlockCache cache(64 * 1024);
  const BlockRef large = BlockOf(8 * 1024, 1);
  BOOST_TEST(cache.Insert(FileNumber(1), 8, large) == large);
  BOOST_TEST(cache.Find(FileNumber(1), 8) == nullptr);
  BOOST_TEST(cache.size_bytes() == 0u);
  BlockCache none(0);
  none.Insert(FileNumber(1), 8, BlockOf(1, 1));
  BOOST_TEST(none.size_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(AnErasedFileIsForgottenAndOthersStay) {
  BlockCache cache(1 << 20);
  for (uint64_t offset = 0; offset < 800; offset += 8) {
    cache.Insert(FileNumber(1), offset, BlockOf(10, 1));
    cache.Insert(FileNumber(2), offset, BlockOf(10, 2));
  }
  const size_t before = cache.size_bytes();
  cache.EraseFile(FileNumber(1));
  BOOST_TEST(cache.size_bytes() == before / 2);
  for (uint64_t offset = 0; offset < 800; offset += 8) {
    BOOST_TEST(cache.Find(FileNumber(1), offset) == nullptr);
    BOOST_TEST(cache.Find(FileNumber(2), offset) != nullptr);
  }
  cache.EraseFile(FileNumber(2));
  BOOST_TEST(cache.size_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(RecentlyUsedBlocksOutliveOthers) {
  BlockCache cache(512 * 1024);
  const auto use = [&] { return cache.Find(FileNumber(1), 0) != nullptr; };
  cache.Insert(FileNumber(1), 0, BlockOf(1000, 0));
  size_t lost = 0;
  for (uint64_t i = 1; i < 5000; ++i) {
    cache.Insert(FileNumber(2), i * 8, BlockOf(1000, 1));
    if (!use()) ++lost;
  }
  BOOST_TEST(lost == 0u);
}

BOOST_AUTO_TEST_CASE(PinnedBlocksOutliveTheCache) {
  BlockRef pinned;
  {
    BlockCache cache(1 << 20);
    pinned = cache.Insert(FileNumber(1), 0, BlockOf(1000, 5));
  }
  BOOST_TEST(pinned->first == 5u);
}

BOOST_AUTO_TEST_CASE(ThreadsSeeOnlyRightBlocks) {
  BlockCache cache(64 * 1024);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 5000; ++i) {
        const uint64_t offset = (random() % 200) * 8;
        BlockRef block = cache.Find(FileNumber(1), offset);
        if (block == nullptr) {
          block = cache.Insert(FileNumber(1), offset, BlockOf(500, static_cast<uint32_t>(offset)));
        }
        if (block->first != offset) ++wrong;
        if (i % 1000 == 0) cache.EraseFile(FileNumber(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(wrong == 0);
}

// Sixteen shards, each of which may be above for the block that is being put in.
BOOST_AUTO_TEST_CASE(BudgetIsHeldUnderConcurrentInserts) {
  constexpr size_t kBudget = 1 << 20;
  constexpr uint32_t kBlockBytes = 8 << 10;
  constexpr size_t kShards = 16;
  base::MemoryAccount account;
  BlockCache cache(kBudget, &account);
  std::atomic<bool> done{false};
  std::atomic<size_t> largest{0};
  const auto look = [&] {
    const size_t now =
        std::max<size_t>(cache.size_bytes(), account.bytes(base::MemoryPart::kBlockCache));
    size_t known = largest.load(std::memory_order_relaxed);
    while (now > known && !largest.compare_exchange_weak(known, now)) continue;
  };
  std::thread watcher([&] {
    while (!done.load(std::memory_order_acquire)) look();
  });
  std::vector<std::thread> writers;
  for (uint64_t writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&cache, &look, writer] {
      std::mt19937_64 random(writer);
      for (int i = 0; i < 4000; ++i) {
        const uint64_t offset = (random() % 2000) * 8;
        const FileNumber file(random() % 4);
        if (cache.Find(file, offset) == nullptr) {
          cache.Insert(file, offset, BlockOf(static_cast<uint32_t>(random() % kBlockBytes), 1));
        }
        // The watcher may not run just when much is there.
        if (i % 1000 == 999) {
          look();
          cache.EraseFile(file);
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done.store(true, std::memory_order_release);
  watcher.join();
  BOOST_TEST(largest.load() <= kBudget + kShards * kBlockBytes);
  BOOST_TEST(largest.load() > kBudget / 2);
  BOOST_TEST(cache.size_bytes() == account.bytes(base::MemoryPart::kBlockCache));
}

// Blocks that are used again and again stay while a stream of others, each used once, passes.
BOOST_AUTO_TEST_CASE(HotBlocksStayWhileOthersPass) {
  constexpr uint32_t kBlockBytes = 4 << 10;
  constexpr uint64_t kHot = 100, kPassing = 20'000;
  BlockCache cache(2 << 20);
  size_t hits = 0, finds = 0;
  const auto use = [&](uint64_t which) {
    ++finds;
    if (cache.Find(FileNumber(1), which * 8) != nullptr) {
      ++hits;
    } else {
      cache.Insert(FileNumber(1), which * 8, BlockOf(kBlockBytes, 1));
    }
  };
  for (uint64_t hot = 0; hot < kHot; ++hot) use(hot);
  finds = 0;
  for (uint64_t passing = 0; passing < kPassing; ++passing) {
    cache.Insert(FileNumber(2), passing * 8, BlockOf(kBlockBytes, 2));
    use(passing % kHot);
  }
  BOOST_TEST(hits > finds * 99 / 100);
}

// Goes once over `count` blocks of `file`; the share of them that is found.
double WalkOnce(BlockCache* cache, uint64_t file, uint64_t count) {
  uint64_t hits = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (cache->Find(FileNumber(file), i * 8) != nullptr) {
      ++hits;
    } else {
      cache->Insert(FileNumber(file), i * 8, BlockOf(4000, 1));
    }
  }
  return static_cast<double>(hits) / static_cast<double>(count);
}

// Least recently used would find none of them.
BOOST_AUTO_TEST_CASE(WalksOverMoreThanFitsFindMostOfWhatFits) {
  BlockCache cache(4 << 20);
  constexpr uint64_t kBlocks = 1200;  // The budget holds about 970.
  for (int walk = 0; walk < 5; ++walk) WalkOnce(&cache, 1, kBlocks);
  double least = 1;
  for (int walk = 0; walk < 40; ++walk) least = std::min(least, WalkOnce(&cache, 1, kBlocks));
  BOOST_TEST(least > 0.5);
}

BOOST_AUTO_TEST_CASE(WhatIsUsedNowReplacesWhatWasUsedOften) {
  BlockCache cache(4 << 20);
  for (int walk = 0; walk < 20; ++walk) WalkOnce(&cache, 1, 800);
  for (int walk = 0; walk < 8; ++walk) WalkOnce(&cache, 2, 800);
  BOOST_TEST(WalkOnce(&cache, 2, 800) > 0.95);
}

// What is read only once leaves alone what is used again.
BOOST_AUTO_TEST_CASE(ASingleLongWalkChangesLittle) {
  BlockCache cache(4 << 20);
  for (int walk = 0; walk < 5; ++walk) WalkOnce(&cache, 1, 800);
  WalkOnce(&cache, 2, 1500);
  BOOST_TEST(WalkOnce(&cache, 1, 800) > 0.8);
}

BOOST_AUTO_TEST_CASE(TheBudgetShrinksByWhatOthersHold) {
  constexpr size_t kBudget = 1 << 20;
  base::MemoryAccount account;
  BlockCache cache(kBudget, &account);
  const auto fill = [&cache] {
    for (uint64_t i = 0; i < 1000; ++i) cache.Insert(FileNumber(1), i * 8, BlockOf(4096, 1));
  };
  fill();
  BOOST_TEST(cache.size_bytes() > kBudget * 3 / 4);
  {
    base::MemoryCharge hashes(&account, base::MemoryPart::kKeyHashes, kBudget / 2);
    const base::MemoryCharge memstores(&account, base::MemoryPart::kMemstores, 10 * kBudget);
    BOOST_TEST(cache.budget_bytes() == kBudget / 2);
    cache.Shrink();
    BOOST_TEST(cache.size_bytes() <= kBudget / 2);
    hashes.Set(100 * kBudget);
    BOOST_TEST(cache.budget_bytes() == kBudget / 8);
    fill();
    BOOST_TEST(cache.size_bytes() <= kBudget / 8);
    BOOST_TEST(cache.size_bytes() > 0u);
  }
  BOOST_TEST(cache.budget_bytes() == kBudget);
  BOOST_TEST(account.bytes(base::MemoryPart::kBlockCache) == cache.size_bytes());
}

BOOST_AUTO_TEST_CASE(EachPartThatIsKeptHasItsShare) {
  using base::MemoryPart;
  constexpr uint64_t kBudget = 16 << 20, kMost = kBudget / 4;
  base::MemoryAccount account;
  const BlockCache cache(kBudget, &account);
  base::MemoryCharge indexes(&account, MemoryPart::kBlockIndexes);
  base::MemoryCharge filters(&account, MemoryPart::kFilters);
  base::MemoryCharge hashes(&account, MemoryPart::kKeyHashes);
  BOOST_TEST(cache.Fits(MemoryPart::kFilters, kMost));
  BOOST_TEST(!cache.Fits(MemoryPart::kFilters, kMost + 1));
  // Block indexes leave a quarter to filters.
  BOOST_TEST(cache.Fits(MemoryPart::kBlockIndexes, kMost / 4 * 3));
  BOOST_TEST(!cache.Fits(MemoryPart::kBlockIndexes, kMost / 4 * 3 + 1));
  indexes.Set(kMost / 2);
  BOOST_TEST(cache.Fits(MemoryPart::kFilters, kMost / 2));
  BOOST_TEST(!cache.Fits(MemoryPart::kFilters, kMost / 2 + 1));
  filters.Set(kMost / 2);
  BOOST_TEST(!cache.Fits(MemoryPart::kBlockIndexes, 1));
  // Key hashes fit whatever these take, and the other way round.
  BOOST_TEST(cache.Fits(MemoryPart::kKeyHashes, kMost));
  BOOST_TEST(!cache.Fits(MemoryPart::kKeyHashes, kMost + 1));
  hashes.Set(kMost);
  BOOST_TEST(!cache.Fits(MemoryPart::kKeyHashes, 1));
  filters.Set(0);
  BOOST_TEST(cache.Fits(MemoryPart::kBlockIndexes, kMost / 4));
  BOOST_TEST(cache.Fits(MemoryPart::kBitmaps, 100 * kBudget));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

// Pieces keep their bytes and do not overlap, and memory follows what is in use.
#include "base/block_pool.h"
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "test/support/test_random.h"

namespace tandem::base {
namespace {

constexpr size_t kChunkBytes = 2 << 20;

struct Piece {
  BlockMemory memory;
  size_t size_bytes = 0;
  char filled_with = 0;

  bool IsIntact() const {
    return std::all_of(memory.get(), memory.get() + size_bytes,
                       [&](char byte) { return byte == filled_with; });
  }
};

Piece NewPiece(BlockPool* pool, size_t size_bytes, char fill) {
  Piece piece{pool->Allocate(size_bytes), size_bytes, fill};
  std::memset(piece.memory.get(), fill, size_bytes);
  return piece;
}

BOOST_AUTO_TEST_SUITE(BlockPoolTest)

BOOST_AUTO_TEST_CASE(PiecesOfAllSizesKeepTheirBytes) {
  test::TestRandom random("block pool");
  const auto pool = std::make_shared<BlockPool>();
  std::vector<Piece> pieces;
  size_t used = 0;
  for (size_t step = 0; step < test::Trials(20'000); ++step) {
    if (!pieces.empty() && random.OneIn(2)) {
      std::swap(pieces[random.Below(pieces.size())], pieces.back());
      BOOST_REQUIRE(pieces.back().IsIntact());
      used -= BlockPool::PieceBytes(pieces.back().size_bytes);
      pieces.pop_back();
    } else {
      const size_t most = random.OneIn(20) ? BlockPool::kPieceBytesMax : 9'000;
      pieces.push_back(NewPiece(pool.get(), 1 + random.Below(most), static_cast<char>(step)));
      used += BlockPool::PieceBytes(pieces.back().size_bytes);
    }
    BOOST_REQUIRE_EQUAL(pool->used_bytes(), used);
  }
  for (const Piece& piece : pieces) BOOST_REQUIRE(piece.IsIntact());
  pieces.clear();
  BOOST_CHECK_EQUAL(pool->used_bytes(), 0u);
  BOOST_CHECK_LE(pool->memory_bytes(), 2 * kChunkBytes);
}

BOOST_AUTO_TEST_CASE(ARetiredPoolReturnsWholeChunks) {
  const auto pool = std::make_shared<BlockPool>();
  std::vector<Piece> pieces;
  for (size_t i = 0; i < 8 * kChunkBytes / 8192; ++i) {
    pieces.push_back(NewPiece(pool.get(), 8192, static_cast<char>(i)));
  }
  const size_t before = pool->memory_bytes();
  pool->Retire();
  for (size_t i = 0; i < pieces.size(); i += 2) pieces[i].memory.reset();
  BOOST_CHECK_EQUAL(pool->memory_bytes(), before);
  for (size_t i = 1; i < pieces.size(); i += 2) BOOST_REQUIRE(pieces[i].IsIntact());
  pieces.clear();
  BOOST_CHECK_LE(pool->memory_bytes(), 2 * kChunkBytes);
}

// Whatever is freed, and in whatever order, holes that are kept are few.
BOOST_AUTO_TEST_CASE(MemoryFollowsWhatIsInUse) {
  test::TestRandom random("block pool memory");
  const auto pool = std::make_shared<BlockPool>();
  std::vector<Piece> pieces;
  const auto check = [&] {
    BOOST_REQUIRE_LE(pool->memory_bytes(), pool->used_bytes() * 9 / 8 + 3 * kChunkBytes);
  };
  for (size_t round = 0; round < 3; ++round) {
    for (size_t i = 0; i < 8'000; ++i) {
      pieces.push_back(NewPiece(pool.get(), 8'192 + random.Below(200), 'x'));
      check();
    }
    while (pieces.size() > 100) {
      std::swap(pieces[random.Below(pieces.size())], pieces.back());
      pieces.pop_back();
      check();
    }
    for (const Piece& piece : pieces) BOOST_REQUIRE(piece.IsIntact());
  }
}

// A cache that is full frees a block for each that it takes: the holes are used again.
BOOST_AUTO_TEST_CASE(HolesAreUsedAgain) {
  test::TestRandom random("block pool holes");
  const auto pool = std::make_shared<BlockPool>();
  std::vector<Piece> pieces;
  for (size_t i = 0; i < 4'000; ++i) {
    pieces.push_back(NewPiece(pool.get(), 8'192 + random.Below(200), 'x'));
  }
  for (size_t i = 0; i < 50'000; ++i) {
    Piece& piece = pieces[random.Below(pieces.size())];
    piece = {};
    piece = NewPiece(pool.get(), 8'192 + random.Below(200), 'y');
  }
  BOOST_CHECK_LE(pool->memory_bytes(), pool->used_bytes() * 17 / 16 + 3 * kChunkBytes);
}

BOOST_AUTO_TEST_CASE(PiecesOutliveTheirPool) {
  Piece piece;
  {
    const auto pool = std::make_shared<BlockPool>();
    piece = NewPiece(pool.get(), 5'000, 'p');
  }
  BOOST_CHECK(piece.IsIntact());
}

BOOST_AUTO_TEST_CASE(ThreadsShareIt) {
  const auto pool = std::make_shared<BlockPool>();
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (char thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<Piece> pieces(16);
      for (size_t i = 0; i < test::Trials(4'000); ++i) {
        Piece& piece = pieces[i % pieces.size()];
        if (piece.memory != nullptr && !piece.IsIntact()) failed = true;
        piece = NewPiece(pool.get(), 100 + i % 9'000, thread);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK(!failed);
  BOOST_CHECK_EQUAL(pool->used_bytes(), 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::base

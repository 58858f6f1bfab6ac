// The arena: alignment, no overlap, accounting.
#define BOOST_TEST_DYN_LINK
#include "base/arena.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace tandem::base {
namespace {

BOOST_AUTO_TEST_SUITE(ArenaSuite)

BOOST_AUTO_TEST_CASE(AllocationsAreAlignedAndKeepTheirBytes) {
  constexpr uint64_t kSeed = 20260101;
  BOOST_TEST_MESSAGE("seed " << kSeed);
  const auto random = NewSeededRandom(kSeed);
  Arena arena;
  struct Piece {
    char* bytes;
    size_t size;
    char mark;
  };
  std::vector<Piece> pieces;
  size_t requested = 0;
  for (int i = 0; i < 5000; ++i) {
    const size_t alignment = size_t{1} << random->Next64() % 5;
    const bool is_large = random->Next64() % 100 == 0;
    const size_t size = random->Next64() % (is_large ? 300'000 : 200);
    char* bytes = arena.Allocate(size, alignment);
    BOOST_REQUIRE(bytes != nullptr);
    BOOST_REQUIRE(reinterpret_cast<uintptr_t>(bytes) % alignment == 0);
    const char mark = static_cast<char>(i * 31);
    std::memset(bytes, mark, size);
    pieces.push_back({bytes, size, mark});
    requested += size;
  }
  for (const Piece& piece : pieces) {
    const std::string expected(piece.size, piece.mark);
    BOOST_REQUIRE(std::memcmp(piece.bytes, expected.data(), piece.size) == 0);
  }
  BOOST_TEST(arena.size_bytes() >= requested);
  BOOST_TEST(arena.size_bytes() < requested + requested / 2);
}

BOOST_AUTO_TEST_CASE(AnArenaOfNothingTakesNothing) { BOOST_TEST(Arena().size_bytes() == 0u); }

BOOST_AUTO_TEST_CASE(ASmallArenaIsSmall) {
  Arena arena;
  arena.Allocate(1);
  BOOST_TEST(arena.size_bytes() <= 4096u);
}

BOOST_AUTO_TEST_CASE(ALargePieceLeavesTheCurrentBlockInUse) {
  Arena arena;
  const char* first = arena.Allocate(8);
  arena.Allocate(1'000'000);
  const char* second = arena.Allocate(8);
  BOOST_TEST(second - first == 8);
}

BOOST_AUTO_TEST_CASE(CopyIsIndependentOfItsSource) {
  Arena arena;
  std::string source = "row key";
  const std::string_view copy = arena.Copy(source);
  source.assign("changed");
  BOOST_TEST(copy == "row key");
  BOOST_TEST(arena.Copy("").empty());
}

BOOST_AUTO_TEST_CASE(AResetArenaKeepsOneBlock) {
  Arena arena;
  arena.Reset();
  BOOST_CHECK_EQUAL(arena.size_bytes(), 0u);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string_view> copies;
    for (int i = 0; i < 20'000; ++i) copies.push_back(arena.Copy(std::to_string(i)));
    arena.Allocate(1 << 20);  // A block of its own.
    for (int i = 0; i < 20'000; ++i) BOOST_REQUIRE_EQUAL(copies[i], std::to_string(i));
    const size_t filled = arena.size_bytes();
    arena.Reset();
    BOOST_CHECK_GT(arena.size_bytes(), 0u);
    BOOST_CHECK_LE(arena.size_bytes(), 256u << 10);
    BOOST_CHECK_GT(filled, arena.size_bytes());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::base

// A list that one thread fills while others search it.
#include "memstore/skiplist.h"
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/arena.h"
#include "tandem/encoding.h"
#include "test/support/test_random.h"

namespace tandem::engine {
namespace {

// Gives the heights that random keys would have.
uint64_t HashOf(uint64_t i) { return (i + 1) * 0x9E37'79B9'7F4A'7C15; }

BOOST_AUTO_TEST_SUITE(Skiplist)

// Rows that arrive in order are linked at the end of their levels. A search for a row that is there
// finds it, whatever is being linked.
BOOST_AUTO_TEST_CASE(ASearchFindsTheLastRowWhileRowsAreAppended) {
  const uint64_t rows = std::getenv("TANDEM_QUICK") == nullptr ? 1'000'000 : 100'000;
  base::Arena arena;
  RowSkiplist list(&arena);
  list.FindOrInsert(RowSkiplist::Place(EncodeUint64Be(0)), HashOf(0));
  std::atomic<uint64_t> last{0};
  std::atomic<uint64_t> wrong{0};
  std::thread reader([&] {
    for (uint64_t at = 0; at + 1 < rows;) {
      at = last.load(std::memory_order_acquire);
      const std::string key = EncodeUint64Be(at);
      const MemRow* found = list.AtOrAfter(key);
      const MemRow* before = list.Before(key);
      wrong += found == nullptr || found->key() != key;
      wrong += before != nullptr && before->key() >= key;
    }
  });
  for (uint64_t i = 1; i < rows; ++i) {
    list.FindOrInsert(RowSkiplist::Place(EncodeUint64Be(i)), HashOf(i));
    last.store(i, std::memory_order_release);
  }
  reader.join();
  BOOST_CHECK_EQUAL(wrong, 0u);
}

// Keys near each other and far apart, in groups with keys that are there and keys given twice.
BOOST_AUTO_TEST_CASE(PlacesFoundTogetherAreThoseOfEachKey) {
  test::TestRandom random("skiplist places");
  for (const char* alphabet : {"ab", "abcdefghijklmnopqrstuvwxyz"}) {
    for (const char* prefix : {"", "the first eight are equal "}) {
      base::Arena arena;
      RowSkiplist list(&arena);
      std::set<std::string> keys;
      for (size_t group = 0; group < test::Trials(400); ++group) {
        std::vector<std::string> added(1 + random.Below(40));
        std::vector<RowSkiplist::Place> places;
        std::vector<RowSkiplist::Place*> pointers;
        for (std::string& key : added) key = prefix + random.Text(12, alphabet);
        if (random.OneIn(4)) std::sort(added.begin(), added.end());
        for (const std::string& key : added) places.emplace_back(key);
        for (RowSkiplist::Place& place : places) pointers.push_back(&place);
        list.FindPlaces(pointers);
        for (size_t i = 0; i < added.size(); ++i) {
          const auto [row, is_new] = list.FindOrInsert(places[i], random.Next());
          BOOST_REQUIRE_EQUAL(row->key(), added[i]);
          BOOST_REQUIRE_EQUAL(is_new, keys.insert(added[i]).second);
        }
      }
      const MemRow* row = list.First();
      for (const std::string& key : keys) {
        BOOST_REQUIRE(row != nullptr);
        BOOST_REQUIRE_EQUAL(row->key(), key);
        BOOST_REQUIRE(list.AtOrAfter(key) == row);
        row = RowSkiplist::Next(row);
      }
      BOOST_REQUIRE(row == nullptr);
    }
  }
}

// Few rows exactly, many rows to a factor of three, either way, in lists of rising and of scattered
// keys; past the end nothing.
BOOST_AUTO_TEST_CASE(ARowSomeRowsAwayIsFoundByHops) {
  constexpr uint64_t kRows = 40'000, kExact = 100;
  test::TestRandom random("skiplist hops");
  for (const uint64_t step : {uint64_t{1}, uint64_t{7919}}) {
    base::Arena arena;
    RowSkiplist list(&arena);
    for (uint64_t i = 0; i < kRows; ++i) {
      const uint64_t number = i * step % kRows;
      list.FindOrInsert(RowSkiplist::Place(EncodeUint64Be(number)), random.Next());
    }
    const auto number_of = [](const MemRow* row) {
      uint64_t number = 0;
      for (const char byte : row->key()) number = number << 8 | static_cast<uint8_t>(byte);
      return number;
    };
    for (size_t trial = 0; trial < test::Trials(2000); ++trial) {
      const uint64_t from = random.Below(kRows),
                     rows = random.Below(uint64_t{1} << random.Below(17));
      const std::string key = EncodeUint64Be(from);
      const MemRow* const after = list.AboutAfter(key, rows);
      const MemRow* const before = list.AboutBefore(key, rows);
      const uint64_t most = rows < kExact ? rows : 3 * rows,
                     least = rows < kExact ? rows : rows / 3;
      if (from + most < kRows) BOOST_REQUIRE(after != nullptr);
      if (from + least >= kRows) BOOST_REQUIRE(after == nullptr);
      if (after != nullptr) {
        BOOST_REQUIRE_GE(number_of(after), from + least);
        BOOST_REQUIRE_LE(number_of(after), from + most);
      }
      if (from > most) BOOST_REQUIRE(before != nullptr);
      if (from <= least) BOOST_REQUIRE(before == nullptr);
      if (before == nullptr) continue;
      BOOST_REQUIRE_LE(number_of(before) + least + 1, from);
      BOOST_REQUIRE_GE(number_of(before) + most + 1, from);
    }
    BOOST_CHECK_EQUAL(number_of(list.AboutBefore(std::nullopt, 0)), kRows - 1);
    BOOST_CHECK_EQUAL(number_of(list.AboutBefore(std::nullopt, 10)), kRows - 11);
    BOOST_CHECK(list.AboutBefore(EncodeUint64Be(0), 0) == nullptr);
  }
  base::Arena arena;
  const RowSkiplist empty(&arena);
  BOOST_CHECK(empty.AboutAfter("", 0) == nullptr);
  BOOST_CHECK(empty.AboutBefore(std::nullopt, 1000) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine

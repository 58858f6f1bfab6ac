// A list that one thread fills while others search it.
#include "memstore/skiplist.h"
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine

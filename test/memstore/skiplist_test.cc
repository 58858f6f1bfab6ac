// A list that one thread fills while others search it.
#include "memstore/skiplist.h"
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/arena.h"
#include "tandem/encoding.h"

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
  list.FindOrInsert(EncodeUint64Be(0), HashOf(0));
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
    list.FindOrInsert(EncodeUint64Be(i), HashOf(i));
    last.store(i, std::memory_order_release);
  }
  reader.join();
  BOOST_CHECK_EQUAL(wrong, 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine

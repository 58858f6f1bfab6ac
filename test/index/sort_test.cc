// Sorting collected entries against std::sort.
#define BOOST_TEST_DYN_LINK
#include "index/sort.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <string>
#include <vector>

#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::TestRandom;

// Entries over keys that are self-delimiting because '~' ends each and occurs nowhere else.
void CheckSort(TestRandom* random, size_t count, size_t size_max, std::string_view alphabet,
               const std::string& prefix) {
  std::deque<std::string> keys;
  std::vector<CollectedEntry> entries;
  for (uint32_t ordinal = 0; ordinal < count; ++ordinal) {
    const std::string& key = keys.emplace_back(prefix + random->Text(size_max, alphabet) + "~");
    entries.push_back({key.data(), static_cast<uint32_t>(key.size()), ordinal, 0});
  }
  std::vector<CollectedEntry> expected = entries;
  std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
    return a.key_view() != b.key_view() ? a.key_view() < b.key_view() : a.ordinal < b.ordinal;
  });
  SortByKey(entries);
  for (size_t i = 0; i < count; ++i) {
    BOOST_REQUIRE(entries[i].ordinal == expected[i].ordinal);
    BOOST_REQUIRE(entries[i].key == expected[i].key);
    if (i > 0 && entries[i].key_view() == entries[i - 1].key_view()) {
      BOOST_REQUIRE(entries[i].head == entries[i - 1].head);
    }
  }
}

BOOST_AUTO_TEST_SUITE(IndexSortSuite)

BOOST_AUTO_TEST_CASE(OrderIsThatOfKeyAndOrdinal) {
  TestRandom random("OrderIsThatOfKeyAndOrdinal");
  const std::string_view binary("\0\1\xfe\xff", 4);
  for (const size_t count : {0, 1, 2, 100, 257, 5'000, 60'000}) {
    CheckSort(&random, count, 3, "ab", "");
    CheckSort(&random, count, 8, binary, "");
    CheckSort(&random, count, 40, binary, "prefix");
    CheckSort(&random, count, 40, "a", std::string(100, 'p'));
    CheckSort(&random, count, 0, "a", std::string(2000, 'p'));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

// Collected values against a map.
#define BOOST_TEST_DYN_LINK
#include "index/value_collector.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using Entries = std::map<std::string, std::vector<uint32_t>>;

Entries Collected(const ValueCollector& collector) {
  Entries entries;
  const std::unique_ptr<ValueSource> source = collector.NewSource();
  BOOST_REQUIRE(source->Start().ok());
  std::string before;
  while (source->valid()) {
    const std::string key(source->key());
    BOOST_REQUIRE(entries.empty() || before < key);
    BOOST_REQUIRE(source->AppendOrdinals(&entries[key]).ok());
    before = key;
    BOOST_REQUIRE(source->Next().ok());
  }
  return entries;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(value_collector)

BOOST_AUTO_TEST_CASE(ValuesRiseAndHaveTheirOrdinals) {
  test::TestRandom random("ValuesRiseAndHaveTheirOrdinals");
  for (const uint32_t rows : {0, 1, 100, 5'000}) {
    for (const size_t size_max : {0, 2, 12}) {
      ValueCollector collector;
      Entries expected;
      for (uint32_t row = 0; row < rows; ++row) {
        std::map<std::string, bool> of_row;
        for (uint64_t count = random.Below(6); count > 0; --count) {
          of_row[random.Text(size_max, std::string_view("ab\0\xff", 4))] = true;
        }
        for (const auto& [key, ignored] : of_row) {
          collector.Add(key, row);
          expected[key].push_back(row);
        }
      }
      BOOST_TEST(collector.empty() == expected.empty());
      const uint64_t before = collector.memory_bytes();
      collector.Sort();
      BOOST_TEST(collector.memory_bytes() <= before);
      BOOST_REQUIRE(Collected(collector) == expected);
    }
  }
}

// A value that comes again and again takes eight bytes each time.
BOOST_AUTO_TEST_CASE(AnEntryTakesLittleMemory) {
  ValueCollector collector;
  constexpr uint32_t kRows = 1 << 20;
  for (uint32_t row = 0; row < kRows; ++row) collector.Add(row % 2 == 0 ? "even" : "odd", row);
  BOOST_TEST(collector.memory_bytes() <= 8 * kRows + (1 << 18));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format

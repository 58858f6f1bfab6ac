// Counting distinct keys by their hashes.
#define BOOST_TEST_DYN_LINK
#include "tools/tandem/key_set.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "test/support/test_random.h"

namespace tandem::tools {
namespace {

BOOST_AUTO_TEST_SUITE(key_set)

BOOST_AUTO_TEST_CASE(CountsWhatASetCounts) {
  test::TestRandom random("key_set");
  KeySet keys;
  std::set<std::string> reference;
  for (int i = 0; i < 300'000; ++i) {
    const std::string key = "key" + std::to_string(random.Below(200'000));
    BOOST_REQUIRE_EQUAL(keys.Insert(key), reference.insert(key).second);
  }
  BOOST_TEST(keys.size() == reference.size());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::tools

// What is added stays as the array grows, is cut and filled again.
#define BOOST_TEST_DYN_LINK
#include "format/row/pod_array.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace tandem::format {
namespace {

BOOST_AUTO_TEST_SUITE(pod_array)

BOOST_AUTO_TEST_CASE(KeepsWhatItHasWhileItGrows) {
  PodArray<uint32_t> array;
  BOOST_TEST(array.empty());
  BOOST_TEST(array.all().empty());
  for (uint32_t count = 0; count < 100; ++count) {
    uint32_t* const added = array.Extend(count);
    std::iota(added, added + count, static_cast<uint32_t>(array.size()) - count);
  }
  BOOST_REQUIRE(array.size() == 4950u);
  for (uint32_t i = 0; i < 4950; ++i) BOOST_REQUIRE_EQUAL(array.all()[i], i);
  BOOST_TEST(array.capacity() >= array.size());
  BOOST_TEST(array.capacity() < 3 * array.size());
}

BOOST_AUTO_TEST_CASE(IsCutAndFilledAgainInPlace) {
  PodArray<char> array;
  array.Reserve(8);
  const char* const begin = array.data();
  std::fill_n(array.Extend(8), 8, 'a');
  array.Truncate(3);
  *array.Extend(1) = 'b';
  BOOST_TEST(std::string_view(array.data(), array.size()) == "aaab");
  array.Clear();
  BOOST_TEST(array.empty());
  array.Reserve(4);
  array.Extend(8);
  BOOST_TEST(static_cast<const void*>(array.data()) == static_cast<const void*>(begin));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

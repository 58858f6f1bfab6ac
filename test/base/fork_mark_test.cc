// The mark that distinguishes a forked child from its parent.
#define BOOST_TEST_DYN_LINK
#include "base/fork_mark.h"

#include <boost/test/unit_test.hpp>

#include "test/base/back_ends.h"

namespace tandem::test {
namespace {

BOOST_AUTO_TEST_SUITE(ForkMarkTest)

BOOST_AUTO_TEST_CASE(OnlyTheProcessThatMadeItIsNotAChild) {
  const auto mark = base::ForkMark::Make();
  BOOST_REQUIRE(mark.has_value());
  BOOST_CHECK(!(*mark)->in_child());
  const int code = RunInChild([&] {
    if (!(*mark)->in_child()) return 1;
    const auto own = base::ForkMark::Make();
    if (!own.has_value() || (*own)->in_child()) return 2;
    return RunInChild([&] { return (*mark)->in_child() && (*own)->in_child() ? 0 : 3; });
  });
  BOOST_CHECK_EQUAL(code, 0);
  BOOST_CHECK(!(*mark)->in_child());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

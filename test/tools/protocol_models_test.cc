// The executable models of protocols in test/protocol: the protocol as it is shows nothing wrong,
// and each rule that is left out is missed.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/tools/shell.h"

namespace tandem::test {
namespace {

BOOST_AUTO_TEST_SUITE(protocol_models)

void CheckModel(const std::string& name, int weakenings) {
  const std::string output =
      OutputOf("python3 -B test/protocol/" + name + " --trials 1500 2>&1; echo exit $?");
  BOOST_TEST(output.ends_with("\nexit 0\n"), output);
  BOOST_TEST(output.starts_with("none: 1500 interleavings"), output);
  BOOST_TEST(std::ranges::count(output, '\n') == 1 + weakenings + 1, output);
}

BOOST_AUTO_TEST_CASE(TransactionsNeedEachOfTheirRules) { CheckModel("transactions.py", 14); }

BOOST_AUTO_TEST_CASE(UnloggedBatchesNeedEachOfTheirRules) { CheckModel("unlogged_batches.py", 11); }

BOOST_AUTO_TEST_CASE(DependentEntriesNeedEachOfTheirRules) {
  CheckModel("dependent_entries.py", 28);
}

BOOST_AUTO_TEST_CASE(GlobalEntriesNeedEachOfTheirRules) { CheckModel("global_entries.py", 23); }

// A model that looks for nothing would find nothing.
BOOST_AUTO_TEST_CASE(AWeakeningThatIsFoundIsShown) {
  const std::string output =
      OutputOf("python3 -B test/protocol/unlogged_batches.py ask --trials 300 --show 2>&1");
  BOOST_TEST(output.starts_with("ask: 300 interleavings"), output);
  BOOST_TEST(output.find("\n  crash; of the log") != std::string::npos, output);
  const std::string refused =
      OutputOf("python3 -B test/protocol/transactions.py nothing 2>&1; echo exit $?");
  BOOST_TEST(refused.find("no weakening is called nothing") != std::string::npos, refused);
  BOOST_TEST(refused.ends_with("exit 2\n"), refused);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// Allocations that failed at places where the engine once did not expect it.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/reliability/suites.h"

namespace tandem::reliability {
namespace {

BOOST_AUTO_TEST_SUITE(failing_allocations)

// Every one of the workload: where the job that writes buffered groups could not be scheduled, the
// write had failed and its group waited for the log all the same.
BOOST_AUTO_TEST_CASE(ABufferedWriteThatFailedIsNotInTheLog) {
  const Plan plan{.seed = 42, .only = "buffered-tail"};
  const Report report = RunAllocations(plan);
  BOOST_TEST(report.failures.empty(), (report.failures.empty() ? "" : report.failures[0]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::reliability

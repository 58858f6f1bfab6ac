// A check for calls that must succeed.
#pragma once

#include <boost/test/unit_test.hpp>

#include "tandem/status.h"

namespace tandem::test {

/// Ends the test case with the status' text unless it is OK.
inline void RequireOk(const Status& status) {
  BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
}

}  // namespace tandem::test

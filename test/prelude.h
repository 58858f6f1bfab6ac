// What most tests include, compiled once: see tools/dev/prelude.h.
#pragma once

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tools/dev/prelude.h"

// The entry point of every test program.
#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE tandem
#include <boost/test/unit_test.hpp>

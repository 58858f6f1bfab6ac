// File names: what the engine makes is parsed, all else is a user's.
#define BOOST_TEST_DYN_LINK
#include "engine/storage/files.h"

#include <boost/test/unit_test.hpp>

namespace tandem::engine {
namespace {

BOOST_AUTO_TEST_SUITE(FilesTest)

BOOST_AUTO_TEST_CASE(NamesAreReadBack) {
  const auto file = ParseFileName(StoreFileName(format::FileNumber{17}));
  BOOST_REQUIRE(file.has_value());
  BOOST_CHECK(file->kind == LocalFileKind::kStore);
  BOOST_TEST(file->number.value == 17u);
}

// Files of a user with such names are left alone.
BOOST_AUTO_TEST_CASE(OtherNamesAreNotOurs) {
  for (const char* name : {"", "ROOT", "store-", "store-0", "manifest-0", "log-07", "store-+7",
                           "store-7 ", "store-7x", "Store-7", "log-18446744073709551616"}) {
    BOOST_TEST(!ParseFileName(name).has_value(), name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine

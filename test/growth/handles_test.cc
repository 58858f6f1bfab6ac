// Descriptors and threads of this process, on real files, with the number of databases that it
// opened and closed.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tandem/tandem.h"
#include "test/growth/growth.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

double EntriesOf(const char* folder) {
  double count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += !entry.path().empty();
  return count;
}

/// Opens a database, writes a row, closes it.
void LiveOnce(const std::string& path) {
  Options options;
  options.create_if_missing = true;
  options.memory_bytes = 8 << 20;
  auto database = Database::Open(path, options);
  BOOST_REQUIRE_EQUAL(database.status().ToString(), "OK");
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "d"}};
  const Status created = (*database)->CreateTable(table);
  BOOST_REQUIRE(created.ok() || created.code() == StatusCode::kAlreadyExists);
  WriteBatch batch;
  batch.Put("t", "row", "d", "c", "1");
  BOOST_REQUIRE_EQUAL((*database)->Write({}, batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL((*database)->Close().ToString(), "OK");
}

/// What a folder of /proc has more of after n lives.
std::function<double(uint64_t)> LeftIn(const char* folder) {
  return [=](uint64_t n) {
    const TemporaryDirectory directory;
    LiveOnce(directory.Path("db"));
    const double before = EntriesOf(folder);
    for (uint64_t i = 0; i < n; ++i) LiveOnce(directory.Path("db"));
    return EntriesOf(folder) - before;
  };
}

BOOST_AUTO_TEST_SUITE(Handles)

BOOST_AUTO_TEST_CASE(OpensLeaveNoDescriptorAndNoThread) {
  Check({.cost = "descriptors left after n opens and closes",
         .n = 2,
         .bound = AtMost(0),
         .measure = LeftIn("/proc/self/fd")});
  Check({.cost = "threads left after n opens and closes",
         .n = 2,
         .bound = AtMost(0),
         .measure = LeftIn("/proc/self/task")});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

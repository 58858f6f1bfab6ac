// Descriptors and threads of this process, on real files, with the number of databases that it
// opened and closed.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <deque>
#include <filesystem>
#include <memory>
#include <utility>

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

TableOptions Table(const std::string& name) {
  TableOptions table;
  table.name = name;
  table.families = {{.name = "d"}};
  return table;
}

/// A database with tables "t0" to "t(n - 1)", each with a row in a store file.
std::unique_ptr<Database> OpenWithTables(const std::string& path, uint64_t n) {
  Options options;
  options.create_if_missing = true;
  options.memory_bytes = 8 << 20;
  auto database = Database::Open(path, options);
  BOOST_REQUIRE_EQUAL(database.status().ToString(), "OK");
  for (uint64_t i = 0; i < n; ++i) {
    const std::string name = "t" + std::to_string(i);
    const Status created = (*database)->CreateTable(Table(name));
    BOOST_REQUIRE(created.ok() || created.code() == StatusCode::kAlreadyExists);
    WriteBatch batch;
    batch.Put(name, "row", "d", "c", "1");
    BOOST_REQUIRE_EQUAL((*database)->Write({}, batch).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL((*database)->Flush().ToString(), "OK");
  return std::move(*database);
}

/// What a folder of /proc has more of after n lives.
std::function<double(uint64_t)> LeftIn(const char* folder) {
  return [=](uint64_t n) {
    const TemporaryDirectory directory;
    OpenWithTables(directory.Path("db"), 1);
    const double before = EntriesOf(folder);
    for (uint64_t i = 0; i < n; ++i) OpenWithTables(directory.Path("db"), 1);
    return EntriesOf(folder) - before;
  };
}

/// What a folder of /proc has more of with n tables open.
std::function<double(uint64_t)> WithTables(const char* folder) {
  return [=](uint64_t n) {
    const TemporaryDirectory directory;
    const double before = EntriesOf(folder);
    const auto database = OpenWithTables(directory.Path("db"), n);
    return EntriesOf(folder) - before;
  };
}

/// What a folder of /proc has more of with n cursors that were begun.
std::function<double(uint64_t)> WithCursors(const char* folder) {
  return [=](uint64_t n) {
    const TemporaryDirectory directory;
    const auto database = OpenWithTables(directory.Path("db"), 1);
    std::deque<Cursor> held;
    const double before = EntriesOf(folder);
    for (uint64_t i = 0; i < n; ++i) {
      auto cursor = database->Scan({}, "t0", {});
      BOOST_REQUIRE(cursor.has_value() && cursor->Next());
      held.push_back(std::move(*cursor));
    }
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

BOOST_AUTO_TEST_CASE(ThreadsAreAsManyAsTheMachineAsksFor) {
  Check({.cost = "threads of a database of n tables",
         .n = 2,
         .bound = AtMost(8),
         .measure = WithTables("/proc/self/task")});
}

BOOST_AUTO_TEST_CASE(CursorsShareDescriptors) {
  Check({.cost = "descriptors of n begun scans of one file",
         .n = 4,
         .bound = AtMost(2),
         .measure = WithCursors("/proc/self/fd")});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

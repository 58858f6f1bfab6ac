// What the library does below its API while one allocation after the other fails: std::bad_alloc
// passes through, and nothing is lost or left half done on its way.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "format/cell/overflow_value.h"
#include "test/allocations/allocations.h"
#include "test/format/data_file.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// Whether `work` ends with std::bad_alloc if `count` allocations succeed and all later ones fail.
bool RunsOutOfMemory(int64_t count, const std::function<void()>& work) {
  Allocations& allocations = ThisThreadsAllocations();
  allocations.has_failed = false;
  allocations.left = count;
  bool has_run_out = false;
  try {
    work();
  } catch (const std::bad_alloc&) {
    has_run_out = true;
  }
  allocations.left = -1;
  return has_run_out;
}

BOOST_AUTO_TEST_SUITE(failed_allocations_below)

BOOST_AUTO_TEST_CASE(OfQueuesLeaveTheirPlacesInThePoolOfRings) {
  constexpr uint64_t kRings = 2;
  std::string reason;
  const auto files = base::NewUringFileSystem(&reason, kRings);
  if (files->name() != "io_uring") {
    BOOST_TEST_MESSAGE("skipped: " << reason);
    return;
  }
  int64_t count = 0;
  while (RunsOutOfMemory(count, [&] { (void)files->NewQueue(8); })) {
    // At most the ring that no queue came to use, which the next one takes.
    BOOST_REQUIRE_LE(files->open_rings(), 1u);
    ++count;
  }
  BOOST_CHECK_GT(count, 3);
  // A place that is held for ever would show here.
  std::vector<std::unique_ptr<base::IoQueue>> queues;
  for (uint64_t i = 0; i < kRings; ++i) queues.push_back(files->NewQueue(8));
  BOOST_CHECK_EQUAL(files->open_rings(), kRings);
}

BOOST_AUTO_TEST_CASE(OfOverflowValuesAppendNothing) {
  DataFile file;
  const std::string value(3 * format::kValueBlockBytes, 'v');
  const auto reference = format::WriteOverflowValue(value, Compression::kNone, &file.out);
  BOOST_REQUIRE(reference.has_value());
  file.Close();
  std::string bytes;
  format::AppendOverflowReference(*reference, &bytes);
  format::Cell cell;
  cell.overflow_file = file.blocks.get();
  cell.value = bytes;
  std::string read = "before";
  int64_t count = 0;
  while (RunsOutOfMemory(count, [&] { (void)format::ReadOverflowValue(cell, &read).ok(); })) {
    BOOST_REQUIRE_EQUAL(read.size(), 6u);
    read = "before";
    read.shrink_to_fit();
    ++count;
  }
  BOOST_CHECK_GT(count, 3);
  BOOST_CHECK(read == "before" + value);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// Files that are open at once, with the number of regions, of which each has files of its own. What
// is open besides store files is the same for all: ROOT, manifest, log, what is being written.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <vector>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRegions = 20;
constexpr uint32_t kOpenFilesMax = 16;
constexpr uint32_t kRingsMax = 4;
constexpr double kBound = kOpenFilesMax - kRingsMax + 8;

/// A table of n regions with two store files each.
void OpenRegions(TestEngine* engine, uint64_t n) {
  engine->tuning.open_files_max = kOpenFilesMax;
  engine->tuning.rings_max = kRingsMax;
  engine->tuning.block_cache_bytes = 64 << 10;  // Reads come to the files again and again.
  engine->tuning.log_segment_bytes = 1 << 20;
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  TableOptions table = SimpleTable();
  for (uint64_t i = 1; i < n; ++i) table.split_keys.push_back(RowKey(i));
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(table).ToString(), "OK");
  for (int file = 0; file < 2; ++file) {
    for (uint64_t i = 0; i < n; ++i) BOOST_REQUIRE(engine->Put(RowKey(i), "c", "hit").ok());
    BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK");
    engine->executor.Drain();
  }
}

/// The most files that are open at once in `work` on n regions.
std::function<double(uint64_t)> Open(std::function<void(TestEngine*, uint64_t)> work) {
  return [=](uint64_t n) {
    TestEngine engine;
    OpenRegions(&engine, n);
    engine.disk.TakeOpenFiles();
    work(&engine, n);
    return static_cast<double>(engine.disk.TakeOpenFiles().most);
  };
}

void ReadAll(TestEngine* engine, uint64_t n) {
  BOOST_CHECK_EQUAL(RowsOf((**engine).Scan({}, "t", {})), n);
  BOOST_CHECK_EQUAL(RowsOf((**engine).Query({}, "t", Predicate::Equal("c", "hit"), {})), n);
  // Cursors that were begun and not ended, each over files of its own.
  std::vector<Cursor> cursors;
  for (uint64_t i = 0; i < n; ++i) {
    cursors.push_back(*(**engine).Scan({}, "t", {.start = RowKey(i)}));
    BOOST_REQUIRE(cursors.back().Next());
  }
}

void Merge(TestEngine* engine, uint64_t) {
  BOOST_CHECK_EQUAL((**engine).Compact("t").ToString(), "OK");
}

void Copy(TestEngine* engine, uint64_t) {
  BOOST_CHECK((*(**engine).Verify(true)).findings.empty());
  BOOST_CHECK_EQUAL((**engine).Checkpoint("copy").ToString(), "OK");
  BOOST_CHECK((**engine).Backup("backups").has_value());
}

void Reopen(TestEngine* engine, uint64_t n) {
  BOOST_REQUIRE_EQUAL(engine->Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE(engine->Put(RowKey(n), "c", "hit").ok());
  engine->Kill();
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
}

BOOST_AUTO_TEST_SUITE(Descriptors)

BOOST_AUTO_TEST_CASE(TheyDoNotGrowWithRegionsAndFiles) {
  Check({.cost = "open files while n regions are read, 12 for store files",
         .n = kRegions,
         .bound = AtMost(kBound),
         .measure = Open(ReadAll)});
  Check({.cost = "open files while n regions are merged, 12 for store files",
         .n = kRegions,
         .bound = AtMost(kBound),
         .measure = Open(Merge)});
  Check({.cost = "open files while n regions are verified and copied, 12 for store files",
         .n = kRegions,
         .bound = AtMost(kBound),
         .measure = Open(Copy)});
  Check({.cost = "open files while n regions are opened, 12 for store files",
         .n = kRegions,
         .bound = AtMost(kBound),
         .measure = Open(Reopen)});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

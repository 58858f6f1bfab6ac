// A database of more store files than it may have open: what is read meanwhile, what is in flight,
// what a process without descriptors does, and what a file shows that was opened again. That the
// number does not grow is for test/growth to show.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint32_t kOpenFilesMax = 16;
constexpr uint32_t kRingsMax = 4;
// Beside store files: ROOT, manifest, log and its next segment, a file that is written, and for a
// copy the file that is made.
constexpr uint64_t kOthers = 8;

std::string Key(int region, int row) {
  std::string digits = std::to_string(region);
  return std::string(5 - digits.size(), '0') + digits + "/" + std::to_string(row);
}

// A table of `regions` regions, each with its store files.
struct World {
  explicit World(int region_count) : regions(region_count) {
    engine.tuning.open_files_max = kOpenFilesMax;
    engine.tuning.rings_max = kRingsMax;
    engine.tuning.block_cache_bytes = 64 << 10;  // Reads come to the files again and again.
    engine.tuning.log_segment_bytes = 1 << 20;
    BOOST_REQUIRE(engine.Open().ok());
    TableOptions table = SimpleTable();
    for (int i = 1; i < regions; ++i) table.split_keys.push_back(Key(i, 0));
    BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
  }
  // A file more in each region.
  void Grow(int row) {
    for (int i = 0; i < regions; ++i) {
      const std::string value = i % 3 == 0 ? "hit" : "miss";
      BOOST_REQUIRE(engine.Put(Key(i, row), "c", value).ok());
    }
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
    engine.executor.Drain();
  }
  uint64_t Rows(Result<Cursor> cursor) {
    BOOST_REQUIRE(cursor.has_value());
    uint64_t rows = 0;
    while (cursor->Next()) ++rows;
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
  uint64_t Hits() {
    return Rows(engine->Query({}, "t", Predicate::Equal("c", "hit"), {.use_index = "by_c"}));
  }
  /// The most files that were open at once while `work` ran.
  uint64_t Most(const std::function<void()>& work) {
    engine.disk.TakeOpenFiles();
    work();
    return engine.disk.TakeOpenFiles().most;
  }

  const int regions;
  TestEngine engine;
};

BOOST_AUTO_TEST_SUITE(Descriptors)

BOOST_AUTO_TEST_CASE(ColdReadsInFlightHoldTheirFiles) {
  for (const bool rings : {false, true}) {
    World world(60);
    if (rings) world.engine.disk.UseRings();
    world.Grow(0);
    world.Grow(1);
    BOOST_CHECK_EQUAL(world.Most([&] {
      // Cursors that were begun and not ended keep reads in flight.
      std::vector<Cursor> cursors;
      for (int i = 0; i < 40; ++i) {
        cursors.push_back(*world.engine->Scan({}, "t", {.start = Key(i, 0)}));
        BOOST_REQUIRE(cursors.back().Next());
        BOOST_REQUIRE_EQUAL(world.Hits(), 40u);
      }
      for (size_t i = 0; i < cursors.size(); ++i) {
        uint64_t rows = 1;
        while (cursors[i].Next()) ++rows;
        BOOST_REQUIRE_EQUAL(cursors[i].status().ToString(), "OK");
        BOOST_CHECK_EQUAL(rows, 120 - 2 * i);
      }
    }) <= kOpenFilesMax - kRingsMax + kOthers,
                      true);
  }
}

BOOST_AUTO_TEST_CASE(ADatabaseOfManyFilesWorksUnderALowLimitOfTheProcess) {
  World world(200);
  world.engine.disk.LimitOpenFiles(kOpenFilesMax - kRingsMax + kOthers);
  world.Grow(0);
  world.Grow(1);
  BOOST_CHECK_EQUAL(world.Hits(), 2 * 67u);
  BOOST_CHECK_EQUAL(world.engine->Compact("t").ToString(), "OK");
  BOOST_CHECK((*world.engine->Verify(true)).findings.empty());
  BOOST_CHECK_EQUAL(world.engine->Checkpoint("copy").ToString(), "OK");
  BOOST_CHECK(world.engine->Backup("backups").has_value());
  BOOST_CHECK_EQUAL(world.engine.Close().ToString(), "OK");
  BOOST_CHECK_EQUAL(world.engine.Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(world.Hits(), 2 * 67u);
  const FilesInfo files = world.engine->GetStatistics().open_files;
  BOOST_CHECK_EQUAL(files.limit, kOpenFilesMax);
  BOOST_CHECK_EQUAL(files.files, kOpenFilesMax - kRingsMax);
  BOOST_CHECK_GT(files.reopened, 200u);
}

// The rest of the process has taken all descriptors: what is open idles away, and what lacks one
// comes back.
BOOST_AUTO_TEST_CASE(WithoutDescriptorsWorkWaitsAndGoesOn) {
  World world(30);
  world.Grow(0);
  world.engine.disk.LimitOpenFiles(0);
  BOOST_REQUIRE(world.engine.Put(Key(1, 5), "c", "hit").ok());
  BOOST_CHECK_EQUAL(world.engine->Flush("t").code(), StatusCode::kUnavailable);
  BOOST_CHECK(!world.engine->Info().read_only);
  BOOST_CHECK_EQUAL(world.engine->GetStatistics().open_files.files, 0u);
  BOOST_CHECK_EQUAL(world.engine->Get({}, "t", Key(2, 0)).status().code(),
                    StatusCode::kUnavailable);
  for (int i = 0; i < 3; ++i) {
    world.engine.clock.Advance(1'000'000);
    world.engine.executor.Drain();
  }
  BOOST_CHECK(world.engine.log.back().find("tries again") != std::string::npos);
  world.engine.disk.LimitOpenFiles(std::nullopt);
  world.engine.clock.Advance(1'000'000);
  world.engine.executor.Drain();
  BOOST_CHECK_EQUAL(world.engine.log.back(), "background work goes on again");
  BOOST_CHECK_EQUAL(world.engine.FileCount(), 31u);
  BOOST_CHECK_EQUAL(world.Hits(), 11u);
}

BOOST_AUTO_TEST_CASE(AFileThatIsOpenedAgainIsTheSameFile) {
  World world(60);
  world.Grow(0);
  BOOST_REQUIRE_EQUAL(world.Rows(world.engine->Scan({}, "t", {})), 60u);
  const DatabaseInfo info = world.engine->Info();
  const auto name = [&](int region) {
    return "store-" + std::to_string(info.tables[0].regions[region].files[0].number);
  };
  const auto read = [&](int region) {
    const auto found = world.engine->Get({}, "t", Key(region, 0));
    return found.has_value() ? std::string("OK") : found.error().ToString();
  };
  const std::string first = *world.engine.disk.Content("db", name(0));
  const std::string second = *world.engine.disk.Content("db", name(1));
  BOOST_REQUIRE(world.engine->GetStatistics().open_files.files < 60);
  world.engine.disk.SetContent("db", name(0), second);
  world.engine.disk.SetContent("db", name(1), second + "more");
  BOOST_REQUIRE(world.engine.disk.RemoveDurably("db", name(2)).ok());
  const std::string other = read(0);
  BOOST_CHECK_MESSAGE(other.starts_with("Corruption: " + name(0) + ": offset 0: "), other);
  const std::string size = "Corruption: " + name(1) + ": offset 0: file size: expected ";
  BOOST_CHECK_MESSAGE(read(1).starts_with(size), read(1));
  const std::string gone = "IoError: " + name(2) + ": it was closed to keep within open_files_max";
  BOOST_CHECK_MESSAGE(read(2).starts_with(gone), read(2));
  BOOST_CHECK_EQUAL(read(3), "OK");
  world.engine.disk.SetContent("db", name(0), first);
  BOOST_CHECK_EQUAL(read(0), "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// How many reads a cold query keeps in flight: on the simulated disk, which completes them in any
// order, and through the real back ends.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/source/read_queue.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/support/traced_file_system.h"

namespace tandem::test {
namespace {

constexpr uint32_t kMedianMin = 16;
constexpr uint64_t kHits = 600;
// Hits are so far apart that no two of them share a read: more than 16 KiB.
constexpr uint64_t kRowsBetween = 24;
constexpr size_t kValueBytes = 1000;

std::string Key(uint64_t row) { return "row" + std::to_string(1'000'000 + row); }

TableOptions WideTable() {
  TableOptions options = SimpleTable();
  options.families[0].compression = Compression::kNone;
  return options;
}

// Every kRowsBetween-th row of each region is a hit.
void Fill(engine::Engine& engine) {
  for (uint64_t row = 0; row < kHits * kRowsBetween;) {
    WriteBatch batch;
    for (const uint64_t end = row + 400; row < end; ++row) {
      batch.Put("t", Key(row), "d", "c", row % kRowsBetween == 0 ? "hit" : "miss");
      batch.Put("t", Key(row), "d", "payload", std::string(kValueBytes, 'p'));
    }
    BOOST_REQUIRE_EQUAL(engine.Write({.durability = Durability::kMemory}, batch).ToString(), "OK");
  }
}

uint64_t CountHits(engine::Engine& engine, uint64_t limit = 0) {
  QueryOptions query;
  query.use_index = "by_c";
  query.limit = limit;
  Result<Cursor> cursor = engine.Query({}, "t", Predicate::Equal("c", "hit"), query);
  BOOST_REQUIRE(cursor.has_value());
  uint64_t rows = 0;
  while (cursor->Next()) ++rows;
  BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
  return rows;
}

// An engine over a traced file system, whichever is beneath.
struct TracedEngine {
  explicit TracedEngine(base::FileSystem* beneath) : traced(beneath) {
    tuning.memstore_bytes = 256 << 20;
    tuning.memstores_total_bytes = 512 << 20;
    tuning.log_segment_bytes = 1 << 20;
    tuning.block_cache_bytes = 64 << 20;
  }
  void Open(const std::string& path) {
    options.create_if_missing = true;
    const engine::Environment environment{
        .file_system = &traced, .clock = &clock, .random = random.get(), .executor = &executor};
    auto opened = engine::Engine::Open(path, options, tuning, environment);
    BOOST_REQUIRE_EQUAL(opened.status().ToString(), "OK");
    engine = std::move(*opened);
  }
  // Nothing is cached afterwards.
  void Reopen(const std::string& path) {
    BOOST_REQUIRE_EQUAL(engine->Close().ToString(), "OK");
    engine.reset();
    Open(path);
    traced.TakeDepths();
  }

  TracedFileSystem traced;
  ManualClock clock;
  InlineExecutor executor{clock};
  std::unique_ptr<base::RandomSource> random = base::NewSeededRandom(1);
  Options options;
  engine::Tuning tuning;
  std::unique_ptr<engine::Engine> engine;
};

void CheckColdQueries(TracedEngine* world, const std::string& path) {
  world->Open(path);
  BOOST_REQUIRE_EQUAL(world->engine->CreateTable(WideTable()).ToString(), "OK");
  Fill(*world->engine);
  world->Reopen(path);
  BOOST_CHECK_EQUAL(CountHits(*world->engine), kHits);
  std::vector<uint32_t> depths = world->traced.TakeDepths();
  BOOST_REQUIRE_GE(depths.size(), 2 * kHits);  // A read a hit, submitted and completed.
  BOOST_TEST_MESSAGE(world->traced.name() << ": median of reads in flight " << Median(depths));
  BOOST_CHECK_GE(Median(depths), kMedianMin);
  BOOST_CHECK_LE(*std::max_element(depths.begin(), depths.end()), engine::ReadQueue::kReadsMax);

  // A second file over the same keys: rows are met, windows are read, and the depth stays.
  WriteBatch batch;
  for (uint64_t row = 1; row < kHits * kRowsBetween; row += 3 * kRowsBetween) {
    batch.Put("t", Key(row), "d", "c", "hit");
  }
  BOOST_REQUIRE(world->engine->Write({.durability = Durability::kMemory}, batch).ok());
  world->Reopen(path);
  BOOST_CHECK_EQUAL(CountHits(*world->engine), kHits + kHits / 3);
  BOOST_CHECK_GE(Median(world->traced.TakeDepths()), kMedianMin);

  // A query that ends early begins carefully.
  world->Reopen(path);
  BOOST_CHECK_EQUAL(CountHits(*world->engine, 3), 3u);
  BOOST_CHECK_LE(world->traced.TakeDepths().size(), 2u * 16);
  BOOST_REQUIRE_EQUAL(world->engine->Close().ToString(), "OK");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(IoDepth)

BOOST_AUTO_TEST_CASE(AColdQueryKeepsManyReadsInFlight) {
  SimulatedDisk disk(5);
  TracedEngine world(&disk);
  CheckColdQueries(&world, "db");
}

BOOST_AUTO_TEST_CASE(AColdQueryKeepsManyReadsInFlightThroughRings) {
  std::string reason;
  const std::unique_ptr<base::FileSystem> rings = base::NewUringFileSystem(&reason);
  BOOST_TEST_MESSAGE("back end: " << rings->name() << " " << reason);
  const TemporaryDirectory temporary;
  TracedEngine world(rings.get());
  CheckColdQueries(&world, temporary.Path("db"));
}

// Pages that are new for each read cost more than the reads themselves.
BOOST_AUTO_TEST_CASE(AColdScanReadsIntoTheSameBuffersAgain) {
  constexpr size_t kBuffersMax =
      engine::ReadQueue::kBytesMax / engine::ReadQueue::kReadBytesMax + 1;
  SimulatedDisk disk(6);
  TracedEngine world(&disk);
  world.Open("db");
  BOOST_REQUIRE_EQUAL(world.engine->CreateTable(WideTable()).ToString(), "OK");
  Fill(*world.engine);
  world.Reopen("db");
  world.traced.TakeBuffers(0);
  Result<Cursor> cursor = world.engine->Scan({}, "t", {});
  BOOST_REQUIRE(cursor.has_value());
  uint64_t rows = 0;
  while (cursor->Next()) ++rows;
  BOOST_CHECK_EQUAL(rows, kHits * kRowsBetween);
  const std::vector<const char*> buffers =
      world.traced.TakeBuffers(engine::ReadQueue::kReadBytesMin);
  BOOST_CHECK_GE(buffers.size(), 3 * kBuffersMax);
  BOOST_CHECK_LE(std::set(buffers.begin(), buffers.end()).size(), kBuffersMax);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test

// What merges cost with the number of flushes: rows of random keys come in flushes of equal size,
// and all background work is done between two of them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct Merged {
  double rewritten = 0;  ///< Bytes that merges wrote for each byte that flushes wrote.
  double files = 0, manifest_bytes = 0, segments = 0;
};

/// After n flushes; each n is made once.
const Merged& MergedAfter(uint64_t n) {
  static std::map<uint64_t, Merged> known;
  const auto [at, is_new] = known.try_emplace(n);
  if (!is_new) return at->second;
  TestEngine engine;
  engine.tuning.compaction_runs = engine::Tuning().compaction_runs;
  engine.tuning.memstore_bytes = 1 << 20;
  CreateTable(&engine);
  const auto random = base::NewSeededRandom(1);
  for (uint64_t flush = 0; flush < n; ++flush) {
    WriteBatch batch;
    for (int i = 0; i < 100; ++i) {
      const std::string key = RowKey(random->Next64() % 10'000'000);
      batch.Put("t", key, "d", "c", key);
    }
    BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
    engine.executor.Drain();
  }
  const Statistics counted = engine->GetStatistics();
  BOOST_REQUIRE_GE(counted.flushes, n);
  at->second = {.rewritten = static_cast<double>(counted.compacted_bytes) /
                             static_cast<double>(counted.flushed_bytes),
                .files = static_cast<double>(engine.FileCount()),
                .manifest_bytes = static_cast<double>(FilesNamed(&engine, "manifest-").bytes),
                .segments = static_cast<double>(engine->Info().log_segments)};
  return at->second;
}

BOOST_AUTO_TEST_SUITE(Merges)

BOOST_AUTO_TEST_CASE(BytesAreRewrittenAFewTimes) {
  Check({.cost = "bytes that merges write for each byte flushed, after n flushes",
         .n = 32,
         .bound = AtMostLogarithmic(0, 1),
         .measure = [](uint64_t n) { return MergedAfter(n).rewritten; },
         .kept = Kept::kKnownMiss});
}

BOOST_AUTO_TEST_CASE(FilesStayFew) {
  Check({.cost = "store files of a region after n flushes",
         .n = 32,
         .bound = AtMost(8),
         .measure = [](uint64_t n) { return MergedAfter(n).files; }});
}

BOOST_AUTO_TEST_CASE(ManifestAndLogStaySmall) {
  Check({.cost = "manifest bytes after n flushes of a region",
         .n = 32,
         .bound = AtMost(kManifestBytes),
         .measure = [](uint64_t n) { return MergedAfter(n).manifest_bytes; }});
  Check({.cost = "log segments after n flushes",
         .n = 32,
         .bound = AtMost(2),
         .measure = [](uint64_t n) { return MergedAfter(n).segments; }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

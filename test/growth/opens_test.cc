// What grows with the number of times that a database was opened: nothing should. Crashes are ends
// of the process alone; each life writes, so that it leaves something to replay.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

enum class End { kClose, kKill };

/// Opens and ends the database n times, with a write in each life; leaves it open after one more.
void LiveTimes(TestEngine* engine, uint64_t n, End end) {
  for (uint64_t life = 0; life <= n; ++life) {
    BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
    if (life == 0) BOOST_REQUIRE_EQUAL((**engine).CreateTable(SimpleTable()).ToString(), "OK");
    if (life == n) return;
    BOOST_REQUIRE_EQUAL(engine->Put("row", "c", "1").ToString(), "OK");
    if (end == End::kKill) {
      engine->Kill();
      continue;
    }
    engine->executor.Drain();
    BOOST_REQUIRE_EQUAL(engine->Close().ToString(), "OK");
  }
}

struct Figures {
  uint64_t segments = 0, store_files = 0, files = 0, manifest_bytes = 0;
};

/// Of a database that was opened n times; each is made once.
const Figures& FiguresAfter(uint64_t n, End end) {
  static std::map<std::pair<uint64_t, End>, Figures> known;
  const auto [at, is_new] = known.try_emplace({n, end});
  if (is_new) {
    TestEngine engine;
    LiveTimes(&engine, n, end);
    at->second = {.segments = (*engine).Info().log_segments,
                  .store_files = FilesNamed(&engine, "store-").count,
                  .files = FilesNamed(&engine, "").count,
                  .manifest_bytes = FilesNamed(&engine, "manifest-").bytes};
  }
  return at->second;
}

std::function<double(uint64_t)> After(End end, uint64_t Figures::*figure) {
  return [=](uint64_t n) { return static_cast<double>(FiguresAfter(n, end).*figure); };
}

BOOST_AUTO_TEST_SUITE(Opens)

BOOST_AUTO_TEST_CASE(CleanClosesLeaveLittle) {
  Check({.cost = "log segments after n opens, a write and a close in each",
         .n = 4,
         .bound = AtMost(1),
         .measure = After(End::kClose, &Figures::segments)});
  Check({.cost = "store files after n opens, a write and a close in each",
         .n = 4,
         .bound = AtMost(16),
         .measure = After(End::kClose, &Figures::store_files),
         .kept = Kept::kKnownMiss});
  Check({.cost = "manifest bytes after n opens, a write and a close in each",
         .n = 4,
         .bound = AtMost(kManifestBytes),
         .measure = After(End::kClose, &Figures::manifest_bytes)});
}

BOOST_AUTO_TEST_CASE(CrashesLeaveLittle) {
  Check({.cost = "log segments after n opens, a write and a crash in each",
         .n = 4,
         .bound = AtMost(17),
         .measure = After(End::kKill, &Figures::segments)});
  Check({.cost = "files after n opens, a write and a crash in each",
         .n = 4,
         .bound = AtMost(24),
         .measure = After(End::kKill, &Figures::files)});
  Check({.cost = "manifest bytes after n opens, a write and a crash in each",
         .n = 4,
         .bound = AtMost(kManifestBytes),
         .measure = After(End::kKill, &Figures::manifest_bytes)});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

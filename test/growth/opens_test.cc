// What grows with the number of times that a database was opened: nothing should. Crashes are ends
// of the process alone; each life writes, so that it leaves something to replay.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <utility>

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
  uint64_t bytes_of_life = 0;  ///< Written by each life, in the mean.
};

/// Of a database that was opened n times; each is made once.
const Figures& FiguresAfter(uint64_t n, End end) {
  static std::map<std::pair<uint64_t, End>, Figures> known;
  const auto [at, is_new] = known.try_emplace({n, end});
  if (is_new) {
    TestEngine engine;
    const IoBytes moved = IoBytesOf(&engine, [&] { LiveTimes(&engine, n, end); });
    at->second = {.segments = (*engine).Info().log_segments,
                  .store_files = FilesNamed(&engine, "store-").count,
                  .files = FilesNamed(&engine, "").count,
                  .manifest_bytes = FilesNamed(&engine, "manifest-").bytes,
                  .bytes_of_life = moved.written / n};
  }
  return at->second;
}

std::function<double(uint64_t)> After(End end, uint64_t Figures::*figure) {
  return [=](uint64_t n) { return static_cast<double>(FiguresAfter(n, end).*figure); };
}

/// Beside a table of n rows in one file: what 64 lives do, in the mean, that put a row each.
const IoBytes& LifeBeside(uint64_t n) {
  constexpr uint64_t kLives = 64;
  static std::map<uint64_t, IoBytes> known;
  const auto [at, is_new] = known.try_emplace(n);
  if (is_new) {
    TestEngine engine;
    OpenColdTable(&engine, n, 16);
    const IoBytes moved = IoBytesOf(&engine, [&] {
      for (uint64_t life = 0; life < kLives; ++life) {
        BOOST_REQUIRE_EQUAL(engine.Put(RowKey(life * n / kLives), "c", "1").ToString(), "OK");
        BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
        BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
      }
    });
    BOOST_CHECK_LE(FilesNamed(&engine, "store-").count, 16u);
    at->second = {.read = moved.read / kLives,
                  .written = moved.written / kLives,
                  .read_of_stores = moved.read_of_stores / kLives};
  }
  return at->second;
}

/// Ends n lives in a kill, each with more than a memstore of writes; the most store files seen.
double FilesOfKills(uint64_t n) {
  TestEngine engine;
  engine.tuning.memstore_bytes = 16 << 10;
  engine.tuning.compaction_runs = engine::Tuning().compaction_runs;
  uint64_t most = 0;
  for (uint64_t life = 0; life < n; ++life) {
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    if (life == 0) BOOST_REQUIRE_EQUAL(engine->CreateTable(SimpleTable()).ToString(), "OK");
    for (uint64_t row = 0; row < 40; ++row) {
      const std::string key = RowKey(life * 40 + row);
      BOOST_REQUIRE_EQUAL(engine.Put(key, "c", std::string(1000, 'x')).ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");  // What waits, and nothing else runs.
    most = std::max(most, engine.FileCount());
    engine.Kill();
  }
  return static_cast<double>(most);
}

/// Of the log, by an open after a kill at n KiB of frames in one segment of 64 MiB.
double LogReadAfterKill(uint64_t n) {
  TestEngine engine;
  engine.tuning = {};
  CreateTable(&engine);
  for (uint64_t row = 0; row < n / 4; ++row) {
    BOOST_REQUIRE_EQUAL(engine.Put(RowKey(row), "payload", std::string(4000, 'x')).ToString(),
                        "OK");
    engine.executor.Drain();
  }
  BOOST_REQUIRE_EQUAL((*engine).Info().log_segments, 1u);
  engine.Kill();
  const IoBytes moved =
      IoBytesOf(&engine, [&] { BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK"); });
  return static_cast<double>(moved.read_of_log);
}

BOOST_AUTO_TEST_SUITE(Opens)

// The file is longer than its frames, by a quarter of them and at least 32 KiB. The frames are read
// once more, to be written again before they are synced (engine/storage/local_start.cc).
BOOST_AUTO_TEST_CASE(WhatTheLogIsAheadOfItsFramesIsReadOnce) {
  Check({.cost = "bytes read of the log by an open after a kill, n KiB of frames in it",
         .n = 1024,
         .bound = AtMostLinear(64 << 10, 2400),
         .measure = LogReadAfterKill});
}

BOOST_AUTO_TEST_CASE(CleanClosesLeaveLittle) {
  Check({.cost = "log segments after n opens, a write and a close in each",
         .n = 4,
         .bound = AtMost(1),
         .measure = After(End::kClose, &Figures::segments)});
  Check({.cost = "store files after n opens, a write and a close in each",
         .n = 4,
         .bound = AtMost(16),
         .measure = After(End::kClose, &Figures::store_files)});
  Check({.cost = "bytes written for each of n opens, a write and a close in each",
         .n = 16,
         .bound = AtMost(64 << 10),
         .measure = After(End::kClose, &Figures::bytes_of_life)});
  Check({.cost = "manifest bytes after n opens, a write and a close in each",
         .n = 4,
         .bound = AtMost(kManifestBytes),
         .measure = After(End::kClose, &Figures::manifest_bytes)});
}

BOOST_AUTO_TEST_CASE(AShortLifeBesideALargeTableIsCheap) {
  Check({.cost = "bytes written by an open, a put and a close beside n rows",
         .n = 512,
         .bound = AtMost(64 << 10),
         .measure = [](uint64_t n) { return static_cast<double>(LifeBeside(n).written); }});
  Check({.cost = "bytes read of store files by an open, a put and a close beside n rows",
         .n = 512,
         .bound = AtMost(128 << 10),
         .measure = [](uint64_t n) { return static_cast<double>(LifeBeside(n).read_of_stores); }});
}

BOOST_AUTO_TEST_CASE(KillsBeforeMergesLeaveFewFiles) {
  Check({.cost = "store files at most during n lives that flush and are killed",
         .n = 8,
         .bound = AtMost(16),
         .measure = FilesOfKills});
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

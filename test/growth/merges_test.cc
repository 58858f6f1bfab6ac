// What merges cost with the number of flushes: rows of random keys come in flushes of equal size,
// and all background work is done between two of them.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/merges_in_time.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct InputCounter final : EventListener {
  void OnCompactionEnd(const CompactionEvent& event) override {
    files_max = std::max(files_max, event.input_files);
  }
  uint64_t files_max = 0;
};

struct Merged {
  double rewritten = 0;  ///< Bytes that merges wrote for each byte that flushes wrote.
  double files = 0, files_mean = 0, files_max = 0;
  double inputs_max = 0;
  double space = 0;  ///< Bytes of store files at their peak, for each that one merge of all leaves.
  double manifest_bytes = 0, segments = 0;
};

constexpr uint64_t kRowsPerFlush = 100;

void FlushRandomRows(TestEngine* engine, base::RandomSource* random, uint64_t keys) {
  WriteBatch batch;
  for (uint64_t i = 0; i < kRowsPerFlush; ++i) {
    const std::string key = RowKey(random->Next64() % keys);
    batch.Put("t", key, "d", "c", key);
    std::string payload(100, 0);  // Which cannot be made smaller.
    for (char& byte : payload) byte = static_cast<char>(random->Next64());
    batch.Put("t", key, "d", "payload", payload);
  }
  BOOST_REQUIRE_EQUAL(engine->Write(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK");
  engine->executor.Drain();
}

double StoredBytes(TestEngine* engine) {
  double bytes = 0;
  const DatabaseInfo info = (**engine).Info();
  for (const FileInfo& file : info.tables[0].regions[0].files) {
    bytes += static_cast<double>(file.size_bytes);
  }
  return bytes;
}

/// After n flushes of rows whose keys are drawn from a fixed number; each is made once.
const Merged& MergedAfter(uint64_t n, uint64_t keys = 10'000'000) {
  static std::map<std::pair<uint64_t, uint64_t>, Merged> known;
  const auto [at, is_new] = known.try_emplace({n, keys});
  Merged& merged = at->second;
  if (!is_new) return merged;
  TestEngine engine;
  const auto counter = std::make_shared<InputCounter>();
  engine.options.listener = counter;
  engine.tuning.compaction_runs = engine::Tuning().compaction_runs;
  engine.tuning.memstore_bytes = 1 << 20;
  CreateTable(&engine);
  const auto random = base::NewSeededRandom(1);
  for (uint64_t flush = 0; flush < n; ++flush) {
    FlushRandomRows(&engine, random.get(), keys);
    merged.files = static_cast<double>(engine.FileCount());
    merged.files_mean += merged.files / static_cast<double>(n);
    merged.files_max = std::max(merged.files_max, merged.files);
    merged.space = std::max(merged.space, StoredBytes(&engine));
  }
  const Statistics counted = engine->GetStatistics();
  BOOST_REQUIRE_GE(counted.flushes, n);
  merged.rewritten =
      static_cast<double>(counted.compacted_bytes) / static_cast<double>(counted.flushed_bytes);
  merged.inputs_max = static_cast<double>(counter->files_max);
  merged.manifest_bytes = static_cast<double>(FilesNamed(&engine, "manifest-").bytes);
  merged.segments = static_cast<double>(engine->Info().log_segments);
  BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
  merged.space /= StoredBytes(&engine);
  return merged;
}

std::function<double(uint64_t)> After(double Merged::*figure) {
  return [=](uint64_t n) { return MergedAfter(n).*figure; };
}

/// A table whose one row keeps all versions, in the files that Flush makes.
class WideRow {
 public:
  WideRow() : random_(base::NewSeededRandom(1)) {
    engine_.tuning.compaction_runs = 100;
    engine_.tuning.memstore_bytes = 64 << 20;
    engine_.tuning.memstores_total_bytes = 256 << 20;
    BOOST_REQUIRE_EQUAL(engine_.Open().ToString(), "OK");
    constexpr uint32_t kAll = std::numeric_limits<uint32_t>::max();
    BOOST_REQUIRE_EQUAL(engine_->CreateTable(SimpleTable(kAll)).ToString(), "OK");
  }

  void Put(const std::string& qualifier, std::optional<int64_t> timestamp = {}) {
    std::string value(100, 0);  // Which cannot be made smaller.
    for (char& byte : value) byte = static_cast<char>(random_->Next64());
    batch_.Put("t", "row", "d", qualifier, value, timestamp);
  }
  void DeleteFamily() {
    batch_.DeleteFamily("t", "row", "d");
    Write();
  }
  void Flush() {
    Write();
    BOOST_REQUIRE_EQUAL(engine_->Flush("t").ToString(), "OK");
  }
  /// What the merge of all files reads of them.
  double BytesReadByAMerge() {
    BOOST_REQUIRE_EQUAL(engine_.FileCount(), 2u);
    const IoBytes bytes =
        IoBytesOf(&engine_, [&] { BOOST_REQUIRE_EQUAL(engine_->Compact("t").ToString(), "OK"); });
    BOOST_REQUIRE_EQUAL(engine_.FileCount(), 1u);
    return static_cast<double>(bytes.read_of_stores);
  }
  uint64_t CountCells() {
    ReadOptions read;
    read.versions = std::numeric_limits<uint32_t>::max();
    const auto row = engine_->Get(read, "t", "row");
    BOOST_REQUIRE_EQUAL(row.status().ToString(), "OK");
    BOOST_REQUIRE(row->has_value());
    return (*row)->view().cells().size();
  }

 private:
  void Write() {
    BOOST_REQUIRE_EQUAL(engine_.Write(batch_).ToString(), "OK");
    batch_.Clear();
  }

  TestEngine engine_;
  WriteBatch batch_;
  std::unique_ptr<base::RandomSource> random_;
};

/// A table of `n` rows in one file whose time to live is over, and what letting go of it reads and
/// writes.
IoBytes ExpiryOf(uint64_t n) {
  constexpr int64_t kTtl = 100'000'000;
  TestEngine engine;
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->CreateTable(SimpleTable(1, kTtl)).ToString(), "OK");
  PutRows(&engine, n, 16);
  BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
  engine.executor.Drain();
  BOOST_REQUIRE_EQUAL(engine.FileCount(), 1u);
  engine.clock.Advance(2 * kTtl);
  const IoBytes io = IoBytesOf(&engine, [&engine] { engine.executor.Drain(); });
  BOOST_REQUIRE_EQUAL(engine.FileCount(), 0u);
  return io;
}

/// Bytes of store files for each that one merge of all leaves: rows of 500 bytes are written once,
/// and then n flushes put short values in the place of some.
double SpaceOfShrunkRows(uint64_t n) {
  constexpr uint64_t kRows = 2000, kReplacedEach = 200;
  TestEngine engine;
  engine.tuning.compaction_runs = engine::Tuning().compaction_runs;
  engine.tuning.memstore_bytes = 4 << 20;
  CreateTable(&engine);
  const auto random = base::NewSeededRandom(1);
  const auto flush_rows = [&](uint64_t rows, size_t bytes, const auto& next_row) {
    WriteBatch batch;
    for (uint64_t i = 0; i < rows; ++i) {
      std::string value(bytes, 0);  // Which cannot be made smaller.
      for (char& byte : value) byte = static_cast<char>(random->Next64());
      batch.Put("t", RowKey(next_row(i)), "d", "payload", value);
    }
    BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
    engine.executor.Drain();
  };
  flush_rows(kRows, 500, [](uint64_t i) { return i; });
  for (uint64_t flush = 0; flush < n; ++flush) {
    flush_rows(kReplacedEach, 10, [&](uint64_t) { return random->Next64() % kRows; });
  }
  const double stored = StoredBytes(&engine);
  BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
  return stored / StoredBytes(&engine);
}

BOOST_AUTO_TEST_SUITE(Merges)

BOOST_AUTO_TEST_CASE(BytesAreRewrittenAFewTimes) {
  Check({.cost = "bytes that merges write for each byte flushed, after n flushes",
         .n = 16,
         .bound = AtMostLogarithmic(0, 0.75),
         .measure = After(&Merged::rewritten)});
  BOOST_CHECK_LE(MergedAfter(64).rewritten, 4.5);
}

BOOST_AUTO_TEST_CASE(ALoadInKeyOrderRewritesNothing) {
  Check({.cost = "bytes that merges write for each byte flushed, after n flushes of ascending keys",
         .n = 16,
         .bound = AtMost(0),
         .measure = [](uint64_t n) {
           TestEngine engine;
           engine.tuning.compaction_runs = engine::Tuning().compaction_runs;
           engine.tuning.join_bytes = 4096;
           engine.tuning.memstore_bytes = 1 << 20;
           CreateTable(&engine);
           const auto random = base::NewSeededRandom(1);
           for (uint64_t flush = 0; flush < n; ++flush) {
             WriteBatch batch;
             std::string payload(8000, 0);  // Which cannot be made smaller.
             for (char& byte : payload) byte = static_cast<char>(random->Next64());
             batch.Put("t", RowKey(flush), "d", "payload", payload);
             BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
             BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
             engine.executor.Drain();
           }
           const Statistics counted = engine->GetStatistics();
           BOOST_REQUIRE_GE(counted.flushes, n);
           return static_cast<double>(counted.compacted_bytes) /
                  static_cast<double>(counted.flushed_bytes);
         }});
}

BOOST_AUTO_TEST_CASE(FilesStayFew) {
  Check({.cost = "store files of a region in the mean of n flushes",
         .n = 16,
         .bound = AtMost(6),
         .measure = After(&Merged::files_mean)});
  Check({.cost = "store files of a region at most during n flushes",
         .n = 16,
         .bound = AtMost(8),
         .measure = After(&Merged::files_max)});
}

// The executor runs nothing before a writer waits, so merges always fall behind.
BOOST_AUTO_TEST_CASE(FilesStayFewBehindMerges) {
  Check({.cost = "store files of a region at most during n flushes that outrun its merges",
         .n = 16,
         .bound = AtMost(16),
         .measure = [](uint64_t n) {
           TestEngine engine;
           engine.tuning.compaction_runs = engine::Tuning().compaction_runs;
           CreateTable(&engine);
           uint64_t most = 0;
           for (uint64_t flush = 0; flush < n; ++flush) {
             WriteBatch batch;
             batch.Put("t", RowKey(flush), "d", "c", "value");
             BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
             BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
             most = std::max(most, engine.FileCount());
           }
           return static_cast<double>(most);
         }});
}

BOOST_AUTO_TEST_CASE(AMergeTakesFewFiles) {
  Check({.cost = "inputs of the largest merge of n flushes",
         .n = 16,
         .bound = AtMost(16),
         .measure = After(&Merged::inputs_max)});
}

// The row is wide: it has 100 KB and 1.6 MB.
BOOST_AUTO_TEST_CASE(ACellOfAWideRowIsReadOnce) {
  Check({.cost = "bytes that a merge reads for each of n versions of a column, in two files",
         .n = 1024,
         .bound = AtMost(300),
         .measure = [](uint64_t n) {
           WideRow row;
           for (const uint64_t first : {1, 2}) {  // The versions alternate.
             for (uint64_t i = first; i <= n; i += 2) row.Put("v", static_cast<int64_t>(i));
             row.Flush();
           }
           const double bytes = row.BytesReadByAMerge();
           BOOST_REQUIRE_EQUAL(row.CountCells(), n);
           return bytes / static_cast<double>(n);
         }});
  Check({.cost = "bytes that a merge reads for each of n columns, n / 2 since a family delete",
         .n = 1024,
         .bound = AtMost(300),
         .measure = [](uint64_t n) {
           WideRow row;
           for (uint64_t i = 0; i < n / 2; ++i) row.Put(RowKey(2 * i));
           row.Flush();
           row.DeleteFamily();
           for (uint64_t i = 0; i < n / 2; ++i) row.Put(RowKey(2 * i + 1));
           row.Flush();
           const double bytes = row.BytesReadByAMerge();
           BOOST_REQUIRE_EQUAL(row.CountCells(), n / 2);
           return bytes / static_cast<double>(n);
         }});
}

BOOST_AUTO_TEST_CASE(WhatHasExpiredIsNotRead) {
  Check({.cost = "bytes read to let go of a file of n rows that have expired",
         .n = 512,
         .bound = AtMost(0),
         .measure = [](uint64_t n) { return static_cast<double>(ExpiryOf(n).read); }});
  Check({.cost = "bytes written to let go of a file of n rows that have expired",
         .n = 512,
         .bound = AtMost(4096),
         .measure = [](uint64_t n) { return static_cast<double>(ExpiryOf(n).written); }});
}

BOOST_AUTO_TEST_CASE(OverwrittenRowsTakeLittleSpace) {
  Check({.cost = "bytes of store files for each live one, each key written four times in n flushes",
         .n = 64,
         .bound = AtMost(1.5),
         .measure = [](uint64_t n) { return MergedAfter(n, n * kRowsPerFlush / 4).space; }});
}

BOOST_AUTO_TEST_CASE(ReplacedRowsTakeLittleSpace) {
  Check({.cost = "bytes of store files for each live one, after n flushes of values that shrink",
         .n = 16,
         .bound = AtMost(2),
         .measure = SpaceOfShrunkRows});
}

BOOST_AUTO_TEST_CASE(ManifestAndLogStaySmall) {
  Check({.cost = "manifest bytes after n flushes of a region",
         .n = 16,
         .bound = AtMost(kManifestBytes),
         .measure = After(&Merged::manifest_bytes)});
  Check({.cost = "log segments after n flushes",
         .n = 16,
         .bound = AtMost(2),
         .measure = After(&Merged::segments)});
}

// Simulated: eight flushes' bytes are merged in the time in which one comes.
BOOST_AUTO_TEST_CASE(RunsOfARegionWhileItIsMerged) {
  Check({.cost = "runs of a region of n flushes whose merges take time, simulated",
         .n = 256,
         .bound = AtMost(14),
         .measure = [](uint64_t n) {
           return static_cast<double>(SimulateMerges({.flushes = n}).runs_max);
         }});
  Check({.cost = "flushes for whose time writers wait for merges at once, after n, simulated",
         .n = 256,
         .bound = AtMost(0),
         .measure = [](uint64_t n) { return SimulateMerges({.flushes = n}).waited_max; }});
  Check({.cost = "runs of one of n regions of 64 flushes whose merges take time, simulated",
         .n = 4,
         .bound = AtMost(14),
         .measure = [](uint64_t n) {
           const TimedLoad load{.flushes = 64 * n, .regions = n};
           return static_cast<double>(SimulateMerges(load).runs_max);
         }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

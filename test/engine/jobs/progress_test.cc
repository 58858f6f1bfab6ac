// What an operator sees of a database that is busy: which writes wait, for what and since when, and
// how far flushes and merges have come.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

/// Looks at the database whenever a job begins.
struct Onlooker final : EventListener {
  void OnFlushBegin(const FlushEvent&) override { look(); }
  void OnCompactionBegin(const CompactionEvent&) override { look(); }
  void OnStallEnd(const StallEvent& event) override { stall_micros += event.micros; }

  std::function<void()> look = [] {};
  uint64_t stall_micros = 0;
};

struct ProgressFixture : TestEngine {
  ProgressFixture() {
    options.listener = onlooker;
    tuning.compaction_runs = engine::Tuning().compaction_runs;
    tuning.memstore_bytes = 16 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    tuning.log_segment_bytes = 16 << 20;
  }
  ~ProgressFixture() {
    StopLooking();
    disk.control().SetHook({});
  }
  engine::Engine& engine() { return **this; }

  void Start() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable()).ToString(), "OK");
    onlooker->look = [this] {
      looks.push_back(engine().Info());
      clock.Advance(kJobMicros);
    };
  }
  void StopLooking() const {
    onlooker->look = [] {};
  }
  /// Rows that no compression makes smaller.
  Status PutRows(uint64_t first, uint64_t count, size_t value_bytes, bool no_wait = false) {
    WriteBatch batch;
    for (uint64_t i = first; i < first + count; ++i) {
      std::string value(value_bytes, 0);
      for (char& byte : value) byte = static_cast<char>(random.Below(256));
      batch.Put("t", std::to_string(1'000'000 + i), "d", "q", value);
    }
    return engine().Write({.durability = Durability::kWritten, .no_wait = no_wait}, batch);
  }
  /// The jobs that run at each write to a store file while `call` does.
  std::vector<JobInfo> JobsDuring(const std::function<Status()>& call) {
    std::vector<JobInfo> jobs;
    bool is_looking = false;
    disk.control().SetHook([&](const DiskEvent& event) {
      if (event.operation != DiskOperation::kWrite || !event.name.starts_with("store-")) return;
      if (std::exchange(is_looking, true)) return;
      for (JobInfo& job : engine().Info().jobs) jobs.push_back(std::move(job));
      is_looking = false;
    });
    const Status status = call();
    disk.control().SetHook({});
    BOOST_REQUIRE_EQUAL(status.ToString(), "OK");
    return jobs;
  }

  static constexpr int64_t kJobMicros = 5000;  ///< What each job takes while it is looked at.
  const std::shared_ptr<Onlooker> onlooker = std::make_shared<Onlooker>();
  std::vector<DatabaseInfo> looks;
  TestRandom random{"progress"};
};

// One job, as it was seen again and again: it comes from nowhere to the end of its input.
void CheckProgress(const std::vector<JobInfo>& seen, const JobInfo& expected) {
  BOOST_REQUIRE_GE(seen.size(), 2u);
  uint64_t before = 0;
  bool was_between = false;
  for (const JobInfo& job : seen) {
    BOOST_CHECK(job.kind == expected.kind);
    BOOST_CHECK_EQUAL(job.table, "t");
    BOOST_CHECK_EQUAL(job.region_id, 1u);
    BOOST_CHECK_EQUAL(job.input_bytes, expected.input_bytes);
    BOOST_CHECK_EQUAL(job.since_micros, expected.since_micros);
    BOOST_CHECK_GE(job.read_bytes, before);
    before = job.read_bytes;
    was_between |= before > 0 && before < job.input_bytes;
  }
  BOOST_CHECK(was_between);
  BOOST_CHECK_EQUAL(before, expected.input_bytes);
}

BOOST_FIXTURE_TEST_SUITE(Progress, ProgressFixture)

BOOST_AUTO_TEST_CASE(AWriteThatWaitsForFlushesIsShown) {
  tuning.memstore_bytes = 256 << 10;
  Start();
  uint64_t i = 0;
  while (PutRows(i++, 1, 20'000, true).ok()) BOOST_REQUIRE_LT(i, 1000u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().stopped.total().writes, 0u);
  const int64_t began = engine().Info().time_micros;
  BOOST_REQUIRE_EQUAL(PutRows(i, 1, 20'000).ToString(), "OK");

  BOOST_REQUIRE_GE(looks.size(), 2u);
  for (const DatabaseInfo& info : looks) {
    BOOST_CHECK_EQUAL(info.stopped.memstores.waiting, 1u);
    BOOST_CHECK_EQUAL(info.stopped.memstores.since_micros, began);
    BOOST_CHECK_EQUAL(info.stopped.total().waiting, 1u);
    BOOST_CHECK_EQUAL(info.stop_reason,
                      "region 1 of table 't' has 4 memstores waiting to be flushed");
  }
  const DatabaseInfo after = engine().Info();
  BOOST_CHECK_EQUAL(after.stopped.total().waiting, 0u);
  BOOST_CHECK_EQUAL(after.stopped.total().since_micros, 0);
  BOOST_CHECK_EQUAL(after.stop_reason, "");
  const Statistics statistics = engine().GetStatistics();
  BOOST_CHECK_EQUAL(statistics.stalls, 1u);
  BOOST_CHECK_EQUAL(statistics.stopped.memstores.writes, 1u);
  BOOST_CHECK_EQUAL(statistics.stopped.memstores.micros, looks.size() * kJobMicros);
  BOOST_CHECK_EQUAL(statistics.stall_micros, statistics.stopped.memstores.micros);
  BOOST_CHECK_EQUAL(statistics.stall_micros, onlooker->stall_micros);
}

BOOST_AUTO_TEST_CASE(AWriteThatWaitsForMemoryIsShown) {
  tuning.memstore_bytes = 64 << 20;
  tuning.memstores_total_bytes = 1 << 20;
  Start();
  uint64_t i = 0;
  while (PutRows(i++, 1, 20'000, true).ok()) BOOST_REQUIRE_LT(i, 1000u);
  BOOST_REQUIRE_EQUAL(PutRows(i, 1, 20'000).ToString(), "OK");
  BOOST_REQUIRE(!looks.empty());
  BOOST_CHECK_EQUAL(looks[0].stopped.memory.waiting, 1u);
  BOOST_CHECK(looks[0].stop_reason.starts_with("the memstores hold "));
  BOOST_CHECK_EQUAL(engine().GetStatistics().stopped.memory.writes, 1u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().stopped.total().waiting, 0u);
}

// The executor runs nothing before a writer waits.
BOOST_AUTO_TEST_CASE(TotalsByCauseAddUp) {
  Start();
  for (uint64_t i = 0; i < 60; ++i) {
    BOOST_REQUIRE_EQUAL(PutRows(i * 10, 10, 200).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK");
  }
  uint64_t waited = 0;
  for (const DatabaseInfo& info : looks) {
    if (info.stopped.runs.waiting == 0) continue;
    ++waited;
    BOOST_CHECK(info.stop_reason.ends_with(" runs of store files waiting to be merged"));
  }
  const Statistics statistics = engine().GetStatistics();
  BOOST_CHECK_GT(waited, 0u);
  BOOST_CHECK_GT(statistics.stopped.runs.writes, 0u);
  BOOST_CHECK_GT(statistics.delayed.runs.writes, 0u);
  BOOST_CHECK_GE(statistics.delayed.runs.micros, 1000 * statistics.delayed.runs.writes);
  BOOST_CHECK_EQUAL(statistics.stalls, statistics.stopped.memory.writes +
                                           statistics.stopped.memstores.writes +
                                           statistics.stopped.runs.writes);
  BOOST_CHECK_EQUAL(statistics.delayed_writes, statistics.delayed.memory.writes +
                                                   statistics.delayed.memstores.writes +
                                                   statistics.delayed.runs.writes);
  BOOST_CHECK_EQUAL(statistics.stall_micros, statistics.stopped.total().micros);
  BOOST_CHECK_EQUAL(statistics.stall_micros, onlooker->stall_micros);
  BOOST_CHECK_EQUAL(statistics.delayed.total().waiting, 0u);
}

BOOST_AUTO_TEST_CASE(TwoWaitingMemstoresDelayByThatCause) {
  tuning.memstore_bytes = 256 << 10;
  Start();
  uint64_t i = 0;
  while (engine().Info().tables[0].regions[0].memstores < 3) {
    BOOST_REQUIRE(PutRows(i++, 1, 20'000, true).ok());
  }
  BOOST_CHECK_EQUAL(engine().GetStatistics().delayed.total().writes, 0u);
  BOOST_REQUIRE(PutRows(i, 1, 20'000).ok());
  const WaitsByCause delayed = engine().GetStatistics().delayed;
  BOOST_CHECK_EQUAL(delayed.memstores.writes, 1u);
  BOOST_CHECK_EQUAL(delayed.memstores.micros, 1000u);
  BOOST_CHECK_EQUAL(delayed.total().writes, 1u);
  BOOST_CHECK_EQUAL(delayed.total().waiting, 0u);
}

BOOST_AUTO_TEST_CASE(AFlushShowsItsProgress) {
  Start();
  StopLooking();
  BOOST_REQUIRE_EQUAL(PutRows(0, 8000, 1000).ToString(), "OK");
  BOOST_CHECK(engine().Info().jobs.empty());
  clock.Advance(77);
  const int64_t began = engine().Info().time_micros;
  const std::vector<JobInfo> seen = JobsDuring([&] { return engine().Flush("t"); });
  BOOST_REQUIRE(!seen.empty());
  BOOST_CHECK_GT(seen[0].input_bytes, 8'000'000u);
  CheckProgress(
      seen, {.kind = JobKind::kFlush, .input_bytes = seen[0].input_bytes, .since_micros = began});
  BOOST_CHECK(engine().Info().jobs.empty());
}

BOOST_AUTO_TEST_CASE(AMergeShowsItsProgress) {
  Start();
  StopLooking();
  for (uint64_t run = 0; run < 3; ++run) {
    BOOST_REQUIRE_EQUAL(PutRows(run * 1000, 4000, 1000).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK");
  }
  uint64_t bytes = 0;
  const RegionInfo region = engine().Info().tables[0].regions[0];
  for (const FileInfo& file : region.files) bytes += file.size_bytes;
  clock.Advance(77);
  const int64_t began = engine().Info().time_micros;
  const std::vector<JobInfo> seen = JobsDuring([&] { return engine().Compact("t"); });
  CheckProgress(seen, {.kind = JobKind::kMerge, .input_bytes = bytes, .since_micros = began});
  BOOST_CHECK(engine().Info().jobs.empty());
}

BOOST_AUTO_TEST_CASE(AFailedMergeIsNotShownAnyMore) {
  Start();
  for (uint64_t run = 0; run < 2; ++run) {
    BOOST_REQUIRE_EQUAL(PutRows(run, 1, 100).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK");
  }
  disk.control().InjectFault({.operations = {DiskOperation::kDataSync}});
  BOOST_CHECK_EQUAL(engine().Compact("t").code(), StatusCode::kIoError);
  disk.control().ClearFaults();
  BOOST_CHECK(engine().Info().jobs.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// The limit of merges in the background: how long they take by it, when it rises, and who does not
// wait for them.
#define BOOST_TEST_DYN_LINK
#include "engine/runtime/merge_pace.h"

#include <tandem/event_listener.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/rate_limit.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using engine::MergePace;
using engine::RateLimit;

struct RateLimitFixture {
  int64_t MicrosOf(uint64_t bytes) {
    const int64_t before = clock.MonotonicMicros();
    BOOST_REQUIRE(limit.Pass(bytes, [this]() -> Result<uint32_t> { return factor; }).ok());
    return clock.MonotonicMicros() - before;
  }

  ManualClock clock;
  RateLimit limit{&clock, 1'000'000};
  uint32_t factor = 1;
};

BOOST_FIXTURE_TEST_SUITE(RateLimitSuite, RateLimitFixture)

BOOST_AUTO_TEST_CASE(BytesTakeTheirTime) {
  BOOST_TEST(MicrosOf(1000) == 1000);
  int64_t micros = 0;
  for (int i = 0; i < 100; ++i) micros += MicrosOf(12'345);
  BOOST_TEST(micros == 1'234'500);
}

BOOST_AUTO_TEST_CASE(NothingIsSavedUp) {
  clock.Advance(10'000'000);
  BOOST_TEST(MicrosOf(5000) == 5000);
  clock.Advance(10'000'000);
  BOOST_TEST(MicrosOf(5000) == 5000);
  // But what passes between two calls counts.
  (void)limit.Pass(1'000'000, []() -> Result<uint32_t> { return Status::Cancelled("no"); });
  clock.Advance(400'000);
  BOOST_TEST(MicrosOf(1000) == 601'000);
}

BOOST_AUTO_TEST_CASE(AFactorMakesItFaster) {
  factor = 4;
  BOOST_TEST(MicrosOf(1'000'000) == 250'000);
  factor = RateLimit::kNoLimit;
  BOOST_TEST(MicrosOf(1'000'000'000) == 0);
  factor = 1;
  BOOST_TEST(MicrosOf(1000) == 1000);  // That is over.
}

BOOST_AUTO_TEST_CASE(TheFactorMayChangeMeanwhile) {
  const int64_t began = clock.MonotonicMicros();
  const auto rises = [&]() -> Result<uint32_t> {
    return clock.MonotonicMicros() - began < 500'000 ? 1 : RateLimit::kNoLimit;
  };
  BOOST_TEST(limit.Pass(3'000'000, rises).ok());
  BOOST_TEST(clock.MonotonicMicros() - began == 500'000);
}

BOOST_AUTO_TEST_CASE(AnErrorEndsTheWait) {
  int asked = 0;
  const auto ends = [&]() -> Result<uint32_t> {
    if (++asked == 3) return Status::Cancelled("enough");
    return 1;
  };
  const int64_t began = clock.MonotonicMicros();
  BOOST_TEST((limit.Pass(3'000'000, ends).code() == StatusCode::kCancelled));
  BOOST_TEST(clock.MonotonicMicros() - began == 40'000);
}

BOOST_AUTO_TEST_CASE(WithoutALimitNobodyIsAsked) {
  RateLimit none(&clock, 0);
  const auto refuses = []() -> Result<uint32_t> { return Status::Cancelled("asked"); };
  BOOST_TEST(none.Pass(uint64_t{1} << 60, refuses).ok());
}

BOOST_AUTO_TEST_SUITE_END()

struct MergeEnds final : EventListener {
  explicit MergeEnds(ManualClock* the_clock) : clock(*the_clock) {}
  void OnCompactionEnd(const CompactionEvent&) override {
    micros.push_back(clock.MonotonicMicros());
  }
  ManualClock& clock;
  std::vector<int64_t> micros;
};

struct PacedEngine : TestEngine {
  PacedEngine() {
    options.listener = ends;
    tuning.memstore_bytes = 1 << 20;
    tuning.memstores_total_bytes = 8 << 20;
    tuning.compaction_runs = 8;
    options.compaction_bytes_per_second = 10'000;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable()).ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }

  /// A run of rows that zstd cannot make smaller.
  void FlushRows(uint64_t first, uint64_t count) {
    WriteBatch batch;
    for (uint64_t i = first; i < first + count; ++i) {
      std::string value(200, 0);
      for (char& byte : value) byte = static_cast<char>(random.Below(256));
      batch.Put("t", std::to_string(1'000'000 + i), "d", "q", value);
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK");
  }
  /// Four runs of about the same size, which are due to become one.
  void FlushFour() {
    for (uint64_t i = 0; i < 4; ++i) FlushRows(100 * i, 100);
    BOOST_REQUIRE_EQUAL(FileCount(), 4u);
  }
  double SecondsOf(const std::function<void()>& work) {
    const int64_t before = clock.MonotonicMicros();
    work();
    return static_cast<double>(clock.MonotonicMicros() - before) / 1e6;
  }
  double SecondsOfDueMerges() {
    return SecondsOf([this] { executor.Drain(); });
  }
  /// A task of high priority, which a merge that waits then runs.
  void RunAfter(int64_t micros, std::function<void()> work) {
    executor.ScheduleAfter(micros, base::NewJob(base::Priority::kHigh, std::move(work)));
  }
  Statistics Counted() { return engine().GetStatistics(); }

  std::shared_ptr<MergeEnds> ends = std::make_shared<MergeEnds>(&clock);
  TestRandom random{"merge pace"};
};

BOOST_FIXTURE_TEST_SUITE(MergePaceSuite, PacedEngine)

BOOST_AUTO_TEST_CASE(ADueMergeTakesItsTime) {
  BOOST_TEST(SecondsOf([this] { FlushFour(); }) == 0);
  const double seconds = SecondsOfDueMerges();
  const double expected = static_cast<double>(Counted().compaction_input_bytes) / 10'000;
  BOOST_TEST(Counted().compactions == 1u);
  BOOST_TEST(FileCount() == 1u);
  BOOST_TEST(expected > 8);
  BOOST_TEST(seconds > expected * 0.8);
  BOOST_TEST(seconds <= expected);
  BOOST_TEST(static_cast<double>(Counted().compaction_paced_micros) / 1e6 == seconds);
}

BOOST_AUTO_TEST_CASE(ByHandNothingWaits) {
  FlushFour();
  BOOST_TEST(SecondsOf([this] { BOOST_REQUIRE(engine().Compact("t").ok()); }) == 0);
  BOOST_TEST(FileCount() == 1u);
  BOOST_TEST(Counted().compaction_paced_micros == 0u);
}

BOOST_AUTO_TEST_CASE(ACloseMergesAtOnce) {
  FlushFour();
  BOOST_TEST(SecondsOf([this] { BOOST_REQUIRE(Close().ok()); }) == 0);
  BOOST_REQUIRE(Open().ok());
  BOOST_TEST(FileCount() == 1u);
}

BOOST_AUTO_TEST_CASE(AFlushRunsWithinAMergeThatWaits) {
  FlushFour();
  const int64_t began = clock.MonotonicMicros();
  int64_t flushed_at = 0;
  RunAfter(2'000'000, [&] {
    FlushRows(1000, 10);
    flushed_at = clock.MonotonicMicros();
  });
  // Five runs: from then on it takes half as long.
  const double seconds = SecondsOfDueMerges();
  BOOST_TEST(seconds > 4);
  BOOST_TEST(seconds < 7);
  BOOST_TEST(flushed_at - began >= 2'000'000);
  BOOST_TEST(flushed_at - began < 2'100'000);
  BOOST_TEST(Counted().compactions == 1u);
}

BOOST_AUTO_TEST_CASE(TheLimitRisesWithTheRuns) {
  FlushFour();
  RunAfter(1'000'000, [&] {
    for (uint64_t i = 0; i < 4; ++i) FlushRows(1000 + 10 * i, 10);
  });
  // With eight runs there is none: the rest of the first merge takes no time.
  const int64_t began = clock.MonotonicMicros();
  executor.Drain();
  BOOST_REQUIRE(!ends->micros.empty());
  BOOST_TEST(ends->micros[0] - began >= 1'000'000);
  BOOST_TEST(ends->micros[0] - began < 1'100'000);
}

BOOST_AUTO_TEST_CASE(ADropOfTheTableDoesNotWait) {
  FlushFour();
  RunAfter(1'000'000, [&] { BOOST_REQUIRE_EQUAL(engine().DropTable("t").ToString(), "OK"); });
  const double seconds = SecondsOfDueMerges();
  BOOST_TEST(seconds >= 1);
  BOOST_TEST(seconds < 1.1);
  BOOST_TEST(Counted().compactions == 0u);
  BOOST_TEST(Counted().failed_compactions == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

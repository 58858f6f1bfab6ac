// One allocation after the other fails in a writer and in the background jobs, alone or with all
// later ones of the same call or job. No job ends in an exception, and once there is memory again,
// the jobs are done after some time without another call.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/background.h"
#include "test/allocations/allocations.h"
#include "test/reliability/machine.h"
#include "test/reliability/pausing_file_system.h"
#include "test/support/print.h"
#include "tools/generator/tuning.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::reliability {
namespace {

constexpr int64_t kLaterMicros = 20'000'000;  // After every time of a retry.
constexpr int64_t kTried = 1'000;             // Allocations that fail, of all.

engine::Tuning Tuning() {
  engine::Tuning tuning = test::SmallTuning();
  tuning.memstore_bytes = 4 << 10;
  tuning.memstores_total_bytes = 64 << 10;
  tuning.overlap_bytes = 1 << 20;
  tuning.log_segment_bytes = 2 << 10;
  return tuning;
}

/// Two regions: one that fills its memstores, and one with a row that the log is kept for.
class Life {
 public:
  Life(int64_t index, bool sticky)
      : index_(index), sticky_(sticky), machine_({.files = &files_, .tuning = Tuning()}) {
    BOOST_REQUIRE_EQUAL(machine_.Open().ToString(), "OK");
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}};
    table.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}};
    table.split_keys = {"m"};
    BOOST_REQUIRE_EQUAL(machine_.engine().CreateTable(table).ToString(), "OK");
    machine_.executor().Drain();
  }

  /// Writes, and runs a job or two after each write.
  void Fail() {
    Guarded([&] { return Put("a"); });
    for (int i = 0; i < 24; ++i) {
      Guarded([&] { return Put("n" + std::to_string(i % 10)); });
      RunJob();
      if (i % 3 == 0) RunJob();
      if (i % 8 == 7) machine_.clock().Advance(1'000'000);
    }
  }

  /// Nothing is asked for: timers alone do it.
  void Wait() {
    for (int i = 0; i < 3; ++i) {
      machine_.clock().Advance(kLaterMicros);
      machine_.executor().Drain();
    }
  }

  Status Put(const std::string& row) {
    WriteBatch batch;
    batch.Put("t", row, "d", "c", std::to_string(++values_ % 3));
    batch.Put("t", row, "d", "v", std::string(800, 'v'));
    return machine_.engine().Write({.durability = Durability::kBuffered}, batch);
  }

  Machine& machine() { return machine_; }
  int64_t count() const { return count_; }
  bool has_struck() const { return has_struck_; }

 private:
  template <typename Call>
  void Limited(const Call& call) {
    const int64_t left = has_struck_ ? -1 : index_ - count_;
    test::ThisThreadsAllocations() = {.left = left, .sticky = sticky_};
    call();
    const test::Allocations allocations =
        std::exchange(test::ThisThreadsAllocations(), test::Allocations());
    count_ += static_cast<int64_t>(allocations.tried);
    has_struck_ = has_struck_ || allocations.has_failed;
  }

  template <typename Call>
  void Guarded(const Call& call) {
    Limited([&] { engine::Guarded(call).Ignore("a write that fails is no matter"); });
  }

  void RunJob() {
    bool has_escaped = false;
    Limited([&] {
      try {
        machine_.executor().RunOne();
      } catch (const std::bad_alloc&) {
        has_escaped = true;
      }
    });
    BOOST_REQUIRE_MESSAGE(!has_escaped, "an exception left a job at allocation " << index_);
  }

  const int64_t index_;
  const bool sticky_;
  int64_t count_ = 0;
  bool has_struck_ = false;
  uint64_t values_ = 0;
  test::SimulatedDisk disk_{7};
  PausingFileSystem files_{&disk_};  // The disk's own allocations succeed.
  Machine machine_;
};

int64_t CountAllocations() {
  Life life(INT64_MAX, false);
  life.Fail();
  return life.count();
}

/// Fails allocations all over the life, and calls `check` where the database takes writes on.
template <typename Check>
void FailEach(const Check& check) {
  const int64_t step = CountAllocations() / kTried + 1;
  int read_only = 0, checked = 0;
  for (int64_t index = 0;; index += step) {
    const bool sticky = index / step % 2 == 0;
    BOOST_TEST_CONTEXT("allocation " << index << (sticky ? " and all after it" : "")) {
      Life life(index, sticky);
      life.Fail();
      if (!life.has_struck()) break;
      // What is durable and cannot be shown ends writing, until the next open.
      if (life.machine().engine().Info().read_only) {
        ++read_only;
        continue;
      }
      check(life);
      ++checked;
    }
  }
  BOOST_TEST_MESSAGE(checked << " checked, " << read_only << " read-only");
  BOOST_CHECK_GT(checked, 10 * read_only);
}

BOOST_AUTO_TEST_SUITE(failing_background_allocations)

// Of a scheduling thread, and of the threads of a pool between two jobs.
BOOST_AUTO_TEST_CASE(SchedulingAllocatesNothing) {
  constexpr int64_t kHour = 3'600'000'000;
  test::ManualClock clock;
  const auto pool = *engine::NewThreadPool(2, &clock);
  test::InlineExecutor executor(clock);
  for (base::Executor* any :
       {static_cast<base::Executor*>(pool.get()), static_cast<base::Executor*>(&executor)}) {
    engine::BackgroundJobs jobs(any);
    std::atomic<uint64_t> allocations{0}, runs{0};
    const auto count = [&] {
      ++runs;
      // What the threads of the C++ library allocate on a thread's first use does not count.
      thread_local uint64_t before = test::ThisThreadsAllocations().count;
      allocations += std::exchange(before, test::ThisThreadsAllocations().count) - before;
    };
    std::vector<std::unique_ptr<engine::BackgroundTask>> tasks;
    for (int i = 0; i < 200; ++i) {
      const auto priority = i % 2 == 0 ? base::Priority::kLow : base::Priority::kHigh;
      tasks.push_back(std::make_unique<engine::BackgroundTask>(&jobs, priority, count));
    }
    const uint64_t before = test::ThisThreadsAllocations().count;
    for (int round = 0; round < 5; ++round) {
      for (size_t i = 0; i < tasks.size(); ++i) tasks[i]->Schedule(i % 3 == 0 ? 0 : kHour);
      clock.Advance(kHour);
      any->Drain();
    }
    BOOST_CHECK_EQUAL(test::ThisThreadsAllocations().count - before, 0u);
    BOOST_CHECK_EQUAL(allocations, 0u);
    BOOST_CHECK_EQUAL(runs, 5 * tasks.size());
    jobs.Stop();
  }
}

BOOST_AUTO_TEST_CASE(TimeAloneBringsFlushesAndMergesBack) {
  FailEach([](Life& life) {
    life.Wait();
    const DatabaseInfo info = life.machine().engine().Info();
    for (const RegionInfo& region : info.tables[0].regions) {
      BOOST_CHECK_EQUAL(region.memstores, 1u);
      BOOST_CHECK_LT(region.files.size(), 4u);
    }
  });
}

BOOST_AUTO_TEST_CASE(TheLogIsRelievedAgain) {
  FailEach([](Life& life) {
    for (int i = 0; i < 40; ++i) {
      BOOST_REQUIRE_EQUAL(life.Put("n" + std::to_string(i % 10)).ToString(), "OK");
      life.machine().clock().Advance(kLaterMicros);
      life.machine().executor().Drain();
    }
    BOOST_CHECK_LE(life.machine().engine().Info().log_bytes, 8 * Tuning().memstore_bytes);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::reliability

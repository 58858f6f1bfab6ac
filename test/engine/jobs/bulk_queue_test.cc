// The queue of a bulk load: batches are written once and in their order, by whichever thread, and
// nothing after an error; the iterations of a loop run once, on whichever threads.
#define BOOST_TEST_DYN_LINK
#include "engine/jobs/bulk_queue.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "test/support/print.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::test {
namespace {

// Above what may wait in the queue are some hundred of these.
wal::BatchEncoder BatchOf(uint32_t number) {
  wal::BatchEncoder batch;
  batch.BeginOperation(format::TableId(number), std::string(60'000, 'r'));
  return batch;
}

uint32_t NumberOf(const wal::BatchEncoder& batch) {
  auto reader = wal::GroupReader::OfBatch(batch, format::SequenceNumber(1), 0);
  wal::Operation operation;
  return reader.Next(&operation) ? operation.table.value : 0;
}

struct BulkQueueFixture {
  Status Write(wal::BatchEncoder batch) {
    const bool alone = writers++ == 0;
    const uint32_t number = NumberOf(batch);
    written.push_back(alone ? number : 0);
    --writers;
    return number == failing ? Status::NoSpace("full") : Status();
  }
  engine::BulkQueue::Write writer() {
    return [this](wal::BatchEncoder batch) { return Write(std::move(batch)); };
  }
  static std::vector<uint32_t> UpTo(uint32_t last) {
    std::vector<uint32_t> numbers;
    for (uint32_t i = 1; i <= last; ++i) numbers.push_back(i);
    return numbers;
  }

  ManualClock clock;
  std::atomic<int> writers{0};
  std::vector<uint32_t> written;  // Guarded by the queue's turn.
  uint32_t failing = 0;
};

BOOST_FIXTURE_TEST_SUITE(BulkQueueTest, BulkQueueFixture)

BOOST_AUTO_TEST_CASE(WithoutAFreeThreadTheCallerWrites) {
  InlineExecutor executor(clock);
  engine::BackgroundJobs jobs(&executor);
  engine::BulkQueue queue(&jobs, writer());
  for (uint32_t i = 1; i <= 300; ++i) BOOST_REQUIRE_EQUAL(queue.Push(BatchOf(i)).ToString(), "OK");
  BOOST_CHECK_GT(written.size(), 200u);
  BOOST_CHECK_LT(written.size(), 300u);
  BOOST_REQUIRE_EQUAL(queue.Drain().ToString(), "OK");
  BOOST_TEST(written == UpTo(300), boost::test_tools::per_element());
  executor.Drain();
  BOOST_CHECK_EQUAL(written.size(), 300u);
}

BOOST_AUTO_TEST_CASE(ThreadsWriteInOrder) {
  const auto real = base::NewSystemClock();
  const auto executor = *engine::NewThreadPool(3, real.get());
  engine::BackgroundJobs jobs(executor.get());
  for (int round = 0; round < 20; ++round) {
    written.clear();
    engine::BulkQueue queue(&jobs, writer());
    for (uint32_t i = 1; i <= 200; ++i) {
      BOOST_REQUIRE_EQUAL(queue.Push(BatchOf(i)).ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL(queue.Drain().ToString(), "OK");
    BOOST_TEST(written == UpTo(200), boost::test_tools::per_element());
  }
  jobs.Stop();
}

BOOST_AUTO_TEST_CASE(NothingIsWrittenAfterAnError) {
  InlineExecutor executor(clock);
  engine::BackgroundJobs jobs(&executor);
  engine::BulkQueue queue(&jobs, writer());
  failing = 2;
  for (uint32_t i = 1; i <= 4; ++i) BOOST_REQUIRE_EQUAL(queue.Push(BatchOf(i)).ToString(), "OK");
  BOOST_CHECK_EQUAL(queue.Drain().code(), StatusCode::kNoSpace);
  BOOST_CHECK_EQUAL(queue.Push(BatchOf(5)).code(), StatusCode::kNoSpace);
  BOOST_CHECK_EQUAL(queue.Drain().code(), StatusCode::kNoSpace);
  executor.Drain();
  BOOST_TEST(written == UpTo(2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(WhatWaitsIsDroppedWithIt) {
  InlineExecutor executor(clock);
  engine::BackgroundJobs jobs(&executor);
  {
    engine::BulkQueue queue(&jobs, writer());
    BOOST_REQUIRE_EQUAL(queue.Push(BatchOf(1)).ToString(), "OK");
  }
  executor.Drain();
  BOOST_CHECK(written.empty());
}

// Adds up the iterations of a loop, on however many threads they run.
struct Sum {
  base::Parallel::Iteration iteration() {
    return [this](size_t i) {
      sum += i;
      return i == failing ? Status::NoSpace("full") : Status();
    };
  }
  std::atomic<size_t> sum{0};
  size_t failing = SIZE_MAX;
};

BOOST_AUTO_TEST_CASE(FinishRunsALoopThatNoThreadTook) {
  InlineExecutor executor(clock);
  engine::BackgroundJobs jobs(&executor);
  engine::BulkQueue queue(&jobs, writer());
  Sum sum;
  const auto loop = queue.Begin(100, sum.iteration());
  BOOST_CHECK_EQUAL(sum.sum.load(), 0u);
  BOOST_REQUIRE_EQUAL(loop->Finish().ToString(), "OK");
  BOOST_CHECK_EQUAL(sum.sum.load(), 4950u);
  BOOST_REQUIRE_EQUAL(loop->Finish().ToString(), "OK");
  BOOST_CHECK_EQUAL(sum.sum.load(), 4950u);
}

BOOST_AUTO_TEST_CASE(TheTaskTakesIterations) {
  InlineExecutor executor(clock);
  engine::BackgroundJobs jobs(&executor);
  engine::BulkQueue queue(&jobs, writer());
  Sum sum;
  const auto loop = queue.Begin(100, sum.iteration());
  executor.Drain();
  BOOST_CHECK_EQUAL(sum.sum.load(), 4950u);
  BOOST_REQUIRE_EQUAL(loop->Finish().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(AWriteMayBeginALoop) {
  const auto real = base::NewSystemClock();
  const auto executor = *engine::NewThreadPool(3, real.get());
  engine::BackgroundJobs jobs(executor.get());
  Sum sum;
  engine::BulkQueue* self = nullptr;
  engine::BulkQueue queue(&jobs, [&](wal::BatchEncoder) {
    const auto outer = self->Begin(8, sum.iteration());
    const auto inner = self->Begin(8, sum.iteration());
    const Status status = inner->Finish();
    return status.ok() ? outer->Finish() : status;
  });
  self = &queue;
  for (uint32_t i = 1; i <= 200; ++i) {
    BOOST_REQUIRE_EQUAL(queue.Push(BatchOf(i)).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL(queue.Drain().ToString(), "OK");
  BOOST_CHECK_EQUAL(sum.sum.load(), 200u * 2 * 28);
  jobs.Stop();
}

BOOST_AUTO_TEST_CASE(ALoopEndsAtAnError) {
  InlineExecutor executor(clock);
  engine::BackgroundJobs jobs(&executor);
  engine::BulkQueue queue(&jobs, writer());
  Sum sum;
  sum.failing = 3;
  const auto loop = queue.Begin(100, sum.iteration());
  BOOST_CHECK_EQUAL(loop->Finish().code(), StatusCode::kNoSpace);
  BOOST_CHECK_EQUAL(sum.sum.load(), 6u);
}

BOOST_AUTO_TEST_CASE(ALoopMayEndAfterItsQueue) {
  InlineExecutor executor(clock);
  engine::BackgroundJobs jobs(&executor);
  auto queue = std::make_unique<engine::BulkQueue>(&jobs, writer());
  Sum sum;
  {
    const auto loop = queue->Begin(100, sum.iteration());
    queue.reset();
  }
  executor.Drain();
  BOOST_CHECK_EQUAL(sum.sum.load(), 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// Group commit over a fake storage: levels, order, failures, and how many writers share a sync.
#define BOOST_TEST_DYN_LINK
#include "engine/commit/commit_queue.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <thread>

#include "base/clock.h"
#include "engine/create_table.h"
#include "test/engine/commit/fake_storage.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

using engine::CommitQueue;
using format::SequenceNumber;

// The queue with everything around it that does not need a disk.
struct QueueFixture {
  QueueFixture() {
    const auto random = base::NewSeededRandom(3);
    format::TableRecord record = *engine::MakeTableRecord(SimpleTable(), random.get());
    record.id = format::TableId(1);
    format::RegionRecord region;
    region.id = format::RegionId(1);
    region.table = record.id;
    regions.Add(record, {region});
  }

  Status Put(std::string_view row, Durability durability) {
    WriteBatch batch;
    batch.Put("t", row, "d", "q", "v");
    Result<engine::WritePlan> plan = engine::PlanWrite(batch, regions);
    if (!plan.has_value()) return plan.error();
    return queue.Commit(&*plan, durability);
  }
  bool IsApplied(std::string_view row) {
    return regions.Find("t")->regions.front()->active()->Find(row) != nullptr;
  }
  std::string WrittenSequences() {
    std::string text;
    for (const auto& frame : storage.written) text += std::to_string(frame.first_sequence) + " ";
    return text;
  }

  FakeStorage storage;
  ManualClock clock;
  InlineExecutor executor{clock};
  engine::Health health{nullptr};
  engine::TimeSource time{&clock};
  std::shared_ptr<engine::SnapshotRegistry> snapshots =
      std::make_shared<engine::SnapshotRegistry>(&time);
  engine::RegionSet regions;
  engine::SegmentTracker segments;
  engine::GroupLog log{&storage, &segments, &health, SequenceNumber(0)};
  engine::GroupApplier applier{&regions};
  engine::BackgroundJobs jobs{&executor};
  CommitQueue queue{{.log = &log,
                     .applier = &applier,
                     .snapshots = snapshots.get(),
                     .time = &time,
                     .clock = &clock,
                     .delay_micros_max = 100'000,
                     .health = &health,
                     .jobs = &jobs,
                     .regions = &regions,
                     .flush = nullptr,
                     .after_group = [] {}},
                    SequenceNumber(0)};
};

BOOST_FIXTURE_TEST_SUITE(CommitQueueTest, QueueFixture)

BOOST_AUTO_TEST_CASE(EachLevelGoesAsFarAsItPromises) {
  BOOST_REQUIRE(Put("memory", Durability::kMemory).ok());
  BOOST_CHECK(IsApplied("memory"));
  BOOST_CHECK_EQUAL(snapshots->visible().value, 1u);
  BOOST_REQUIRE(Put("buffered", Durability::kBuffered).ok());
  BOOST_CHECK(IsApplied("buffered"));
  BOOST_CHECK_EQUAL(storage.writes, 0);

  BOOST_REQUIRE(Put("written", Durability::kWritten).ok());
  BOOST_CHECK_EQUAL(WrittenSequences(), "2 3 ");
  BOOST_CHECK_EQUAL(storage.syncs, 0);
  BOOST_REQUIRE(Put("synced", Durability::kSynced).ok());
  BOOST_CHECK_EQUAL(WrittenSequences(), "2 3 4 ");
  BOOST_CHECK_EQUAL(storage.syncs, 1);
  BOOST_CHECK_EQUAL(snapshots->visible().value, 4u);
}

BOOST_AUTO_TEST_CASE(WhatIsBufferedIsWrittenWithinATenthOfASecond) {
  BOOST_REQUIRE(Put("a", Durability::kBuffered).ok());
  BOOST_REQUIRE(Put("b", Durability::kBuffered).ok());
  executor.Drain();
  BOOST_CHECK_EQUAL(storage.writes, 0);
  clock.Advance(100'000);
  executor.Drain();
  BOOST_CHECK_EQUAL(WrittenSequences(), "1 2 ");
  BOOST_CHECK_EQUAL(executor.delayed_count(), 0u);
  BOOST_REQUIRE(Put("c", Durability::kBuffered).ok());
  clock.Advance(100'000);
  executor.Drain();
  BOOST_CHECK_EQUAL(WrittenSequences(), "1 2 3 ");
}

BOOST_AUTO_TEST_CASE(TimestampsRiseThoughTheClockDoesNot) {
  const auto last = [this] { return storage.written.back().timestamp; };
  BOOST_REQUIRE(Put("a", Durability::kWritten).ok());
  const int64_t first = last();
  BOOST_CHECK_EQUAL(first, clock.WallMicros());
  BOOST_REQUIRE(Put("b", Durability::kWritten).ok());
  BOOST_CHECK_EQUAL(last(), first + 1);
  clock.SetWall(5);
  BOOST_REQUIRE(Put("c", Durability::kWritten).ok());
  BOOST_CHECK_EQUAL(last(), first + 2);
  clock.SetWall(first + 100);
  BOOST_REQUIRE(Put("d", Durability::kWritten).ok());
  BOOST_CHECK_EQUAL(last(), first + 100);
}

BOOST_AUTO_TEST_CASE(AFullDiskFailsTheGroupAndKeepsWhatWasBuffered) {
  BOOST_REQUIRE(Put("buffered", Durability::kBuffered).ok());
  storage.next_write = Status::NoSpace("full");
  BOOST_CHECK_EQUAL(Put("refused", Durability::kWritten).code(), StatusCode::kNoSpace);
  BOOST_CHECK(!IsApplied("refused"));
  storage.next_roll = Status::NoSpace("still full");
  BOOST_CHECK_EQUAL(Put("refused", Durability::kSynced).code(), StatusCode::kNoSpace);
  BOOST_CHECK(health.CheckWritable().ok());
  storage.next_roll = Status();
  BOOST_REQUIRE(Put("later", Durability::kWritten).ok());
  BOOST_CHECK(!IsApplied("refused"));
  BOOST_CHECK_EQUAL(storage.rolls, 2);
  // The refused writes' sequences are never used again.
  BOOST_CHECK_EQUAL(WrittenSequences(), "1 4 ");
  BOOST_CHECK_EQUAL(segments.Droppable(SequenceNumber(1)).size(), 1u);
}

BOOST_AUTO_TEST_CASE(AFailedSyncMakesTheDatabaseReadOnly) {
  BOOST_REQUIRE(Put("before", Durability::kSynced).ok());
  storage.next_sync = Status::IoError("bad cable");
  BOOST_CHECK_EQUAL(Put("lost", Durability::kSynced).code(), StatusCode::kIoError);
  BOOST_CHECK(!IsApplied("lost"));
  BOOST_CHECK_EQUAL(snapshots->visible().value, 1u);
  storage.next_sync = Status();
  for (const Durability level : {Durability::kMemory, Durability::kSynced}) {
    const Status status = Put("later", level);
    BOOST_CHECK_EQUAL(status.code(), StatusCode::kReadOnly);
    BOOST_CHECK(status.message().find("bad cable") != std::string_view::npos);
  }
  BOOST_CHECK_EQUAL(storage.syncs, 2);
}

BOOST_AUTO_TEST_CASE(AFailedWriteMakesTheDatabaseReadOnly) {
  storage.next_write = Status::IoError("bad cable");
  BOOST_CHECK_EQUAL(Put("lost", Durability::kWritten).code(), StatusCode::kIoError);
  BOOST_CHECK_EQUAL(Put("later", Durability::kMemory).code(), StatusCode::kReadOnly);
}

BOOST_AUTO_TEST_CASE(SyncThroughSyncsOnlyWhatIsNot) {
  BOOST_REQUIRE(Put("a", Durability::kBuffered).ok());
  BOOST_REQUIRE(queue.SyncThrough(SequenceNumber(1)).ok());
  BOOST_CHECK_EQUAL(WrittenSequences(), "1 ");
  BOOST_REQUIRE(queue.SyncThrough(SequenceNumber(1)).ok());
  BOOST_CHECK_EQUAL(storage.syncs_beside, 1);
  BOOST_CHECK_EQUAL(storage.syncs, 0);
}

// What others write while it syncs does not count as durable.
BOOST_AUTO_TEST_CASE(OthersCommitWhileSyncThroughSyncs) {
  constexpr int64_t kPatienceMicros = 5'000'000;
  const auto system_clock = base::NewSystemClock();
  std::thread writer;
  std::atomic<bool> has_committed{false};
  storage.on_sync = [&] {
    writer = std::thread([&] { has_committed = Put("b", Durability::kWritten).ok(); });
    const int64_t until = system_clock->MonotonicMicros() + kPatienceMicros;
    while (!has_committed && system_clock->MonotonicMicros() < until) {
      system_clock->SleepMicros(100);
    }
    BOOST_CHECK(has_committed);
  };
  BOOST_REQUIRE(Put("a", Durability::kWritten).ok());
  BOOST_REQUIRE(queue.SyncThrough(SequenceNumber(1)).ok());
  writer.join();
  BOOST_CHECK_EQUAL(WrittenSequences(), "1 2 ");
  BOOST_CHECK_EQUAL(log.synced_through().value, 1u);
}

BOOST_AUTO_TEST_CASE(AFailedSyncBesideTheLeaderMakesTheDatabaseReadOnly) {
  BOOST_REQUIRE(Put("a", Durability::kWritten).ok());
  storage.next_sync = Status::IoError("bad cable");
  BOOST_CHECK_EQUAL(queue.SyncThrough(SequenceNumber(1)).code(), StatusCode::kIoError);
  BOOST_CHECK_EQUAL(log.synced_through().value, 0u);
  storage.next_sync = Status();
  for (const Durability level : {Durability::kMemory, Durability::kSynced}) {
    BOOST_CHECK_EQUAL(Put("later", level).code(), StatusCode::kReadOnly);
  }
  BOOST_CHECK_EQUAL(queue.SyncThrough(SequenceNumber(1)).code(), StatusCode::kReadOnly);
}

BOOST_AUTO_TEST_CASE(ManyWritersShareASync) {
  constexpr int kThreads = 8;
  constexpr int kWrites = 40;
  const auto system_clock = base::NewSystemClock();
  storage.on_sync = [&] { system_clock->SleepMicros(1000); };
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kWrites; ++i) {
        const std::string row = std::to_string(thread) + "-" + std::to_string(i);
        if (!Put(row, Durability::kSynced).ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(failures, 0);
  BOOST_CHECK_LE(storage.syncs * 3, kThreads * kWrites);
  BOOST_CHECK_EQUAL(snapshots->visible().value, uint64_t{kThreads * kWrites});
  // Groups follow one another without a hole, and every timestamp is greater than the one before.
  uint64_t next = 1;
  int64_t timestamp = 0;
  for (const auto& frame : storage.written) {
    BOOST_REQUIRE_EQUAL(frame.first_sequence, next);
    BOOST_REQUIRE_GT(frame.timestamp, timestamp);
    next += frame.count;
    timestamp = frame.timestamp + frame.count - 1;
  }
}

// Without a delay each of two writers is synced while the other queues.
BOOST_AUTO_TEST_CASE(TwoWritersInLoopsShareTheirSyncs) {
  constexpr int kWrites = 100;
  const auto system_clock = base::NewSystemClock();
  storage.on_sync = [&] {
    clock.Advance(100'000);
    system_clock->SleepMicros(200);
  };
  std::atomic<int> failures{0}, ready{0};
  const auto write = [&](const std::string& writer) {
    ++ready;
    while (ready < 2) system_clock->SleepMicros(10);
    for (int i = 0; i < kWrites; ++i) {
      if (!Put(writer + std::to_string(i), Durability::kSynced).ok()) ++failures;
    }
  };
  std::thread other([&] { write("other"); });
  write("this");
  other.join();
  BOOST_CHECK_EQUAL(failures, 0);
  BOOST_CHECK_LE(storage.syncs, kWrites * 3 / 2);
}

// The leader waits for two and gets one: it goes on.
BOOST_AUTO_TEST_CASE(AWriterThatDoesNotComeAgainIsNotWaitedForWithoutEnd) {
  std::thread other;
  std::atomic<bool> other_was_written{false};
  storage.on_sync = [&] {
    clock.Advance(100'000);
    if (storage.syncs == 1) {
      other = std::thread([&] { other_was_written = Put("other", Durability::kSynced).ok(); });
      base::NewSystemClock()->SleepMicros(20'000);
    }
  };
  for (int i = 0; i < 300; ++i) {
    BOOST_REQUIRE(Put("row" + std::to_string(i), Durability::kSynced).ok());
  }
  other.join();
  BOOST_CHECK(other_was_written);
  BOOST_CHECK_EQUAL(snapshots->visible().value, 301u);
}

BOOST_AUTO_TEST_CASE(ATaskRunsAloneBetweenGroups) {
  std::atomic<bool> inside{false}, overlapped{false}, stop{false};
  storage.on_sync = [&] { overlapped = overlapped || inside; };
  std::thread writer([&] {
    while (!stop) overlapped = overlapped || !Put("row", Durability::kSynced).ok();
  });
  for (int i = 0; i < 200; ++i) {
    const Status status = queue.RunAlone([&] {
      inside = true;
      const bool all_applied = snapshots->visible() == queue.last_sequence();
      inside = false;
      return all_applied ? Status() : Status::Conflict("something was under way");
    });
    BOOST_REQUIRE(status.ok());
  }
  stop = true;
  writer.join();
  BOOST_CHECK(!overlapped);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// The writer of a segment: what it promises of failures, space and lengths.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "format/file_header.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/wal/log_fixture.h"

namespace tandem::test {
namespace {

// Counts what is asked of it beside writes, and fails when the test says so.
class WatchedFile final : public base::File {
 public:
  struct Seen {
    std::vector<std::pair<uint64_t, uint64_t>> write_backs;  // Offset and end.
    int syncs = 0;
    uint64_t size_bytes = 0;
    Status next_write_back;
  };
  explicit WatchedFile(Seen* seen) : seen_(*seen) {}

  Result<size_t> Read(uint64_t, std::span<char>) override { return size_t{0}; }
  Status Write(uint64_t offset, std::string_view data) override {
    seen_.size_bytes = offset + data.size();
    return {};
  }
  Status DataSync() override {
    ++seen_.syncs;
    return {};
  }
  Status StartWriteBack(uint64_t offset, uint64_t size_bytes) override {
    seen_.write_backs.emplace_back(offset, offset + size_bytes);
    return seen_.next_write_back;
  }
  Result<uint64_t> Size() override { return seen_.size_bytes; }
  Status Truncate(uint64_t) override { return {}; }
  Status Preallocate(uint64_t) override { return {}; }
  const std::string& name() const override { return name_; }

 private:
  Seen& seen_;
  const std::string name_ = "watched";
};

std::unique_ptr<wal::SegmentWriter> WriterOf(WatchedFile::Seen* seen) {
  wal::SegmentSpec spec;
  spec.database = kLogDatabase;
  spec.number = format::FileNumber(1);
  spec.id = SampleId(1);
  return *wal::SegmentWriter::Create(std::make_unique<WatchedFile>(seen), spec);
}

Status WriteFrame(wal::SegmentWriter* writer, uint64_t sequence, size_t size_bytes) {
  const std::string payload(size_bytes, 'x');
  format::Frame frame;
  frame.first_sequence = sequence;
  frame.count = 1;
  frame.payload = payload;
  writer->Append(frame);
  return writer->Write();
}

BOOST_AUTO_TEST_SUITE(SegmentWriterSuite)

BOOST_AUTO_TEST_CASE(TheHeaderIsTheGoldenOne) {
  wal::SegmentSpec spec;
  spec.database = SampleId(1);
  spec.number = format::FileNumber(7);
  spec.id = SampleId(32);
  spec.predecessor = {256, 0x1122334455667788, 9};
  std::string bytes;
  const uint64_t checksum = AppendSegmentHeader(spec, &bytes);
  BOOST_TEST(bytes.size() == wal::kSegmentHeaderBytes);
  BOOST_TEST(Hex(bytes.substr(0, 80)) ==
             "89 54 41 4E 44 45 4D 0A 03 0C 01 00 80 00 00 00 "
             "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
             "01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 07 00 00 00 00 00 00 00 "
             "20 21 22 23 24 25 26 27 28 29 2A 2B 2C 2D 2E 2F");
  BOOST_TEST(Hex(bytes.substr(128)) ==
             "00 01 00 00 00 00 00 00 88 77 66 55 44 33 22 11 09 00 00 00 00 00 00 00 "
             "92 34 C2 29 1B 52 49 D1");
  BOOST_TEST(checksum != 0u);
}

BOOST_AUTO_TEST_CASE(TheFileHasItsExactLengthAfterClose) {
  LogFixture log;
  auto writer = *log.Create(1, {}, 1 << 20);
  BOOST_TEST(log.disk.used_bytes() >= 1u << 20);
  log.writer = std::move(writer);
  log.AppendMany("A", 3, false);
  BOOST_TEST(log.writer->Close().ToString() == "OK");
  BOOST_TEST(log.writer->sealed());
  BOOST_TEST(log.Bytes(1).size() == log.writer->end().length_bytes);
  BOOST_TEST(log.disk.used_bytes() < 1u << 16);
  BOOST_TEST(log.writer->Close().ToString() == "OK");
  BOOST_TEST((log.writer->Write().code() == StatusCode::kNoSpace));
}

BOOST_AUTO_TEST_CASE(OnlyWhatWasWrittenCountsAsTheEnd) {
  LogFixture log;
  log.Begin(1);
  const uint64_t start = log.writer->end().length_bytes;
  log.Append("abc");
  BOOST_TEST(log.writer->end().length_bytes == start);
  BOOST_TEST(log.writer->size_bytes() == start + format::FrameBytes(3));
  BOOST_TEST(log.writer->Write().ToString() == "OK");
  BOOST_TEST(log.writer->end().length_bytes == start + format::FrameBytes(3));
  BOOST_TEST(log.writer->synced_end().length_bytes == start);
  BOOST_TEST(log.writer->Sync().ToString() == "OK");
  BOOST_TEST(log.writer->synced_end().last_sequence == 1u);
}

BOOST_AUTO_TEST_CASE(AFullDiskCutsBackToTheLastGoodFrame) {
  for (bool partly : {false, true}) {
    LogFixture log;
    log.Begin(1);
    log.AppendMany("A", 2, false);
    const std::string before = log.Bytes(1);
    log.disk.control().InjectFault({.operations = {DiskOperation::kWrite},
                                    .partly = partly,
                                    .status = Status::NoSpace("injected")});
    log.Append("lost 1");
    log.Append("lost 2");
    BOOST_TEST((log.writer->Write().code() == StatusCode::kNoSpace));
    BOOST_TEST(log.writer->sealed());
    BOOST_TEST(log.writer->status().ToString() == "OK");
    BOOST_TEST((log.Bytes(1) == before));
    log.Append("refused");
    BOOST_TEST((log.writer->Write().code() == StatusCode::kNoSpace));
    log.Begin(2);
    log.next_sequence = 3;
    log.AppendMany("B", 1, true);
    const Replayed replayed = log.Replay();
    BOOST_TEST(replayed.status.ToString() == "OK");
    BOOST_TEST(replayed.payloads.size() == 3u);
  }
}

BOOST_AUTO_TEST_CASE(NothingIsAcceptedAfterAnotherFailure) {
  struct Case {
    DiskOperation operation;
    StatusCode code;
  };
  for (const Case& failing : {Case{DiskOperation::kWrite, StatusCode::kIoError},
                              Case{DiskOperation::kDataSync, StatusCode::kIoError},
                              Case{DiskOperation::kDataSync, StatusCode::kNoSpace}}) {
    LogFixture log;
    log.Begin(1);
    log.AppendMany("A", 1, true);
    log.disk.control().InjectFault(
        {.operations = {failing.operation}, .status = Status(failing.code, "injected")});
    log.Append("B");
    BOOST_TEST((log.writer->Sync().code() == StatusCode::kIoError));
    BOOST_TEST(log.disk.control().has_struck());
    log.Append("C");
    BOOST_TEST((log.writer->Write().code() == StatusCode::kIoError));
    BOOST_TEST((log.writer->Sync().code() == StatusCode::kIoError));
    BOOST_TEST((log.writer->Close().code() == StatusCode::kIoError));
    BOOST_TEST(log.writer->synced_end().last_sequence == 1u);
  }
}

BOOST_AUTO_TEST_CASE(AFailedCutPoisonsTheSegment) {
  LogFixture log;
  log.Begin(1);
  log.disk.control().InjectFault(
      {.operations = {DiskOperation::kWrite}, .status = Status::NoSpace("injected")});
  log.disk.control().InjectFault({.operations = {DiskOperation::kTruncate}});
  log.Append("A");
  BOOST_TEST((log.writer->Write().code() == StatusCode::kIoError));
  BOOST_TEST((log.writer->status().code() == StatusCode::kIoError));
  BOOST_TEST((log.writer->Close().code() == StatusCode::kIoError));
}

BOOST_AUTO_TEST_CASE(WhatIsWrittenDuringASyncIsNotDurableByIt) {
  LogFixture log;
  log.Begin(1);
  log.AppendMany("A", 1, false);
  log.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation == DiskOperation::kDataSync) log.AppendMany("B", 1, false);
  });
  BOOST_TEST(log.writer->SyncWritten().ToString() == "OK");
  log.disk.control().SetHook(nullptr);
  BOOST_TEST(log.writer->end().last_sequence == 2u);
  BOOST_TEST(log.writer->synced_end().last_sequence == 1u);
  BOOST_TEST(log.writer->SyncWritten().ToString() == "OK");
  BOOST_TEST(log.writer->synced_end().last_sequence == 2u);
}

// The system reports an error to one of them and success to the other.
BOOST_AUTO_TEST_CASE(ASyncThatWaitsForAFailedOneFailsToo) {
  LogFixture log;
  log.Begin(1);
  log.AppendMany("A", 1, false);
  const auto clock = base::NewSystemClock();
  std::thread other;
  std::atomic<bool> is_over{false};
  Status second;
  log.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kDataSync || other.joinable()) return;
    log.AppendMany("B", 1, false);
    other = std::thread([&] {
      second = log.writer->SyncWritten();
      is_over = true;
    });
    for (int i = 0; i < 50 && !is_over; ++i) clock->SleepMicros(1000);
  });
  log.disk.control().InjectFault({.operations = {DiskOperation::kDataSync}});
  BOOST_TEST((log.writer->SyncWritten().code() == StatusCode::kIoError));
  other.join();
  log.disk.control().SetHook(nullptr);
  BOOST_TEST((second.code() == StatusCode::kIoError));
  BOOST_TEST(log.writer->synced_end().last_sequence == 0u);
  BOOST_TEST((log.writer->Write().code() == StatusCode::kIoError));
}

// What a sync has to make durable beside bytes.
uint64_t PendingGrowths(const SimulatedDisk& disk) {
  const auto effects = disk.PendingEffects();
  return static_cast<uint64_t>(std::count_if(
      effects.begin(), effects.end(),
      [](const PendingEffect& effect) { return effect.kind == PendingEffect::Kind::kGrow; }));
}

BOOST_AUTO_TEST_CASE(ASyncOfFramesHasNoSizeToMakeDurable) {
  constexpr uint64_t kReserved = 1 << 20;
  LogFixture log;
  log.writer = *log.Create(1, {}, kReserved);
  const std::string payload(5000, 'x');
  uint64_t extensions = 0;
  while (log.writer->size_bytes() + payload.size() + 100 < kReserved) {
    log.Append(payload);
    BOOST_TEST_REQUIRE(log.writer->Write().ToString() == "OK");
    BOOST_TEST(PendingGrowths(log.disk) == 0u);
    BOOST_TEST(log.writer->Sync().ToString() == "OK");
    if (!log.writer->is_extension_due()) continue;
    ++extensions;
    log.writer->Extend();
    BOOST_TEST(!log.writer->is_extension_due());
    BOOST_TEST(log.Bytes(1).size() <= kReserved);
    // So that who replays the log reads little else.
    const uint64_t frame_bytes = log.writer->end().length_bytes;
    BOOST_TEST(log.Bytes(1).size() <= frame_bytes + std::max<uint64_t>(frame_bytes / 4, 32 << 10));
    BOOST_TEST(log.writer->Sync().ToString() == "OK");
    log.Append(payload);
    BOOST_TEST(log.writer->Sync().ToString() == "OK");
  }
  BOOST_TEST(extensions > 10u);
  BOOST_TEST(extensions < 40u);
  BOOST_TEST(log.writer->Close().ToString() == "OK");
  BOOST_TEST(log.Bytes(1).size() == log.writer->end().length_bytes);
}

BOOST_AUTO_TEST_CASE(WithoutExtensionsTheFileGrowsWithItsFrames) {
  LogFixture log;
  log.disk.control().InjectFault({.operations = {DiskOperation::kExtend},
                                  .sticky = true,
                                  .status = Status::Unsupported("injected")});
  log.writer = *log.Create(1, {}, 1 << 20);
  for (int i = 0; i < 3; ++i) {
    log.AppendMany("A", 2, true);
    log.writer->Extend();
    BOOST_TEST(!log.writer->is_extension_due());
    BOOST_TEST(log.Bytes(1).size() == log.writer->end().length_bytes);
  }
}

// It would leave a file that is longer than its successor says.
BOOST_AUTO_TEST_CASE(AnExtensionNeverComesAfterTheEndIsCut) {
  LogFixture log;
  log.writer = *log.Create(1, {}, 1 << 20);
  while (!log.writer->is_extension_due()) log.AppendMany("A", 10, false);
  const auto clock = base::NewSystemClock();
  std::thread other;
  std::atomic<bool> is_over{false};
  log.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kExtend) return;
    other = std::thread([&] {
      BOOST_TEST(log.writer->Close().ToString() == "OK");
      is_over = true;
    });
    for (int i = 0; i < 50 && !is_over; ++i) clock->SleepMicros(1000);
  });
  log.writer->Extend();
  other.join();
  log.disk.control().SetHook(nullptr);
  BOOST_TEST(log.Bytes(1).size() == log.writer->end().length_bytes);
  log.writer->Extend();
  BOOST_TEST(log.Bytes(1).size() == log.writer->end().length_bytes);
}

// In whole pages, each once, and never what was not written.
BOOST_AUTO_TEST_CASE(TheSystemBeginsToWriteTheLogBackAsItGrows) {
  constexpr uint64_t kPieceBytes = 512 * 1024;
  WatchedFile::Seen seen;
  const auto writer = WriterOf(&seen);
  uint64_t begun = 0;
  for (uint64_t sequence = 1; sequence <= 100; ++sequence) {
    BOOST_TEST(WriteFrame(writer.get(), sequence, 50'000).ToString() == "OK");
    for (const auto& [offset, end] : std::exchange(seen.write_backs, {})) {
      BOOST_TEST(offset == begun);
      BOOST_TEST(end % 4096 == 0u);
      BOOST_TEST(end <= seen.size_bytes);
      begun = end;
    }
    BOOST_TEST(seen.size_bytes < begun + kPieceBytes + 4096);
  }
  BOOST_TEST(seen.syncs == 1);  // Of the header.
}

BOOST_AUTO_TEST_CASE(AFailedWriteBackEndsTheLogAsAFailedSyncDoes) {
  WatchedFile::Seen seen;
  const auto writer = WriterOf(&seen);
  seen.next_write_back = Status::NoSpace("injected");
  BOOST_TEST((WriteFrame(writer.get(), 1, 1 << 20).code() == StatusCode::kIoError));
  BOOST_TEST((writer->SyncWritten().code() == StatusCode::kIoError));
  BOOST_TEST((WriteFrame(writer.get(), 2, 1).code() == StatusCode::kIoError));
  BOOST_TEST((writer->Close().code() == StatusCode::kIoError));
  BOOST_TEST(seen.syncs == 1);
  BOOST_TEST(writer->synced_end().last_sequence == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

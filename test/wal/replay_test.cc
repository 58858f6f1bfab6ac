// Replay over whole logs: torn tails end them, everything else is damage; after a clean close
// nothing is silent.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "format/coding.h"
#include "format/hash.h"
#include "test/support/print.h"
#include "test/wal/log_fixture.h"

namespace tandem::test {
namespace {

using format::BoundFile;
using format::FileNumber;

// Segments 1 and 2 with three frames each; the second is open and synced.
void WriteTwoSegments(LogFixture* log) {
  log->Begin(1);
  log->AppendMany("A", 3, true);
  log->Begin(2);
  log->AppendMany("B", 3, true);
}

std::vector<BoundFile> CloseAndBind(LogFixture* log) {
  BOOST_TEST_REQUIRE(log->writer->Close().ToString() == "OK");
  return log->Replay().report.segments;
}

// The disk after a crash, and what had been reached then.
struct CrashState {
  std::unique_ptr<SimulatedDisk> disk;
  uint64_t synced = 0;
  uint64_t appended = 0;
};

bool IsCorruption(const Status& status) { return status.code() == StatusCode::kCorruption; }

BOOST_AUTO_TEST_SUITE(ReplaySuite)

BOOST_AUTO_TEST_CASE(FramesComeBackOverSegments) {
  LogFixture log;
  WriteTwoSegments(&log);
  log.Begin(5);
  log.Append("C", 4);
  BOOST_TEST(log.writer->Write().ToString() == "OK");
  const Replayed replayed = log.Replay();
  BOOST_TEST(replayed.status.ToString() == "OK");
  BOOST_TEST(
      replayed.payloads == (std::vector<std::string>{"A0", "A1", "A2", "B0", "B1", "B2", "C"}),
      boost::test_tools::per_element());
  BOOST_TEST(replayed.report.frames == 7u);
  BOOST_TEST(replayed.report.operations == 10u);
  BOOST_TEST(replayed.report.last_sequence == 10u);
  BOOST_TEST(replayed.report.last_timestamp == 70);
  BOOST_TEST(replayed.report.durable_mark == 6u);
  BOOST_TEST(replayed.report.torn_bytes == 0u);
  BOOST_TEST(replayed.report.last_segment.value == 5u);
  BOOST_TEST(replayed.report.end.length_bytes == log.writer->end().length_bytes);
  BOOST_TEST(replayed.report.end.last_checksum == log.writer->end().last_checksum);
}

BOOST_AUTO_TEST_CASE(AnEmptyLogReplaysNothing) {
  LogFixture log;
  BOOST_TEST(log.Replay().status.ToString() == "OK");
  log.Begin(1);
  const Replayed replayed = log.Replay();
  BOOST_TEST(replayed.status.ToString() == "OK");
  BOOST_TEST(replayed.report.last_sequence == 0u);
  BOOST_TEST(replayed.report.end.length_bytes == wal::kSegmentHeaderBytes);
}

BOOST_AUTO_TEST_CASE(SequencesGoOnWhenTheOldestSegmentIsGone) {
  LogFixture log;
  WriteTwoSegments(&log);
  log.numbers = {2};
  const Replayed replayed = log.Replay();
  BOOST_TEST(replayed.payloads.size() == 3u);
  BOOST_TEST(replayed.report.last_sequence == 6u);
  // The first frame torn, a later one kept: its mark is about the segment before, not about the
  // gap.
  LogFixture torn;
  torn.Begin(1);
  torn.AppendMany("A", 3, true);
  torn.Begin(2);
  torn.AppendMany("B", 3, false);
  torn.numbers = {2};
  std::string bytes = torn.Bytes(2);
  bytes[wal::kSegmentHeaderBytes + 50] ^= 1;
  torn.SetBytes(2, bytes);
  const Replayed ended = torn.Replay();
  BOOST_TEST(ended.status.ToString() == "OK");
  BOOST_TEST(ended.payloads.empty());
  BOOST_TEST(ended.report.end.last_sequence == 3u);
  BOOST_TEST(ended.report.torn_bytes > 0u);
}

BOOST_AUTO_TEST_CASE(ATornTailEndsTheLog) {
  LogFixture log;
  log.Begin(1);
  log.AppendMany("A", 2, true);
  const uint64_t synced = log.writer->end().length_bytes;
  log.AppendMany("B", 3, false);
  const std::string whole = log.Bytes(1);
  for (size_t length = synced; length <= whole.size(); ++length) {
    log.SetBytes(1, whole.substr(0, length));
    const Replayed replayed = log.Replay(nullptr, synced);
    BOOST_TEST(replayed.status.ToString() == "OK");
    BOOST_TEST(replayed.payloads.size() >= 2u);
    BOOST_TEST(replayed.report.end.length_bytes + replayed.report.torn_bytes <= length);
  }
  for (size_t at = synced; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] ^= 4;
    log.SetBytes(1, flipped);
    const Replayed replayed = log.Replay(nullptr, synced);
    BOOST_TEST(replayed.status.ToString() == "OK");
    BOOST_TEST(replayed.report.end.length_bytes <= at);
    BOOST_TEST(replayed.report.torn_bytes > 0u);
  }
}

BOOST_AUTO_TEST_CASE(ReservedSpaceAfterTheEndIsNothing) {
  LogFixture log;
  log.Begin(1);
  log.AppendMany("A", 3, true);
  const std::string frames = log.Bytes(1);
  for (const size_t reserved : {1, 8, 47, 48, 100'000, 600'000}) {
    log.SetBytes(1, frames + std::string(reserved, '\0'));
    const Replayed replayed = log.Replay();
    BOOST_TEST(replayed.status.ToString() == "OK");
    BOOST_TEST(replayed.payloads.size() == 3u);
    BOOST_TEST(replayed.report.end.length_bytes == frames.size());
    BOOST_TEST(replayed.report.torn_bytes == 0u);
  }
}

// A frame is searched for at every multiple of 8, however much space without bytes lies before it.
BOOST_AUTO_TEST_CASE(AFrameAfterReservedSpaceIsFound) {
  LogFixture log;
  log.Begin(1);
  log.AppendMany("A", 2, true);
  const uint64_t synced = log.writer->end().length_bytes;
  for (const size_t lost : {8, 256, 4000, 300'000}) {
    log.AppendMany(std::string(lost, 'x'), 1, true);
    log.AppendMany("B", 1, true);
    std::string bytes = log.Bytes(1);
    const uint64_t end = bytes.size() - format::FrameBytes(2);
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(synced),
              bytes.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    log.SetBytes(1, bytes);
    BOOST_TEST((log.Replay().status.code() == StatusCode::kCorruption));
  }
}

BOOST_AUTO_TEST_CASE(SyncedFramesAreMissedWhenALaterOneSurvives) {
  LogFixture log;
  log.Begin(1);
  log.AppendMany("A", 2, true);
  const uint64_t synced = log.writer->end().length_bytes;
  log.AppendMany("B", 1, false);
  const std::string whole = log.Bytes(1);
  for (size_t at = wal::kSegmentHeaderBytes; at < synced; ++at) {
    std::string flipped = whole;
    flipped[at] ^= 4;
    log.SetBytes(1, flipped);
    const Status status = log.Replay().status;
    BOOST_TEST(IsCorruption(status), "offset " << at);
    BOOST_TEST(status.message().starts_with("log-1: offset "));
  }
}

BOOST_AUTO_TEST_CASE(WhatIsKnownDurableIsMissedWithoutALaterFrame) {
  LogFixture log;
  log.Begin(1);
  log.AppendMany("A", 2, true);
  std::string bytes = log.Bytes(1);
  bytes.back() ^= 1;
  log.SetBytes(1, bytes);
  BOOST_TEST(log.Replay().status.ToString() == "OK");
  BOOST_TEST(IsCorruption(log.Replay(nullptr, bytes.size()).status));
}

BOOST_AUTO_TEST_CASE(AHoleAcrossSegmentsIsDamage) {
  // The tail of the first segment is lost while the second is whole.
  LogFixture log;
  WriteTwoSegments(&log);
  const std::string whole = log.Bytes(1);
  for (size_t length = 0; length < whole.size(); ++length) {
    log.SetBytes(1, whole.substr(0, length));
    BOOST_TEST(IsCorruption(log.Replay().status), "length " << length);
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] ^= 64;
    log.SetBytes(1, flipped);
    BOOST_TEST(IsCorruption(log.Replay().status), "offset " << at);
  }
}

BOOST_AUTO_TEST_CASE(BytesBehindAVouchedEndAreIgnored) {
  LogFixture log;
  WriteTwoSegments(&log);
  log.SetBytes(1, log.Bytes(1) + "left by a crash");
  BOOST_TEST(log.Replay().payloads.size() == 6u);
}

BOOST_AUTO_TEST_CASE(ASegmentThatIsNotTheNamedOneIsDamage) {
  LogFixture log;
  WriteTwoSegments(&log);
  const std::string first = log.Bytes(1), second = log.Bytes(2);
  log.SetBytes(2, first);
  BOOST_TEST(IsCorruption(log.Replay().status));
  log.SetBytes(1, second);
  BOOST_TEST(IsCorruption(log.Replay().status));
  log.SetBytes(1, "");
  log.SetBytes(2, second);
  BOOST_TEST(IsCorruption(log.Replay().status));
}

BOOST_AUTO_TEST_CASE(ASuccessorThatVouchesForAnotherEndIsDamage) {
  // A second segment whose header is valid but speaks of another first one.
  for (int field = 0; field < 3; ++field) {
    LogFixture log;
    log.Begin(1);
    log.AppendMany("A", 3, true);
    BOOST_TEST(log.writer->Close().ToString() == "OK");
    wal::SegmentEnd end = log.writer->end();
    if (field == 0) end.length_bytes += 8;
    if (field == 1) end.last_checksum ^= 1;
    if (field == 2) end.last_sequence += 1;
    log.writer = *log.Create(2, end);
    log.numbers.push_back(2);
    BOOST_TEST(IsCorruption(log.Replay().status));
  }
}

BOOST_AUTO_TEST_CASE(NoDamageIsSilentOnceClosed) {
  LogFixture log;
  WriteTwoSegments(&log);
  const std::vector<BoundFile> bound = CloseAndBind(&log);
  BOOST_TEST(log.Replay(&bound).payloads.size() == 6u);
  for (uint64_t number : {1, 2}) {
    const std::string whole = log.Bytes(number);
    for (size_t length = 0; length < whole.size(); ++length) {
      log.SetBytes(number, whole.substr(0, length));
      BOOST_TEST(IsCorruption(log.Replay(&bound).status), number << " length " << length);
    }
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] ^= 2;
      log.SetBytes(number, flipped);
      BOOST_TEST(IsCorruption(log.Replay(&bound).status), number << " offset " << at);
    }
    for (const std::string& tail : {std::string(1, '\0'), std::string(64, '\0'), whole}) {
      log.SetBytes(number, whole + tail);
      BOOST_TEST(IsCorruption(log.Replay(&bound).status));
    }
    log.SetBytes(number, whole);
  }
}

BOOST_AUTO_TEST_CASE(HostileHeadersWithTheRightChecksumAreRefused) {
  LogFixture log;
  WriteTwoSegments(&log);
  const std::string whole = log.Bytes(2);
  // Each field of what a segment says of its predecessor, near both ends of its range.
  for (size_t at : {128, 136, 144}) {
    for (uint64_t value : {uint64_t{0}, uint64_t{1}, UINT64_MAX - 48, UINT64_MAX}) {
      std::string changed = whole;
      format::StoreAt(&changed, at, value);
      format::StoreAt(&changed, 152, format::Hash64(std::string_view(changed).substr(0, 152)));
      log.SetBytes(2, changed);
      BOOST_TEST(IsCorruption(log.Replay().status), "offset " << at << " value " << value);
    }
  }
}

// Every crash of a log that is written, synced now and then, and rolled once: what comes back is a
// prefix that has everything synced.
BOOST_AUTO_TEST_CASE(ACrashAnywhereLeavesAPrefix) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    LogFixture log;
    uint64_t synced = 0, appended = 0;
    std::vector<CrashState> crashes;
    log.Begin(1);
    log.disk.control().SetHook([&](const DiskEvent&) {
      const CrashPolicy policy{.kept = CrashPolicy::Kept::kRandom,
                               .seed = seed * 1000 + crashes.size()};
      crashes.push_back({log.disk.CrashedCopy(policy), synced, appended});
    });
    for (int i = 0; i < 30; ++i) {
      const std::string payload(i % 7 == 0 ? 5000 : 20, 'p');
      log.Append(payload);
      ++appended;
      if (i % 3 == 0) BOOST_TEST(log.writer->Write().ToString() == "OK");
      if (i % 5 == 4) {
        BOOST_TEST(log.writer->Sync().ToString() == "OK");
        synced = appended;
      }
    }
    log.disk.control().SetHook(nullptr);
    for (const CrashState& crash : crashes) {
      LogFixture after;
      after.SetBytes(1, *crash.disk->Content("db", "log-1"));
      after.numbers = {1};
      const Replayed replayed = after.Replay();
      BOOST_TEST(replayed.status.ToString() == "OK", "seed " << seed);
      BOOST_TEST(replayed.payloads.size() >= crash.synced);
      BOOST_TEST(replayed.payloads.size() <= crash.appended);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// One segment in place of many: it holds the frames that are needed, under their sequences, and
// damage to it is found as in any other.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "test/support/print.h"
#include "test/wal/log_fixture.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRewritten = 40;

// Segments 1 to `count` of three frames each, all closed.
void WriteSegments(LogFixture* log, uint64_t count) {
  for (uint64_t number = 1; number <= count; ++number) {
    log->Begin(number);
    log->AppendMany(std::string(1, static_cast<char>('A' + number % 20)), 3, true);
  }
  BOOST_TEST_REQUIRE(log->writer->Close().ToString() == "OK");
}

// Puts segment kRewritten in the place of all, with the frames that `is_needed` keeps.
Status Rewrite(LogFixture* log, const std::function<bool(const format::Frame&)>& is_needed) {
  const wal::ReplayReport report = log->Replay().report;
  auto writer = log->Create(kRewritten, wal::RewrittenPredecessor(report));
  RETURN_IF_ERROR(writer.status());
  log->open_max = 0;
  RETURN_IF_ERROR(wal::RewriteLog(report, log->Opener(), is_needed, writer->get()));
  log->writer = std::move(*writer);
  log->numbers = {kRewritten};
  return {};
}

bool IsEven(const format::Frame& frame) { return frame.first_sequence % 2 == 0; }

BOOST_AUTO_TEST_SUITE(RewriteSuite)

BOOST_AUTO_TEST_CASE(NeededFramesKeepTheirSequences) {
  LogFixture log;
  WriteSegments(&log, 4);
  BOOST_TEST_REQUIRE(Rewrite(&log, IsEven).ToString() == "OK");
  std::vector<uint64_t> sequences, marks;
  std::vector<std::string> payloads;
  wal::ReplaySegment segment{.number = format::FileNumber(kRewritten),
                             .id = LogFixture::Id(kRewritten)};
  const auto report =
      wal::Replay({segment}, kLogDatabase, log.Opener(), [&](const format::Frame& frame) {
        sequences.push_back(frame.first_sequence);
        marks.push_back(frame.durable_mark);
        payloads.emplace_back(frame.payload);
        BOOST_TEST(frame.timestamp == static_cast<int64_t>(frame.first_sequence) * 10);
        return Status();
      });
  BOOST_TEST_REQUIRE(report.status().ToString() == "OK");
  BOOST_TEST(sequences == (std::vector<uint64_t>{2, 4, 6, 8, 10, 12}),
             boost::test_tools::per_element());
  BOOST_TEST(marks == (std::vector<uint64_t>{1, 3, 5, 7, 9, 11}), boost::test_tools::per_element());
  BOOST_TEST(payloads == (std::vector<std::string>{"B1", "C0", "C2", "D1", "E0", "E2"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(TheLogGoesOnBehindIt) {
  LogFixture log;
  WriteSegments(&log, 3);
  BOOST_TEST_REQUIRE(Rewrite(&log, IsEven).ToString() == "OK");
  log.Begin(41);
  log.AppendMany("z", 2, true);
  const Replayed replayed = log.Replay();
  BOOST_TEST(replayed.status.ToString() == "OK");
  BOOST_TEST(replayed.report.frames == 6u);
  BOOST_TEST(replayed.report.last_sequence == 11u);
}

BOOST_AUTO_TEST_CASE(NoDamageToItIsSilent) {
  for (const bool has_successor : {false, true}) {
    LogFixture log;
    WriteSegments(&log, 3);
    BOOST_TEST_REQUIRE(Rewrite(&log, IsEven).ToString() == "OK");
    const std::string whole = log.Bytes(kRewritten);
    if (has_successor) log.Begin(41);
    // As its successor, or the mark in the manifest, says how long it is.
    const uint64_t durable = has_successor ? 0 : whole.size();
    BOOST_TEST(log.Replay(nullptr, durable).status.ToString() == "OK");
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] ^= 8;
      log.SetBytes(kRewritten, flipped);
      BOOST_TEST(!log.Replay(nullptr, durable).status.ok(), "flipped at " << at);
      log.SetBytes(kRewritten, whole.substr(0, at));
      BOOST_TEST(!log.Replay(nullptr, durable).status.ok(), "cut to " << at);
    }
  }
}

BOOST_AUTO_TEST_CASE(ItHasNoPlaceBehindAnother) {
  LogFixture log;
  WriteSegments(&log, 3);
  BOOST_TEST_REQUIRE(Rewrite(&log, IsEven).ToString() == "OK");
  log.numbers = {1, 2, 3, kRewritten};
  BOOST_TEST((log.Replay().status.code() == StatusCode::kCorruption));
}

BOOST_AUTO_TEST_CASE(OneSegmentIsOpenAtATime) {
  LogFixture log;
  WriteSegments(&log, 30);
  log.open_max = 0;
  BOOST_TEST(log.Replay().report.frames == 90u);
  BOOST_TEST(log.open_max == 1u);
  BOOST_TEST_REQUIRE(Rewrite(&log, IsEven).ToString() == "OK");
  BOOST_TEST(log.open_max == 1u);
}

BOOST_AUTO_TEST_CASE(AFailureLeavesTheOldOnesAsTheyWere) {
  LogFixture log;
  WriteSegments(&log, 3);
  const std::vector<uint64_t> numbers = log.numbers;
  for (uint64_t at = 1; at < 20; ++at) {
    log.disk.control().InjectFault({.operations = {DiskOperation::kWrite, DiskOperation::kDataSync,
                                                   DiskOperation::kTruncate, DiskOperation::kRead},
                                    .at = at,
                                    .status = Status::NoSpace("injected: full")});
    const Status status = Rewrite(&log, IsEven);
    log.disk.control().ClearFaults();
    log.numbers = numbers;
    if (status.ok()) break;
    BOOST_TEST_REQUIRE(log.directory->Remove(LogFixture::Name(kRewritten)).ToString() == "OK");
    BOOST_TEST(log.Replay().report.frames == 9u, "at " << at);
    BOOST_TEST(at < 19u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

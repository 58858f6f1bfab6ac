// The wall clock is believed within bounds (engine/runtime/time_source.h): what it says beyond them
// expires nothing, moves no mark and stamps no write, until it is back or its owner says that it is
// right.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int64_t kHour = 3'600'000'000;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kYear = 365 * kDay;

struct ClockFixture : TestEngine {
  ClockFixture() {
    OpenAgain();
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable(3, 10 * kDay)).ToString(), "OK");
    PutNow("r", "1");
  }
  void OpenAgain() { BOOST_REQUIRE_EQUAL(Open().ToString(), "OK"); }
  void CloseAndOpen() {
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    OpenAgain();
  }
  void PutNow(std::string_view row, std::string_view value) {
    BOOST_REQUIRE_EQUAL(Put(row, "c", value).ToString(), "OK");
  }
  void StepWall(int64_t micros) { clock.SetWall(clock.WallMicros() + micros); }
  ClockState State() { return (**this).Info().clock_state; }
  int64_t Time() { return (**this).Info().time_micros; }
  bool Logged(std::string_view text) {
    for (const std::string& line : log) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }
  /// The keys that show, by a scan and by the index, which must agree, and by the count.
  std::string Keys(const Snapshot* snapshot = nullptr) {
    ReadOptions read;
    read.snapshot = snapshot;
    const Predicate any = *Predicate::Parse("c >= ''");
    std::string keys[2];
    for (const bool by_index : {false, true}) {
      QueryOptions query;
      query.no_index = !by_index;
      if (by_index) query.use_index = "by_c";
      auto cursor = (**this).Query(read, "t", any, query);
      BOOST_REQUIRE(cursor.has_value());
      while (cursor->Next()) keys[by_index ? 1 : 0].append(cursor->row().key());
      BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    }
    BOOST_CHECK_EQUAL(keys[0], keys[1]);
    BOOST_CHECK_EQUAL(*(**this).Count(read, "t", any, {}), keys[0].size());
    return keys[0];
  }
  void FlushAndMerge() {
    BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
    executor.Drain();
  }
  /// Of the newest version of r's c.
  int64_t Timestamp(std::string_view row) {
    const std::string versions = Versions(row, "c");
    return std::stoll(versions.substr(versions.find('@') + 1));
  }
};

BOOST_FIXTURE_TEST_SUITE(WallClock, ClockFixture)

BOOST_AUTO_TEST_CASE(AStepOfThirtyYearsChangesNothing) {
  const int64_t time = Time(), last = Timestamp("r");
  StepWall(30 * kYear);
  BOOST_CHECK_EQUAL(Keys(), "r");
  BOOST_CHECK(State() == ClockState::kDoubted);
  BOOST_CHECK(Logged("10950 days ahead"));
  BOOST_CHECK_EQUAL(Time(), time);
  PutNow("s", "2");
  PutNow("u", "3");
  BOOST_CHECK_EQUAL(Timestamp("s"), last + 1);
  BOOST_CHECK_EQUAL(Timestamp("u"), last + 2);
  FlushAndMerge();
  BOOST_CHECK_EQUAL(Keys(), "rsu");
  CloseAndOpen();
  BOOST_CHECK(State() == ClockState::kDoubted);
  BOOST_CHECK_EQUAL(Keys(), "rsu");
}

BOOST_AUTO_TEST_CASE(AClockThatComesBackIsBelievedAgain) {
  StepWall(30 * kYear);
  PutNow("s", "2");
  StepWall(-30 * kYear);
  clock.Advance(kHour);
  PutNow("u", "3");
  BOOST_CHECK(State() == ClockState::kRight);
  BOOST_CHECK(Logged("believed again"));
  BOOST_CHECK_EQUAL(Timestamp("u"), clock.WallMicros());
  BOOST_CHECK_EQUAL(Keys(), "rsu");
  clock.Advance(10 * kDay);
  BOOST_CHECK_EQUAL(Keys(), "");
}

BOOST_AUTO_TEST_CASE(WithinOneLifeADayIsBelieved) {
  clock.Advance(400 * kDay);  // Time that passes is no step, however much.
  PutNow("r", "1");
  BOOST_CHECK(State() == ClockState::kRight);
  StepWall(23 * kHour);
  BOOST_CHECK(State() == ClockState::kRight);
  StepWall(2 * kHour);  // Steps add up.
  BOOST_CHECK(State() == ClockState::kDoubted);
  StepWall(-2 * kHour);
  BOOST_CHECK(State() == ClockState::kRight);
}

BOOST_AUTO_TEST_CASE(AtOpenAYearIsBelieved) {
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  clock.Advance(300 * kDay);
  OpenAgain();
  BOOST_CHECK(State() == ClockState::kRight);
  BOOST_CHECK_EQUAL(Keys(), "");
}

BOOST_AUTO_TEST_CASE(ADatabaseThatRestedForAYearWaitsForAWord) {
  for (const bool killed : {false, true}) {
    ClockFixture rested;
    if (killed) {
      rested.Kill();
    } else {
      BOOST_REQUIRE_EQUAL(rested.Close().ToString(), "OK");
    }
    rested.clock.Advance(400 * kDay);
    rested.OpenAgain();
    BOOST_CHECK(rested.State() == ClockState::kDoubted);
    BOOST_CHECK(rested.Logged("accept_clock"));
    const auto snapshot = (*rested).TakeSnapshot();
    rested.PutNow("s", "2");
    rested.FlushAndMerge();
    BOOST_CHECK_EQUAL(rested.Keys(), "rs");
    BOOST_CHECK_EQUAL(rested.Keys(&*snapshot), "r");
    rested.Kill();
    rested.OpenAgain();
    BOOST_CHECK_EQUAL(rested.Keys(), "rs");

    rested.options.accept_clock = true;
    rested.CloseAndOpen();
    BOOST_CHECK(rested.State() == ClockState::kRight);
    BOOST_CHECK_EQUAL(rested.Time(), rested.clock.WallMicros());
    BOOST_CHECK_EQUAL(rested.Keys(), "");
    rested.PutNow("u", "3");
    BOOST_CHECK_EQUAL(rested.Timestamp("u"), rested.clock.WallMicros());
    rested.options.accept_clock = false;
    rested.CloseAndOpen();
    BOOST_CHECK(rested.State() == ClockState::kRight);
    BOOST_CHECK_EQUAL(rested.Keys(), "u");
  }
}

BOOST_AUTO_TEST_CASE(TheWordIsDurableAtOnce) {
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  clock.Advance(400 * kDay);
  options.accept_clock = true;
  OpenAgain();
  Crash({.kept = CrashPolicy::Kept::kNone});
  options.accept_clock = false;
  OpenAgain();
  BOOST_CHECK(State() == ClockState::kRight);
}

BOOST_AUTO_TEST_CASE(ReadersDoubtItToo) {
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  clock.Advance(400 * kDay);
  options.read_only = true;
  OpenAgain();
  BOOST_CHECK(State() == ClockState::kDoubted);
  BOOST_CHECK_EQUAL(Keys(), "r");
  options.accept_clock = true;
  CloseAndOpen();
  BOOST_CHECK(State() == ClockState::kRight);
  BOOST_CHECK_EQUAL(Keys(), "");
}

// A database that is opened now and then does not rest, though nothing is written.
BOOST_AUTO_TEST_CASE(OpeningCountsAsUse) {
  for (int i = 0; i < 4; ++i) {
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    clock.Advance(300 * kDay);
    OpenAgain();
    BOOST_CHECK(State() == ClockState::kRight);
  }
}

BOOST_AUTO_TEST_CASE(AClockBehindIsReportedAndMayCatchUp) {
  const int64_t time = Time();
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  clock.SetWall(1000);  // A machine without a battery, before it asked the network.
  OpenAgain();
  BOOST_CHECK(State() == ClockState::kBehind);
  BOOST_CHECK(Logged("days behind"));
  BOOST_CHECK_EQUAL(Time(), time);
  PutNow("s", "2");
  BOOST_CHECK_EQUAL(Timestamp("s"), time + 1);
  clock.SetWall(time + 5 * kDay);
  BOOST_CHECK(State() == ClockState::kRight);
  PutNow("u", "3");
  BOOST_CHECK_EQUAL(Timestamp("u"), time + 5 * kDay);
  BOOST_CHECK_EQUAL(Keys(), "rsu");
  StepWall(2 * kDay);
  BOOST_CHECK(State() == ClockState::kDoubted);  // From now on it is one life.
}

BOOST_AUTO_TEST_CASE(NoWordMakesTimeGoBack) {
  const int64_t time = Time();
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  clock.SetWall(time - kYear);
  options.accept_clock = true;
  OpenAgain();
  BOOST_CHECK(State() == ClockState::kBehind);
  BOOST_CHECK_EQUAL(Time(), time);
  clock.SetWall(time + 5 * kDay);
  BOOST_CHECK(State() == ClockState::kRight);
}

BOOST_AUTO_TEST_CASE(ASmallStepBackIsNoNews) {
  StepWall(-30'000'000);
  PutNow("s", "2");
  BOOST_CHECK(State() == ClockState::kRight);
  BOOST_CHECK(!Logged("wall clock"));
}

BOOST_AUTO_TEST_CASE(ANewDatabaseBelievesAnyClock) {
  TestEngine fresh;
  fresh.clock.SetWall(4'000'000'000'000'000);
  BOOST_REQUIRE_EQUAL(fresh.Open().ToString(), "OK");
  BOOST_CHECK((*fresh).Info().clock_state == ClockState::kRight);
  BOOST_CHECK_EQUAL((*fresh).Info().time_micros, 4'000'000'000'000'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// DeleteCell, rule 3: it takes away one visible version and never brings back what max_versions had
// cut, wherever the cells lie.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct DeleteFixture : TestEngine {
  void Create(uint32_t max_versions, int64_t ttl_micros = 0) {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable(max_versions, ttl_micros)).ToString(),
                        "OK");
  }
  void PutAt(int64_t timestamp, std::string_view value) {
    BOOST_REQUIRE_EQUAL(Put("r", "q", value, Durability::kWritten, timestamp).ToString(), "OK");
  }
  void Delete(std::optional<int64_t> timestamp = std::nullopt) {
    WriteBatch batch;
    batch.DeleteCell("t", "r", "d", "q", timestamp);
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK"); }
  void Compact() { BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK"); }
  uint64_t Sequence() { return (**this).Info().last_sequence; }
};

BOOST_FIXTURE_TEST_SUITE(DeleteCell, DeleteFixture)

BOOST_AUTO_TEST_CASE(TheNewestVersionGoesAndTheOneBelowAppears) {
  Create(3);
  for (int64_t t = 1; t <= 3; ++t) PutAt(t, std::string(1, static_cast<char>('a' + t)));
  Delete();
  BOOST_CHECK_EQUAL(Versions("r", "q"), "c@2 b@1");
  Delete();
  BOOST_CHECK_EQUAL(Versions("r", "q"), "b@1");
  Delete();
  BOOST_CHECK_EQUAL(Rows(), "");
}

BOOST_AUTO_TEST_CASE(WhatMaxVersionsCutStaysAway) {
  Create(1);
  for (const bool flushed : {false, true}) {
    PutAt(5, "old");
    PutAt(6, "new");
    if (flushed) Flush();
    Delete(6);
    BOOST_CHECK_EQUAL(Rows(), "");
    Flush();
    BOOST_CHECK_EQUAL(Rows(), "");
    Compact();
    BOOST_CHECK_EQUAL(Rows(), "");
    BOOST_CHECK_EQUAL(FileCount(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(AVersionInTheMiddleGoesAlone) {
  Create(3);
  PutAt(1, "a");
  Flush();
  PutAt(2, "b");
  Flush();
  PutAt(3, "c");
  Delete(2);
  BOOST_CHECK_EQUAL(Versions("r", "q"), "c@3 a@1");
  PutAt(0, "z");
  // Three versions counted when the delete came, and what lay below them was cut then.
  BOOST_CHECK_EQUAL(Versions("r", "q"), "c@3 a@1 z@0");
  Compact();
  BOOST_CHECK_EQUAL(Versions("r", "q"), "c@3 a@1 z@0");
}

BOOST_AUTO_TEST_CASE(WhatHitsNothingWritesNothing) {
  Create(2);
  Delete();
  PutAt(5, "a");
  const uint64_t sequence = Sequence();
  Delete(4);
  Delete(6);
  BOOST_CHECK_EQUAL(Sequence(), sequence);
  BOOST_CHECK_EQUAL(Versions("r", "q"), "a@5");
  PutAt(4, "b");  // Nothing lies in wait for it.
  BOOST_CHECK_EQUAL(Versions("r", "q"), "a@5 b@4");
}

BOOST_AUTO_TEST_CASE(ItSeesItsOwnBatch) {
  Create(3);
  PutAt(1, "stored");
  WriteBatch batch;
  batch.Put("t", "r", "d", "q", "two", 2);
  batch.DeleteCell("t", "r", "d", "q");       // Takes "two".
  batch.DeleteCell("t", "r", "d", "q");       // Takes "stored".
  batch.DeleteCell("t", "r", "d", "q");       // Finds nothing.
  batch.Put("t", "r", "d", "q", "again", 1);  // Comes after the deletes.
  batch.Put("t", "other", "d", "q", "x", 1);
  batch.DeleteCell("t", "other", "d", "none");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "other{q=x} r{q=again}");
  BOOST_CHECK_EQUAL(Sequence(), 6u);
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "other{q=x} r{q=again}");
}

BOOST_AUTO_TEST_CASE(TheRevealedVersionIsFoundByItsIndex) {
  Create(2);
  const auto put = [this](int64_t timestamp, std::string_view value) {
    BOOST_REQUIRE(Put("r", "c", value, Durability::kWritten, timestamp).ok());
    Flush();
  };
  put(1, "one");
  put(2, "two");
  WriteBatch batch;
  batch.DeleteCell("t", "r", "d", "c");
  BOOST_REQUIRE(Write(batch).ok());
  for (int round = 0; round < 3; ++round) {
    BOOST_CHECK_EQUAL(*(**this).Count({}, "t", Predicate::Equal("c", "one"), {}), 1u);
    BOOST_CHECK_EQUAL(*(**this).Count({}, "t", Predicate::Equal("c", "two"), {}), 0u);
    round == 0 ? Flush() : Compact();
  }
}

BOOST_AUTO_TEST_CASE(AnExpiredVersionIsNoVersion) {
  Create(2, 1'000'000);
  const int64_t now = clock.WallMicros();
  PutAt(now, "a");
  clock.Advance(999'999);
  BOOST_CHECK_EQUAL(Value("r", "q"), "a");
  clock.Advance(1);
  BOOST_CHECK_EQUAL(Rows(), "");
  const uint64_t sequence = Sequence();
  Delete(now);
  BOOST_CHECK_EQUAL(Sequence(), sequence);
  clock.SetWall(now);  // The engine's time does not go back.
  BOOST_CHECK_EQUAL(Rows(), "");
  Flush();
  BOOST_CHECK_EQUAL(FileCount(), 0u);
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  PutAt(now, "b");
  BOOST_CHECK_EQUAL(Rows(), "");
}

BOOST_AUTO_TEST_CASE(ASnapshotKeepsWhatExpiresAfterIt) {
  Create(1, 1'000'000);
  BOOST_REQUIRE(Put("r", "q", "a").ok());
  Result<Snapshot> snapshot = (**this).TakeSnapshot();
  clock.Advance(2'000'000);
  Compact();
  BOOST_CHECK_EQUAL(Rows(), "");
  ReadOptions old;
  old.snapshot = &*snapshot;
  BOOST_CHECK((*(**this).Get(old, "t", "r")).has_value());
}

BOOST_AUTO_TEST_CASE(TheSmallestTimestampCanBeDeleted) {
  Create(1);
  PutAt(INT64_MIN, "a");
  Delete(INT64_MIN);
  BOOST_CHECK_EQUAL(Rows(), "");
  PutAt(INT64_MIN, "b");
  BOOST_CHECK_EQUAL(Versions("r", "q"), "b@" + std::to_string(INT64_MIN));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

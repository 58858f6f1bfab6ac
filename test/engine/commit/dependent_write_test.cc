// Writes that depend on what is stored: increments, appends, checks. What another call does between
// the read of files and the commit is done here by the hook of the disk, on the writer's thread.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <limits>
#include <thread>

#include "tandem/encoding.h"
#include "tandem/limits.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

struct DependentFixture : TestEngine {
  void Create(uint32_t max_versions = 1, int64_t ttl_micros = 0) {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable(max_versions, ttl_micros);
    const auto add = [&table](const std::string& name, ColumnType type) {
      table.indexes.push_back(
          {.name = "by_" + name, .columns = {{.family = "d", .qualifier = name, .type = type}}});
    };
    add("i", ColumnType::kInt64);
    add("be", ColumnType::kInt64Be);
    add("u", ColumnType::kUint64);
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
  }
  /// The sum, or the error.
  std::string Add(std::string_view qualifier, int64_t delta, std::string_view row = "r",
                  Durability durability = Durability::kWritten) {
    const ColumnDelta column{.qualifier = qualifier, .delta = delta};
    const auto sums =
        (**this).IncrementColumns({.durability = durability}, "t", row, "", {&column, 1});
    return sums.has_value() ? std::to_string(sums->front()) : sums.error().ToString();
  }
  std::string Append(std::string_view qualifier, std::string_view value) {
    const ColumnValue column{.qualifier = qualifier, .value = value};
    const auto values = (**this).AppendColumns({}, "t", "r", "d", {&column, 1});
    return values.has_value() ? values->front() : values.error().ToString();
  }
  /// Puts d:x=`value` if the row passes the check.
  std::string Check(std::string_view condition, std::string_view value) {
    WriteBatch batch;
    batch.Put("t", "r", "d", "x", value);
    return CheckThen(condition, batch);
  }
  std::string CheckThen(std::string_view condition, const WriteBatch& batch) {
    const auto predicate = Predicate::Parse(condition);
    BOOST_REQUIRE(predicate.has_value());
    const auto applied = (**this).CheckAndMutate({}, "t", "r", *predicate, batch);
    if (!applied.has_value()) return applied.error().ToString();
    return *applied ? "applied" : "not applied";
  }
  void Delete(std::string_view qualifier) {
    WriteBatch batch;
    batch.DeleteCell("t", "r", "d", qualifier);
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK"); }
  void PutN(std::string_view value, std::string_view qualifier = "n") {
    BOOST_REQUIRE_EQUAL(Put("r", qualifier, value).ToString(), "OK");
  }
  Statistics Counters() { return (**this).GetStatistics(); }
  /// Flushes, and opens again so that no block is cached; then `action` is done when the next call
  /// reads, `times` times.
  void AtNextRead(std::function<void()> action, int times = 1) {
    Flush();
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    left_ = times;
    disk.control().SetHook([this, action = std::move(action)](const DiskEvent& event) {
      if (event.operation != DiskOperation::kRead || left_ == 0 || inside_) return;
      --left_;
      inside_ = true;
      action();
      inside_ = false;
    });
  }
  ~DependentFixture() { disk.control().SetHook(nullptr); }

  int left_ = 0;
  bool inside_ = false;
};

BOOST_FIXTURE_TEST_SUITE(DependentWrites, DependentFixture)

BOOST_AUTO_TEST_CASE(IncrementsAddUpInMemstoresAndFiles) {
  Create();
  BOOST_CHECK_EQUAL(Add("n", 5), "5");
  BOOST_CHECK_EQUAL(Add("n", -7), "-2");
  Flush();
  BOOST_CHECK_EQUAL(Add("n", 10), "8");
  BOOST_CHECK_EQUAL(Value("r", "n"), "8");
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Value("r", "n"), "8");
  BOOST_CHECK_EQUAL(Add("n", 1), "9");
  BOOST_CHECK_EQUAL(Counters().dependent_writes, 1u);
}

BOOST_AUTO_TEST_CASE(AHotRowIsCounted) {
  Create(3);
  for (int i = 1; i <= 200; ++i) {
    BOOST_REQUIRE_EQUAL(Add("n", 1), std::to_string(i));
    BOOST_REQUIRE_EQUAL(Add("m", 2), std::to_string(2 * i));
    if (i % 77 == 0) Flush();
  }
}

BOOST_AUTO_TEST_CASE(SeveralColumnsAreOneOperation) {
  Create();
  BOOST_CHECK_EQUAL(Add("a", 1), "1");
  const uint64_t before = (**this).Info().last_sequence;
  const std::vector<ColumnDelta> deltas = {{"b", 2}, {"a", 3}};
  const auto sums = (**this).IncrementColumns({}, "t", "r", "d", deltas);
  BOOST_REQUIRE(sums.has_value());
  BOOST_CHECK((*sums == std::vector<int64_t>{2, 4}));
  BOOST_CHECK_EQUAL(Rows(), "r{a=4 b=2}");
  BOOST_CHECK_EQUAL((**this).Info().last_sequence, before + 1);
  const std::vector<ColumnDelta> twice = {{"a", 1}, {"a", 1}};
  BOOST_CHECK(!(**this).IncrementColumns({}, "t", "r", "d", twice).has_value());
  BOOST_CHECK(!(**this).IncrementColumns({}, "t", "r", "d", {}).has_value());
  BOOST_CHECK(!(**this).IncrementColumns({}, "no", "r", "d", deltas).has_value());
}

BOOST_AUTO_TEST_CASE(WhatIsNoIntegerIsRefused) {
  Create();
  PutN("12a");
  const uint64_t before = (**this).Info().last_sequence;
  BOOST_CHECK_EQUAL(Add("n", 1),
                    "InvalidArgument: row 'r', column 'd:n': '12a' is not an integer of 64 bits");
  PutN(std::to_string(kMax), "i");
  BOOST_CHECK_EQUAL(Add("i", 1),
                    "InvalidArgument: row 'r', column 'd:i': 9223372036854775807 + 1 is out of "
                    "the range of int64");
  BOOST_CHECK_EQUAL(Add("u", 1), "1");
  BOOST_CHECK(Add("u", -2).starts_with("InvalidArgument: row 'r', column 'd:u', index 'by_u': "));
  BOOST_CHECK_EQUAL((**this).Info().last_sequence, before + 2);
  const std::vector<ColumnDelta> both = {{"u", 1}, {"n", 1}};
  BOOST_CHECK(!(**this).IncrementColumns({}, "t", "r", "d", both).has_value());
  BOOST_CHECK_EQUAL(Value("r", "u"), "1");
  PutN(std::string(kValueBytesMax, 'x'), "long");
  Flush();
  BOOST_CHECK(Add("long", 1).find("is not an integer of 64 bits") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(IntegersAreStoredAsTheIndexReadsThem) {
  Create();
  BOOST_CHECK_EQUAL(Add("be", 258), "258");
  BOOST_CHECK_EQUAL(Add("be", 1), "259");
  BOOST_CHECK_EQUAL(Value("r", "be"), EncodeInt64Be(259));
  BOOST_CHECK_EQUAL(Add("i", 12), "12");
  for (const char* condition : {"be = 259", "i = 12"}) {
    const auto count = (**this).Count({}, "t", *Predicate::Parse(condition), {});
    BOOST_CHECK_EQUAL(count.has_value() ? *count : 0u, 1u);
  }
}

// The increment must not write below the version that it adds to.
BOOST_AUTO_TEST_CASE(AVersionOfTheFutureIsReplaced) {
  Create(2);
  const int64_t future = clock.WallMicros() + 1'000'000'000;
  BOOST_REQUIRE_EQUAL(Put("r", "n", "100", Durability::kWritten, future).ToString(), "OK");
  BOOST_CHECK_EQUAL(Add("n", 1), "101");
  Flush();
  BOOST_CHECK_EQUAL(Add("n", 1), "102");
  BOOST_CHECK_EQUAL(Versions("r", "n"), "102@" + std::to_string(future));
}

BOOST_AUTO_TEST_CASE(WhatHasExpiredIsAbsent) {
  Create(1, 1000);
  BOOST_CHECK_EQUAL(Add("n", 5), "5");
  Flush();
  clock.Advance(2000);
  BOOST_CHECK_EQUAL(Add("n", 1), "1");
  clock.Advance(2000);
  BOOST_CHECK_EQUAL(Check("n IS NULL", "1"), "applied");
}

BOOST_AUTO_TEST_CASE(WhatWasDeletedIsAbsent) {
  Create(3);
  PutN("5");
  PutN("6");
  Delete("n");
  BOOST_CHECK_EQUAL(Add("n", 1), "6");
  Flush();
  WriteBatch batch;
  batch.DeleteRow("t", "r");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Add("n", 1), "1");
}

BOOST_AUTO_TEST_CASE(AppendsReturnTheWholeValue) {
  Create();
  BOOST_CHECK_EQUAL(Append("n", "ab"), "ab");
  Flush();
  BOOST_CHECK_EQUAL(Append("n", "cd"), "abcd");
  const std::string half(kValueBytesMax / 2, 'x');
  BOOST_CHECK(Append("n", half) == "abcd" + half);
  Flush();
  BOOST_CHECK_EQUAL(Append("n", half),
                    "InvalidArgument: row 'r', column 'd:n': the value would have 16777220 bytes, "
                    "the limit is 16777216");
  BOOST_CHECK(Append("n", "e") == "abcd" + half + "e");
  BOOST_CHECK(Append("i", "x").starts_with("InvalidArgument: row 'r', column 'd:i', index 'by_i'"));
}

BOOST_AUTO_TEST_CASE(ABatchIsAppliedIfTheRowPasses) {
  Create();
  BOOST_CHECK_EQUAL(Check("x IS NULL", "1"), "applied");
  BOOST_CHECK_EQUAL(Check("x IS NULL", "2"), "not applied");
  BOOST_CHECK_EQUAL(Check("x = '1' AND y IS NULL", "2"), "applied");
  Flush();
  BOOST_CHECK_EQUAL(Check("x = '1'", "3"), "not applied");
  BOOST_CHECK_EQUAL(Check("NOT x = '1' AND _row = 'r'", "3"), "applied");
  BOOST_CHECK_EQUAL(Check("_row = 's'", "4"), "not applied");
  BOOST_CHECK_EQUAL(Rows(), "r{x=3}");
  BOOST_CHECK_EQUAL(Add("i", 10), "10");
  BOOST_CHECK_EQUAL(Check("i > 9 AND x IN ('2', '3')", "4"), "applied");
  const uint64_t before = (**this).Info().last_sequence;
  BOOST_CHECK_EQUAL(CheckThen("x = '4'", {}), "applied");
  BOOST_CHECK_EQUAL(CheckThen("x = '5'", {}), "not applied");
  BOOST_CHECK_EQUAL((**this).Info().last_sequence, before);
  BOOST_CHECK(Check("no:x = '1'", "1").starts_with("NotFound"));
}

// A batch over several rows, which deletes a version and puts into the column twice.
BOOST_AUTO_TEST_CASE(ABatchSeesItsOwnOperations) {
  Create(2);
  PutN("1");
  Flush();
  WriteBatch batch;
  batch.Put("t", "r", "d", "n", "2");
  batch.DeleteCell("t", "r", "d", "n");
  batch.Put("t", "s", "d", "n", "3");
  BOOST_CHECK_EQUAL(CheckThen("n = 1", batch), "applied");
  BOOST_CHECK_EQUAL(Rows(), "r{n=1} s{n=3}");
}

BOOST_AUTO_TEST_CASE(APutBetweenReadAndCommitIsSeen) {
  Create(2);
  PutN("1");
  AtNextRead([this] { PutN("10"); });
  BOOST_CHECK_EQUAL(Add("n", 1), "11");
  BOOST_CHECK_EQUAL(Counters().caught_up_writes, 1u);
  BOOST_CHECK_EQUAL(Counters().reread_writes, 0u);
  AtNextRead([this] { PutN("20"); });
  Delete("n");
  BOOST_CHECK_EQUAL(Value("r", "n"), "11");
}

BOOST_AUTO_TEST_CASE(AFlushBetweenReadAndCommitHasItReadAgain) {
  Create();
  PutN("1");
  AtNextRead([this] {
    PutN("10");
    Flush();
  });
  BOOST_CHECK_EQUAL(Add("n", 1), "11");
  BOOST_CHECK_EQUAL(Counters().reread_writes, 1u);
  BOOST_CHECK_EQUAL(Counters().caught_up_writes, 0u);
  BOOST_CHECK_EQUAL(Counters().writes_alone, 0u);
}

// What is flushed is not of the row, or was not asked for.
BOOST_AUTO_TEST_CASE(AMergeBetweenReadAndCommitChangesNothing) {
  Create();
  PutN("1");
  Flush();
  PutN("2");
  AtNextRead([this] { BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK"); });
  BOOST_CHECK_EQUAL(Add("n", 1), "3");
  BOOST_CHECK_EQUAL(Counters().reread_writes, 0u);
}

BOOST_AUTO_TEST_CASE(AfterThreeReadsTheLeaderReads) {
  Create();
  PutN("1");
  uint64_t puts = 0;
  const auto flush_once_a_read = [this, &puts] {
    if (puts == 3 || puts > Counters().reread_writes) return;
    PutN(std::to_string(++puts * 10));
    Flush();
  };
  AtNextRead(flush_once_a_read, 1000);
  BOOST_CHECK_EQUAL(Add("n", 1), "31");
  BOOST_CHECK_EQUAL(Counters().reread_writes, 3u);
  BOOST_CHECK_EQUAL(Counters().writes_alone, 1u);
}

BOOST_AUTO_TEST_CASE(ASplitBetweenReadAndCommitMovesTheRow) {
  Create();
  PutN("1");
  BOOST_REQUIRE_EQUAL(Put("a", "n", "1").ToString(), "OK");
  AtNextRead([this] {
    PutN("10");
    BOOST_REQUIRE_EQUAL((**this).Split("t", {.key = "m"}).status().ToString(), "OK");
  });
  BOOST_CHECK_EQUAL(Add("n", 1), "11");
  AtNextRead([this] {
    PutN("20");
    Flush();
    BOOST_REQUIRE_EQUAL((**this).MergeRegions("t", {}).status().ToString(), "OK");
  });
  BOOST_CHECK_EQUAL(Add("n", 1), "21");
}

BOOST_AUTO_TEST_CASE(ATruncationBetweenReadAndCommitIsSeen) {
  Create();
  PutN("1");
  AtNextRead([this] { BOOST_REQUIRE_EQUAL((**this).TruncateTable("t").ToString(), "OK"); });
  BOOST_CHECK_EQUAL(Check("n IS NULL", "1"), "applied");
  PutN("5");
  AtNextRead([this] { BOOST_REQUIRE_EQUAL((**this).DropTable("t").ToString(), "OK"); });
  BOOST_CHECK_EQUAL(Add("n", 1), "NotFound: table 't' does not exist");
}

BOOST_AUTO_TEST_CASE(WhatNoLogHoldsIsFlushedFirst) {
  Create();
  WriteBatch batch;
  batch.Put("t", "r", "d", "n", "10");
  batch.Put("t", "s", "d", "n", "10");
  BOOST_REQUIRE_EQUAL(Write(batch, Durability::kMemory).ToString(), "OK");
  BOOST_CHECK_EQUAL(Check("n = 9", "1"), "not applied");
  BOOST_CHECK_EQUAL(Counters().flushes, 0u);
  BOOST_CHECK_EQUAL(Add("n", 1, "r", Durability::kSynced), "11");
  BOOST_CHECK_EQUAL(Counters().writes_that_flushed, 1u);
  Crash({.kept = CrashPolicy::Kept::kNone});
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "r{n=11} s{n=10}");
}

BOOST_AUTO_TEST_CASE(ErrorsOfTheReadFailTheWriteAlone) {
  Create();
  PutN("1");
  AtNextRead([] {}, 0);
  disk.control().InjectFault({.operations = {DiskOperation::kRead}, .at = 1});
  BOOST_CHECK(Add("n", 1).starts_with("IoError"));
  BOOST_CHECK_EQUAL(Add("n", 1), "2");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

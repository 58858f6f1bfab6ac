// Which queries a listener hears of as slow, and that what it hears is what Explain says. Time
// passes where the test says so: in a function of the program that conditions call for each row.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/predicate/given_values.h"
#include "tandem/event_listener.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

constexpr int64_t kMicrosOfRow = 10;
constexpr int kRows = 60;

struct Told {
  std::string table, call, predicate;
  QueryOptions options;
  std::vector<ColumnName> columns;
  std::vector<std::string> families;
  Explanation explanation;
  uint64_t rows;
  int64_t micros;
  bool is_whole;
  StatusCode code;
};

class SlowRecorder final : public EventListener {
 public:
  void OnSlowQuery(const SlowQueryEvent& event) override {
    told.push_back({std::string(event.table), std::string(event.call), std::string(event.predicate),
                    *event.options, *event.columns, *event.families, *event.explanation, event.rows,
                    event.micros, event.is_whole, event.status.code()});
    then();
  }
  std::vector<Told> told;
  std::function<void()> then = [] {};
};

struct SlowFixture : TestEngine {
  SlowFixture() {
    options.listener = recorder;
    options.slow_query_micros = 5 * kMicrosOfRow;
    auto function = std::make_shared<RegisteredFunction>();
    function->apply = [this](std::string_view value) {
      clock.Advance(kMicrosOfRow);
      return std::optional<std::string>(value);
    };
    options.functions.emplace("slowly", std::move(function));
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.families[0].block_size_bytes = 512;
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
    for (int i = 0; i < kRows; ++i) {
      WriteBatch batch;
      batch.Put("t", Key(i), "d", "c", i % 4 == 0 ? "few" : "many");
      batch.Put("t", Key(i), "d", "n", std::to_string(i));
      batch.Put("t", Key(i), "d", "x", std::string(60, 'x'));
      BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  }
  static std::string Key(int i) { return "row" + std::to_string(100 + i); }
  static Predicate Parsed(std::string_view text) { return *Predicate::Parse(text); }

  uint64_t ReadAll(Cursor* cursor) {
    uint64_t rows = 0;
    while (cursor->Next()) ++rows;
    return rows;
  }
  /// Rows of a query that is read to its end.
  uint64_t Run(const Predicate& predicate, const QueryOptions& query = {},
               const ReadOptions& read = {}) {
    Result<Cursor> cursor = (**this).Query(read, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    const uint64_t rows = ReadAll(&*cursor);
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
  /// The only event since the last call.
  Told TakeOne() {
    const std::vector<Told> told = std::exchange(recorder->told, {});
    BOOST_REQUIRE_EQUAL(told.size(), 1u);
    return told[0];
  }

  std::shared_ptr<SlowRecorder> recorder = std::make_shared<SlowRecorder>();
};

BOOST_FIXTURE_TEST_SUITE(slow_query, SlowFixture)

BOOST_AUTO_TEST_CASE(ToldOnceWhenTheCursorHasEnded) {
  const Predicate predicate = Parsed("call('slowly', n) != '7'");
  BOOST_TEST(Run(predicate) == kRows - 1u);
  const Told told = TakeOne();
  BOOST_TEST(told.table == "t");
  BOOST_TEST(told.call == "query");
  BOOST_TEST(told.predicate == predicate.ToString());
  BOOST_TEST(told.rows == kRows - 1u);
  BOOST_TEST(told.micros == kRows * kMicrosOfRow);
  BOOST_TEST(told.is_whole);
  BOOST_TEST((told.code == StatusCode::kOk));
}

BOOST_AUTO_TEST_CASE(WhatWasAskedForIsTold) {
  ReadOptions read;
  read.columns = {{"", "n"}};
  read.families = {"d"};
  Run(Parsed("call('slowly', n) != '7'"), {}, read);
  const Told told = TakeOne();
  BOOST_REQUIRE_EQUAL(told.columns.size(), 1u);
  BOOST_TEST(told.columns[0].qualifier == "n");
  BOOST_TEST(told.families == read.families, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(NotToldAtTheThreshold) {
  options.slow_query_micros = kRows * kMicrosOfRow;
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  Run(Parsed("call('slowly', n) != '7'"));
  BOOST_TEST(recorder->told.empty());
}

BOOST_AUTO_TEST_CASE(NotToldWithoutAThreshold) {
  options.slow_query_micros = 0;
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  Run(Parsed("call('slowly', n) != '7'"));
  BOOST_TEST(recorder->told.empty());
}

// The time that the caller takes between rows, here by ending the batch with each row.
BOOST_AUTO_TEST_CASE(TimeBetweenCallsDoesNotCount) {
  Result<Cursor> cursor = (**this).Query({}, "t", Parsed("call('slowly', n) != '7'"), {});
  BOOST_REQUIRE(cursor.has_value());
  while (cursor->Next()) clock.Advance(1'000'000);
  BOOST_TEST(TakeOne().micros == kRows * kMicrosOfRow);
}

BOOST_AUTO_TEST_CASE(CursorThatIsDestroyedEarly) {
  {
    Result<Cursor> cursor = (**this).Query({}, "t", Parsed("call('slowly', n) != '7'"), {});
    BOOST_REQUIRE(cursor.has_value());
    for (int i = 0; i < 13; ++i) BOOST_REQUIRE(cursor->Next());
    BOOST_TEST(recorder->told.empty());
  }
  const Told told = TakeOne();
  BOOST_TEST(told.rows == 13u);
  BOOST_TEST(!told.is_whole);
  BOOST_TEST((told.code == StatusCode::kOk));
}

BOOST_AUTO_TEST_CASE(ReadsThatWereStopped) {
  std::atomic<bool> cancelled{false};
  ReadOptions read;
  read.cancelled = &cancelled;
  Result<Cursor> cursor = (**this).Query(read, "t", Parsed("call('slowly', n) != '7'"), {});
  BOOST_REQUIRE(cursor.has_value());
  for (int i = 0; i < 13; ++i) BOOST_REQUIRE(cursor->Next());
  cancelled = true;
  BOOST_REQUIRE(!cursor->Next());
  const Told stopped = TakeOne();
  BOOST_TEST(stopped.rows == 13u);
  BOOST_TEST(!stopped.is_whole);
  BOOST_TEST((stopped.code == StatusCode::kCancelled));

  ReadOptions few;
  few.budget.rows = 20;
  QueryOptions limited;
  limited.limit = kRows;
  Result<Cursor> poor = (**this).Query(few, "t", Parsed("call('slowly', n) != '7'"), limited);
  BOOST_REQUIRE(poor.has_value());
  while (poor->Next()) {
  }
  BOOST_REQUIRE((poor->status().code() == StatusCode::kOverBudget));
  const Told spent = TakeOne();
  BOOST_TEST(!spent.is_whole);
  BOOST_TEST((spent.code == StatusCode::kOverBudget));
  // The row that passed it was looked at, too.
  BOOST_TEST(spent.explanation.candidate_rows >= 20u);
  BOOST_TEST(spent.explanation.candidate_rows <= 21u);
}

// What is stopped within the call that began it. One that is cancelled before takes no time.
BOOST_AUTO_TEST_CASE(CallsThatWereStopped) {
  ReadOptions short_of_time;
  short_of_time.budget.micros = 20 * kMicrosOfRow;
  const Predicate predicate = Parsed("call('slowly', n) != '7'");
  const Result<uint64_t> count = (**this).Count(short_of_time, "t", predicate, {});
  BOOST_REQUIRE((count.status().code() == StatusCode::kOverBudget));
  const Told stopped = TakeOne();
  BOOST_TEST(stopped.call == "count");
  BOOST_TEST(stopped.rows == 0u);
  BOOST_TEST(!stopped.is_whole);
  BOOST_TEST((stopped.code == StatusCode::kOverBudget));
  BOOST_TEST(stopped.explanation.candidate_rows >= 20u);

  const std::atomic<bool> cancelled{true};
  ReadOptions read;
  read.cancelled = &cancelled;
  BOOST_REQUIRE(
      ((**this).Count(read, "t", predicate, {}).status().code() == StatusCode::kCancelled));
  BOOST_TEST(recorder->told.empty());
}

BOOST_AUTO_TEST_CASE(CountsAndAggregates) {
  const Predicate predicate = Parsed("call('slowly', n) != '7'");
  BOOST_TEST(*(**this).Count({}, "t", predicate, {}) == kRows - 1u);
  const Told counted = TakeOne();
  BOOST_TEST(counted.call == "count");
  BOOST_TEST(counted.rows == kRows - 1u);
  BOOST_TEST(counted.is_whole);

  AggregateOptions groups;
  groups.group_by = {"c"};
  groups.values = {{AggregateKind::kRows, {}}};
  Result<Cursor> cursor = (**this).Aggregate({}, "t", predicate, groups);
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  BOOST_TEST(ReadAll(&*cursor) == 2u);
  const Told grouped = TakeOne();
  BOOST_TEST(grouped.call == "aggregate");
  BOOST_TEST(grouped.rows == 2u);
  BOOST_TEST(grouped.explanation.groups == 2u);
  BOOST_TEST(grouped.explanation.candidate_rows > 0u);
  BOOST_REQUIRE(grouped.columns.size() == 1u);
  BOOST_TEST(grouped.columns[0].qualifier == "c");
}

BOOST_AUTO_TEST_CASE(PreparedQueriesHaveTheirValues) {
  Result<PreparedQuery> query =
      (**this).Prepare("t", Parsed("call('slowly', n) != ?2 AND c IN (?1, 'other')"), {});
  BOOST_REQUIRE_EQUAL(query.status().ToString(), "OK");
  BOOST_REQUIRE(query->Bind(1, "many").ok());
  BOOST_REQUIRE(query->Bind(2, "it's").ok());
  Result<Cursor> cursor = (**this).Query({}, &*query);
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  BOOST_REQUIRE(query->Bind(1, "few").ok());  // Of the next run.
  BOOST_TEST(ReadAll(&*cursor) == kRows * 3u / 4);
  BOOST_TEST(TakeOne().predicate == "call('slowly', n) != 'it''s' AND c IN ('many', 'other')");
  BOOST_TEST(*(**this).Count({}, &*query) == kRows / 4u);
  BOOST_TEST(TakeOne().predicate == "call('slowly', n) != 'it''s' AND c IN ('few', 'other')");
}

// But for what the event says it does not know.
BOOST_AUTO_TEST_CASE(ExplanationIsThatOfExplain) {
  struct Case {
    std::string predicate;
    QueryOptions options = {};
  };
  const Case cases[] = {
      {"call('slowly', n) != '7'"},
      {"c = 'few' AND call('slowly', n) != '7'"},
      {"c = 'few' AND call('slowly', n) != '7'", {.limit = 8}},
      {"call('slowly', n) != '7'", {.order_by = "by_c", .limit = 20, .offset = 3}},
      {"c = 'few' AND call('slowly', n) != '7'", {.no_index = true}},
  };
  for (const Case& each : cases) {
    BOOST_TEST_CONTEXT(each.predicate) {
      const Predicate predicate = Parsed(each.predicate);
      const Result<Explanation> explained = (**this).Explain({}, "t", predicate, each.options);
      BOOST_REQUIRE_EQUAL(explained.status().ToString(), "OK");
      BOOST_TEST(Run(predicate, each.options) == explained->rows);
      const Explanation told = TakeOne().explanation;
      BOOST_TEST(told.index == explained->index);
      BOOST_TEST(told.reason == explained->reason);
      BOOST_TEST(told.files == explained->files);
      BOOST_TEST(told.memstores == explained->memstores);
      BOOST_TEST(told.candidate_rows == explained->candidate_rows);
      BOOST_TEST(told.candidate_blocks == explained->candidate_blocks);
      BOOST_TEST(told.candidate_bytes == explained->candidate_bytes);
      BOOST_TEST(told.merged_rows == explained->merged_rows);
      BOOST_TEST(told.rows == explained->rows);
      BOOST_TEST(told.skipped_by_reading == explained->skipped_by_reading);
      BOOST_TEST(told.total_blocks == 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(ListenerMayReadAndThrow) {
  recorder->then = [this] {
    BOOST_CHECK_EQUAL(*(**this).Count({}, "t", Predicate::Equal("c", "few"), {}), kRows / 4u);
    throw std::runtime_error("it does not matter");
  };
  BOOST_TEST(Run(Parsed("call('slowly', n) != '7'")) == kRows - 1u);
  BOOST_TEST((**this).GetStatistics().listener_failures == 1u);
  BOOST_TEST(recorder->told.size() == 1u);
}

BOOST_AUTO_TEST_CASE(DatabaseThatGoesBeforeItsCursor) {
  Result<Cursor> cursor = (**this).Query({}, "t", Parsed("call('slowly', n) != '7'"), {});
  BOOST_REQUIRE(cursor.has_value());
  BOOST_REQUIRE(cursor->Next());
  Drop();
  BOOST_TEST(!cursor->Next());
  BOOST_TEST((cursor->status().code() == StatusCode::kClosed));
}

BOOST_AUTO_TEST_CASE(NegativeThresholdIsRefused) {
  Options negative;
  negative.slow_query_micros = -1;
  negative.create_if_missing = true;
  const auto opened = Database::Open("nowhere", negative);
  BOOST_TEST((opened.error().code() == StatusCode::kInvalidArgument));
}

// A predicate with parameters whose text has values in their places is the one without.
BOOST_AUTO_TEST_CASE(TextWithValuesIsTheSamePredicate) {
  TestRandom random("slow_query");
  const auto value = [&random] {
    std::string text;
    const uint64_t size = random.Below(6);
    for (uint64_t i = 0; i < size; ++i) text += static_cast<char>(random.Below(256));
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    engine::ParameterValues values;
    std::vector<Predicate> with, without;
    const uint64_t count = 1 + random.Below(5);
    for (uint64_t i = 0; i < count; ++i) {
      const auto kind = static_cast<Predicate::Kind>(static_cast<int>(Predicate::Kind::kEqual) +
                                                     static_cast<int>(random.Below(10)));
      const std::string column = random.Below(2) == 0 ? "a b" : "d:\"x";
      const size_t needed = kind == Predicate::Kind::kBetween ? 2
                            : kind == Predicate::Kind::kIn    ? random.Below(4)
                                                              : 1;
      std::vector<Parameter> parameters;
      std::vector<std::string> given;
      for (size_t j = 0; j < needed; ++j) {
        given.push_back(value());
        values.emplace_back(given.back());
        parameters.emplace_back(static_cast<uint32_t>(values.size()));
      }
      with.push_back(Predicate::CompareWith(kind, column, parameters));
      without.push_back(Predicate::Compare(kind, column, given));
      if (random.Below(3) == 0) with.back() = Predicate::Not(std::move(with.back()));
      if (with.back().kind() == Predicate::Kind::kNot) {
        without.back() = Predicate::Not(std::move(without.back()));
      }
    }
    const bool is_or = random.Below(2) == 0;
    const Predicate asked = is_or ? Predicate::Or(with) : Predicate::And(with);
    const Predicate plain = is_or ? Predicate::Or(without) : Predicate::And(without);
    const std::string text = engine::TextWith(asked, values);
    BOOST_REQUIRE_EQUAL(text, plain.ToString());
    const Result<Predicate> parsed = Predicate::Parse(text);
    BOOST_REQUIRE_MESSAGE(parsed.has_value(), text);
    BOOST_REQUIRE_EQUAL(parsed->ToString(), text);
    BOOST_REQUIRE_EQUAL(parsed->parameter_count(), 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

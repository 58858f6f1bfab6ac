// Reads on several threads (ReadOptions::threads): the same rows in the same order as with one, the
// same tokens, limits and budgets; and ends that come early.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 16'000;

std::string Key(uint64_t row) { return "row" + std::to_string(100'000 + row); }

ReadOptions On(uint32_t threads, ReadOptions read = {}) {
  read.threads = threads;
  return read;
}

// Rows in several files and memstores of several regions, some of them twice, and large ones.
struct ThreadsFixture {
  ThreadsFixture() {
    database = OpenSmall(directory.Path("db"));
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d", .max_versions = 2, .block_size_bytes = 1'024}, {.name = "e"}};
    table.split_keys = {Key(4'000), Key(12'000)};
    table.indexes = {{.name = "n", .columns = {{"d", "n", ColumnType::kInt64}}},
                     {.name = "nm",
                      .columns = {{"d", "m", ColumnType::kInt64}, {"d", "n", ColumnType::kInt64}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    Put(0, kRows, 1, 0);
    BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
    Put(0, kRows, 7, 100);
    BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
    Put(3, kRows, 11, 200);
    WriteBatch batch;
    for (uint64_t row = 0; row < kRows; row += 401) batch.DeleteRow("t", Key(row));
    for (uint64_t row = 500; row < kRows; row += 4'000) {
      batch.Put("t", Key(row), "e", "large", std::string(40'000, 'x'));
      batch.Put("t", Key(row), "e", "largest", std::string(90'000, 'y'));
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }

  void Put(uint64_t first, uint64_t end, uint64_t step, uint64_t salt) {
    WriteBatch batch;
    for (uint64_t row = first; row < end; row += step) {
      const uint64_t value = (row * 7'919 + salt) % 5'003;
      batch.Put("t", Key(row), "d", "n", std::to_string(value));
      batch.Put("t", Key(row), "d", "m", std::to_string(value % 7));
      batch.Put("t", Key(row), "d", "text", "text of row " + std::to_string(row + salt));
      if (row % 5 == 0) batch.Put("t", Key(row), "e", "odd", std::to_string(row));
      if (batch.operation_count() < 1'000) continue;
      BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
      batch = WriteBatch();
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }

  using Open = std::function<Result<Cursor>(const ReadOptions&)>;

  // All that a cursor gives, with a token at some rows; then how it ended.
  static std::vector<std::string> All(Result<Cursor> cursor) {
    std::vector<std::string> all;
    BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
    while (cursor->Next()) {
      const RowView& row = cursor->row();
      std::string line(row.key());
      for (const Cell& cell : row.cells()) {
        line += " " + std::string(cell.family) + ":" + std::string(cell.qualifier) + "@" +
                std::to_string(cell.timestamp) + "=" + std::string(cell.value.substr(0, 40));
      }
      if (row.continues()) line += " ...";
      if (all.size() % 997 == 0) line += " token " + *cursor->Token();
      all.push_back(std::move(line));
    }
    all.push_back(cursor->status().ToString());
    return all;
  }
  static void CheckSame(const Open& open, ReadOptions read = {}) {
    const std::vector<std::string> one = All(open(On(1, read)));
    for (const uint32_t threads : {2u, 4u}) {
      const std::vector<std::string> several = All(open(On(threads, read)));
      BOOST_REQUIRE_EQUAL(several.size(), one.size());
      for (size_t i = 0; i < one.size(); ++i) BOOST_REQUIRE_EQUAL(several[i], one[i]);
    }
  }
  void CheckQuery(std::string_view text, const QueryOptions& query = {}, ReadOptions read = {}) {
    BOOST_TEST_CONTEXT("query '" << text << "' by '" << query.order_by << "'") {
      const Predicate predicate = text.empty() ? Predicate() : *Predicate::Parse(text);
      CheckSame(
          [&](const ReadOptions& options) {
            return database->Query(options, "t", predicate, query);
          },
          read);
      for (const uint32_t threads : {2u, 4u}) {
        BOOST_CHECK_EQUAL(*database->Count(On(threads, read), "t", predicate, query),
                          *database->Count(On(1, read), "t", predicate, query));
      }
    }
  }
  void CheckScan(const ScanOptions& scan = {}, ReadOptions read = {}) {
    CheckSame([&](const ReadOptions& options) { return database->Scan(options, "t", scan); }, read);
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

BOOST_FIXTURE_TEST_SUITE(read_threads, ThreadsFixture)

BOOST_AUTO_TEST_CASE(a_scan_gives_the_same_rows) {
  CheckScan();
  CheckScan({.reverse = true});
  CheckScan({.start = Key(700), .end = Key(13'333)});
  CheckScan({.start = Key(700), .end = Key(13'333), .reverse = true, .limit = 9'000});
  CheckScan({.limit = 6'000, .offset = 3'999});
  CheckScan({.prefix = "row11"});
  ScanOptions ranges;
  for (uint64_t row = 0; row < kRows; row += 300) {
    ranges.ranges.push_back({Key(row), Key(row + 250)});
  }
  CheckScan(ranges);
  ranges.reverse = true;
  ranges.limit = 3'000;
  CheckScan(ranges);
  ReadOptions read;
  read.columns = {{"e", "odd"}};
  CheckScan({}, read);
  read = {};
  read.pieces = true;
  read.versions = 2;
  CheckScan({}, read);
  CheckScan({.reverse = true, .limit = 12'000, .offset = 11}, read);
}

BOOST_AUTO_TEST_CASE(a_filter_gives_the_same_rows) {
  const QueryOptions scans{.no_index = true};
  CheckQuery("", scans);
  CheckQuery("n < 1000", scans);
  CheckQuery("n = 77", scans);
  CheckQuery("text LIKE 'text of row 1%' AND m > 2", scans);
  CheckQuery("odd IS NULL", scans);
  CheckQuery("n < 2500", {.limit = 4'000, .no_index = true});
  CheckQuery("n < 2500", {.limit = 4'000, .offset = 2'000, .no_index = true});
  CheckQuery("m = 3 AND (_row < 'row104000' OR _row > 'row110000')", scans);
  CheckQuery("n < 100");
  CheckQuery("n > 100");
}

// By rows that an index leads to: in a file that nothing overlaps, or in files and memstores.
BOOST_AUTO_TEST_CASE(hits_give_the_same_rows) {
  for (int round = 0; round < 2; ++round) {
    for (const char* text : {"n < 4900", "n > 100 AND n < 4000", "n < 4000 AND text LIKE '%1%'",
                             "n < 2000 OR m = 5", "m IN (1, 2, 3) AND odd IS NULL",
                             "n < 4900 AND (_row < 'row104000' OR _row > 'row110000')"}) {
      for (const char* index : {"n", "nm"}) {
        QueryOptions query;
        const bool serves = std::string_view(text).starts_with(index[1] == 'm' ? "m " : "n ");
        if (serves && std::string_view(text).find(" OR m") == std::string_view::npos)
          query.use_index = index;
        CheckQuery(text, query);
        query.offset = 1'000;
        CheckQuery(text, query);
        query.limit = 3'000;
        CheckQuery(text, query);
      }
    }
    BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(an_order_gives_the_same_rows) {
  for (const char* index : {"n", "nm"}) {
    for (const bool descending : {false, true}) {
      QueryOptions query{.order_by = index, .descending = descending};
      CheckQuery("", query);
      CheckQuery("n > 50 AND n < 4000", query);
      CheckQuery("text LIKE 'text of row 1%'", query);
      query.use_index = index;
      CheckQuery("", query);
      query.limit = 6'000;
      query.offset = 1'700;
      CheckQuery("m > 1", query);
    }
  }
}

// From any row on, forward and backward.
BOOST_AUTO_TEST_CASE(tokens_go_on_with_any_number_of_threads) {
  for (const char* index : {"", "n"}) {
    QueryOptions query{.order_by = index, .no_index = *index == '\0'};
    auto cursor = database->Query(On(3), "t", Predicate(), query);
    for (int row = 0; row < 9'456; ++row) BOOST_REQUIRE(cursor->Next());
    const std::string token = *cursor->Token();
    query.after = token;
    CheckQuery("", query);
    query.after.clear();
    query.before = token;
    CheckQuery("", query);
  }
}

BOOST_AUTO_TEST_CASE(the_past_is_read_by_several_threads) {
  const auto snapshot = database->TakeSnapshot();
  ReadOptions read;
  read.snapshot = &*snapshot;
  const uint64_t before = *database->Count(read, "t", *Predicate::Parse("n < 2000"), {});
  Put(1, kRows, 3, 777);
  BOOST_CHECK_EQUAL(
      *database->Count(On(4, read), "t", *Predicate::Parse("n < 2000"), {.no_index = true}),
      before);
  CheckQuery("n < 2000", {.no_index = true}, read);
  CheckQuery("", {.order_by = "n"}, read);
  ReadOptions past;
  past.as_of = INT64_MAX / 2;
  CheckQuery("n < 2000", {.no_index = true}, past);
  CheckQuery("n < 2000", {.no_index = true, .any_version = true});
}

// Rows that are written while a cursor is open are not among those of its parts.
BOOST_AUTO_TEST_CASE(all_parts_are_of_one_state) {
  const std::vector<std::string> all = All(database->Scan(On(1), "t", {}));
  auto cursor = database->Scan(On(4), "t", {});
  BOOST_REQUIRE(cursor->Next());
  std::vector<std::string> keys{std::string(cursor->row().key())};
  WriteBatch batch;
  for (uint64_t row = 0; row < kRows; row += 10) {
    batch.Put("t", Key(row) + "new", "d", "n", "1");
    if (row % 20 == 0) batch.DeleteRow("t", Key(row));
  }
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  while (cursor->Next()) keys.emplace_back(cursor->row().key());
  BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(keys.size() + 1, all.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    BOOST_REQUIRE_EQUAL(keys[i], all[i].substr(0, keys[i].size()));
    BOOST_REQUIRE_EQUAL(keys[i].size(), Key(0).size());
  }
}

BOOST_AUTO_TEST_CASE(groups_are_the_same) {
  struct Case {
    std::vector<std::string> keys;
    const char* predicate;
    bool no_index;
    const char* summed = "n";  // Of doubles the order of the rows counts.
  };
  const std::vector<std::string> none, by_m = {"m"}, by_odd = {"e:odd"};
  const Case cases[] = {{by_m, "n > 10", false},
                        {by_m, "n > 10", true},
                        {by_m, "text LIKE '%1%'", false},
                        {by_m, "n > 10", true, "n::double"},
                        {by_odd, "e:odd IS NULL OR e:odd > '9000'", true},
                        {none, "n < 4000", false},
                        {none, "n < 4000", true}};
  for (const Case& each : cases) {
    AggregateOptions groups;
    groups.group_by = each.keys;
    groups.values = {{AggregateKind::kRows, ""},
                     {AggregateKind::kSum, each.summed},
                     {AggregateKind::kMin, "text"},
                     {AggregateKind::kMax, "n"},
                     {AggregateKind::kAverage, each.summed},
                     {AggregateKind::kCount, "e:odd"}};
    groups.no_index = each.no_index;
    const auto all = [&](uint32_t threads) {
      std::vector<std::string> lines;
      auto cursor =
          database->Aggregate(On(threads), "t", *Predicate::Parse(each.predicate), groups);
      BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
      while (cursor->Next()) {
        std::string& line = lines.emplace_back();
        for (const auto& value : cursor->keys()) line += std::string(value.value_or("-")) + " ";
        for (const auto& value : cursor->values()) line += std::string(value.value_or("-")) + " ";
      }
      lines.push_back(cursor->status().ToString());
      return lines;
    };
    const std::vector<std::string> one = all(1), several = all(4);
    BOOST_CHECK_EQUAL(one.back(), "OK");
    BOOST_CHECK_GT(one.size(), each.keys.empty() ? 1u : 7u);
    BOOST_CHECK_EQUAL_COLLECTIONS(several.begin(), several.end(), one.begin(), one.end());
  }
}

BOOST_AUTO_TEST_CASE(budgets_are_of_the_call) {
  for (const uint64_t rows : {1ul, 2'000ul, 9'000ul}) {
    ReadOptions read;
    read.budget.rows = rows;
    CheckQuery("n < 2500", {.limit = UINT64_MAX, .no_index = true}, {});
    const Predicate predicate = *Predicate::Parse("n < 2500");
    CheckSame(
        [&](const ReadOptions& options) {
          return database->Query(options, "t", predicate, {.limit = UINT64_MAX, .no_index = true});
        },
        read);
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_is_checked) {
  for (const uint32_t threads : {0u, kReadThreadsMax + 1}) {
    const std::string expected =
        "InvalidArgument: a read has 1 to 64 threads, not " + std::to_string(threads);
    BOOST_CHECK_EQUAL(database->Scan(On(threads), "t", {}).status().ToString(), expected);
    BOOST_CHECK_EQUAL(database->Query(On(threads), "t", {}, {}).status().ToString(), expected);
    BOOST_CHECK_EQUAL(database->Count(On(threads), "t", {}, {}).status().ToString(), expected);
    BOOST_CHECK_EQUAL(database->Explain(On(threads), "t", {}, {}).status().ToString(), expected);
    AggregateOptions groups;
    groups.group_by = {"m"};
    BOOST_CHECK_EQUAL(database->Aggregate(On(threads), "t", {}, groups).status().ToString(),
                      expected);
  }
  BOOST_CHECK_EQUAL(*database->Count(On(kReadThreadsMax), "t", {}, {}),
                    *database->Count({}, "t", {}, {}));
}

BOOST_AUTO_TEST_CASE(explain_says_how_many_threads) {
  const auto reason = [&](uint32_t threads, std::string_view text, const QueryOptions& query) {
    return database->Explain(On(threads), "t", *Predicate::Parse(text), query)->reason;
  };
  BOOST_CHECK(reason(4, "text = 'x'", {}).ends_with("; by up to 4 threads"));
  BOOST_CHECK(!reason(1, "text = 'x'", {}).ends_with("threads"));
  BOOST_CHECK(reason(3, "m > 1", {.order_by = "n"}).ends_with("; by up to 3 threads"));
  // Few rows, or a plan that several threads cannot share.
  BOOST_CHECK(!reason(4, "_row = 'row100005'", {}).ends_with("threads"));
  BOOST_CHECK(!reason(4, "n = 5", {}).ends_with("threads"));
}

// Other threads read ahead when it ends: the destructor waits for them.
BOOST_AUTO_TEST_CASE(a_cursor_ends_anywhere) {
  for (const uint64_t rows : {0u, 1u, 2'500u, 7'000u}) {
    for (const bool is_scan : {false, true}) {
      auto cursor = is_scan ? database->Scan(On(4), "t", {})
                            : database->Query(On(4), "t", Predicate(), {.order_by = "n"});
      for (uint64_t row = 0; row < rows; ++row) BOOST_REQUIRE(cursor->Next());
    }
  }
  auto cursor = database->Scan(On(4), "t", {});
  for (uint64_t row = 0; row < 5'000; ++row) BOOST_REQUIRE(cursor->Next());
  BOOST_CHECK_EQUAL(database->Close().ToString(), "Busy: 1 cursor (of 't') is open");
  database.reset();
  BOOST_CHECK(!cursor->Next());
  BOOST_CHECK_EQUAL(cursor->status().code(), StatusCode::kClosed);
}

BOOST_AUTO_TEST_CASE(a_cancelled_read_ends) {
  std::atomic<bool> cancelled = false;
  ReadOptions read = On(4);
  read.cancelled = &cancelled;
  auto cursor = database->Scan(read, "t", {});
  for (uint64_t row = 0; row < 5'000; ++row) BOOST_REQUIRE(cursor->Next());
  cancelled = true;
  BOOST_CHECK(!cursor->Next());
  BOOST_CHECK_EQUAL(cursor->status().code(), StatusCode::kCancelled);
  BOOST_CHECK_EQUAL(database->Count(read, "t", *Predicate::Parse("text = 'x'"), {.no_index = true})
                        .status()
                        .code(),
                    StatusCode::kCancelled);
}

BOOST_AUTO_TEST_CASE(a_transaction_reads_what_it_wrote) {
  auto transaction = database->Begin();
  BOOST_REQUIRE(transaction.has_value());
  for (uint64_t row = 0; row < kRows; row += 100) {
    BOOST_REQUIRE_EQUAL(transaction->Put("t", Key(row) + "own", "d", "n", "-1").ToString(), "OK");
  }
  BOOST_CHECK_EQUAL(*transaction->Count(On(4), "t", *Predicate::Parse("n < 0"), {.no_index = true}),
                    kRows / 100);
}

BOOST_AUTO_TEST_CASE(several_calls_share_the_threads) {
  const uint64_t expected = *database->Count({}, "t", *Predicate::Parse("n < 2500"), {});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        const auto count =
            database->Count(On(4), "t", *Predicate::Parse("n < 2500"), {.no_index = true});
        if (!count.has_value() || *count != expected) ++wrong;
        auto cursor =
            database->Query(On(3), "t", *Predicate::Parse("n < 2500"), {.no_index = true});
        uint64_t rows = 0;
        while (cursor->Next()) ++rows;
        if (rows != expected || !cursor->status().ok()) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  BOOST_CHECK_EQUAL(wrong.load(), 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

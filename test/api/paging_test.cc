// Reading page by page with tokens: the pages together are the whole result, forward and backward,
// whatever happens to the files between two pages.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

struct Asked {
  Predicate predicate;
  QueryOptions query;
  ReadOptions read;
};

TableOptions Table(const std::string& name) {
  TableOptions table;
  table.name = name;
  table.families = {{.name = "d", .block_size_bytes = 512}};
  const auto column = [](const char* qualifier, ColumnType type, bool descending = false) {
    return IndexColumn{"d", qualifier, type, descending};
  };
  table.indexes = {{.name = "n", .columns = {column("n", ColumnType::kInt64)}},
                   {.name = "falling", .columns = {column("n", ColumnType::kInt64, true)}},
                   {.name = "s", .columns = {column("s", ColumnType::kText)}},
                   {.name = "s_n",
                    .columns = {column("s", ColumnType::kText), column("n", ColumnType::kInt64)}}};
  return table;
}

std::string Key(uint64_t row) { return "row" + std::to_string(10'000 + row); }

struct PagingFixture {
  PagingFixture() : database(OpenSmall(directory.Path("db"))) {
    for (const char* name : {"t", "u"}) {
      BOOST_REQUIRE_EQUAL(database->CreateTable(Table(name)).ToString(), "OK");
    }
  }

  uint64_t Below(uint64_t end) { return random() % end; }

  void PutRow(uint64_t row) {
    WriteBatch batch;
    if (Below(10) == 0) {
      batch.DeleteRow("t", Key(row));
    } else {
      if (Below(8) > 0) batch.Put("t", Key(row), "d", "n", std::to_string(Below(6)));
      batch.Put("t", Key(row), "d", "s", std::string(1, static_cast<char>('a' + Below(3))));
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void PutRows(uint64_t count, uint64_t rows) {
    for (uint64_t i = 0; i < count; ++i) PutRow(Below(rows));
  }
  // All of this leaves a snapshot as it is.
  void Change(uint64_t rows) {
    switch (Below(6)) {
      case 0:
        return PutRows(20, rows);
      case 1:
        BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
        return;
      case 2:
        BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
        return;
      case 3:
        (void)database->Split("t", {.key = Key(Below(rows))});  // Or it begins a region already.
        return;
      case 4:
        (void)database->MergeRegions("t");
        return;
      default:
        snapshot.reset();
        BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
        database = OpenSmall(directory.Path("db"));
        TakeSnapshot();
    }
  }
  void TakeSnapshot() {
    auto opened = database->OpenSnapshot("then");
    BOOST_REQUIRE_EQUAL(opened.status().ToString(), "OK");
    snapshot = std::make_unique<Snapshot>(*std::move(opened));
  }

  Result<Cursor> Query(Asked asked) {
    asked.read.snapshot = snapshot.get();
    return database->Query(asked.read, "t", asked.predicate, asked.query);
  }
  // Reads a page and puts its token in `*token`.
  std::vector<std::string> PageOf(Result<Cursor> cursor, std::string* token) {
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    BOOST_CHECK_EQUAL(cursor->continues_exactly(), true);
    std::vector<std::string> keys;
    for (const RowView& row : *cursor) keys.emplace_back(row.key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    *token = *cursor->Token();
    return keys;
  }
  std::vector<std::string> AllOf(const Asked& asked) {
    std::string token;
    return PageOf(Query(asked), &token);
  }
  void CheckPages(Asked asked, uint64_t rows, bool changes) {
    const std::vector<std::string> all = AllOf(asked);
    std::vector<std::string> forward, backward;
    std::string token;
    while (true) {
      asked.query.limit = 1 + Below(40);
      asked.query.after = token;
      const auto page = PageOf(Query(asked), &token);
      forward.insert(forward.end(), page.begin(), page.end());
      if (changes && Below(3) == 0) Change(rows);
      if (page.size() < asked.query.limit) break;
    }
    BOOST_REQUIRE(forward == all);
    if (all.empty()) return;
    asked.query.after.clear();
    while (true) {
      asked.query.limit = 1 + Below(40);
      asked.query.before = token;
      const auto page = PageOf(Query(asked), &token);
      backward.insert(backward.end(), page.begin(), page.end());
      if (changes && Below(3) == 0) Change(rows);
      if (page.size() < asked.query.limit) break;
    }
    std::reverse(backward.begin(), backward.end());
    backward.push_back(all.back());
    BOOST_REQUIRE(backward == all);
  }

  TemporaryDirectory directory;
  std::mt19937_64 random{20261126};
  std::unique_ptr<Database> database;
  std::unique_ptr<Snapshot> snapshot;
};

std::vector<Asked> Questions() {
  std::vector<Asked> questions;
  for (const char* text : {"", "n > 2", "s = 'b'", "s = 'b' AND n < 4", "s != 'a'",
                           "n = 1 OR s = 'c'", "(n, _row) > (2, 'row10100')", "n IS NULL"}) {
    for (const char* order : {"", "n", "falling", "s", "s_n"}) {
      for (const bool descending : {false, true}) {
        if (*order == '\0' && descending) continue;
        Asked asked;
        if (*text != '\0') asked.predicate = *Predicate::Parse(text);
        asked.query.order_by = order;
        asked.query.descending = descending;
        questions.push_back(asked);
        asked.query.no_index = true;
        questions.push_back(asked);
        if (*order == '\0') continue;
        asked.query.no_index = false;
        asked.query.use_index = order;
        questions.push_back(asked);
      }
    }
  }
  return questions;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(Paging, PagingFixture)

BOOST_AUTO_TEST_CASE(PagesAreTheWholeResult) {
  constexpr uint64_t kRows = 400;
  for (int round = 0; round < 4; ++round) {
    PutRows(300, kRows);
    BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    if (round == 1) {
      BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
      BOOST_REQUIRE_EQUAL(database->Split("t", {.key = Key(kRows / 3)}).status().ToString(), "OK");
    }
    PutRows(round * 40, kRows);  // In a memstore.
    for (const Asked& asked : Questions()) {
      BOOST_TEST_CONTEXT("round " << round << ": " << asked.predicate.ToString() << " by "
                                  << asked.query.order_by << asked.query.descending << " index "
                                  << asked.query.use_index << asked.query.no_index) {
        CheckPages(asked, kRows, /*changes=*/false);
      }
    }
  }
}

// A cursor of few rows knows its end before it looks for more.
BOOST_AUTO_TEST_CASE(TheEndOfFewRowsIsWhereTheLastOneWas) {
  WriteBatch batch;
  for (uint64_t row = 0; row < 100; ++row) {
    batch.Put("t", Key(row), "d", "n", std::to_string(row / 3));
  }
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  const Predicate predicate = Predicate::Equal("n", "7");
  for (int run = 0; run < 2; ++run) {  // The second finds the blocks in memory.
    auto cursor = database->Query({}, "t", predicate);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string last;
    for (uint64_t row = 21; row < 24; ++row) {
      BOOST_REQUIRE(cursor->Next());
      BOOST_TEST(cursor->row().key() == Key(row));
      last = *cursor->Token();
    }
    for (int again = 0; again < 2; ++again) {
      BOOST_TEST(!cursor->Next());
      BOOST_TEST(cursor->status().ToString() == "OK");
      BOOST_TEST(*cursor->Token() == last);
    }
    auto rest = database->Query({}, "t", predicate, {.after = last});
    BOOST_REQUIRE_EQUAL(rest.status().ToString(), "OK");
    BOOST_TEST(!rest->Next());
  }
}

// The columns of a row lie in two sources, and timestamps go back: no walk of an index over both.
BOOST_AUTO_TEST_CASE(PagesInAnOrderThatHasToBeSorted) {
  constexpr uint64_t kRows = 200;
  WriteBatch older, newer;
  for (uint64_t row = 0; row < kRows; ++row) {
    older.Put("t", Key(row), "d", "s", std::string(1, static_cast<char>('a' + Below(3))), 100);
    newer.Put("t", Key(row), "d", "n", std::to_string(Below(6)), 50);
  }
  BOOST_REQUIRE_EQUAL(database->Write({}, older).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Write({}, newer).ToString(), "OK");
  for (const Asked& asked : Questions()) {
    if (asked.query.order_by != "s_n") continue;
    BOOST_TEST_CONTEXT(asked.predicate.ToString() << asked.query.descending << " index "
                                                  << asked.query.use_index) {
      CheckPages(asked, kRows, /*changes=*/false);
    }
  }
}

BOOST_AUTO_TEST_CASE(PagesOfASnapshotSurviveWhatHappensToFiles) {
  constexpr uint64_t kRows = 400;
  PutRows(1'000, kRows);
  BOOST_REQUIRE_EQUAL(database->CreateSnapshot("then").ToString(), "OK");
  TakeSnapshot();
  const std::vector<Asked> questions = Questions();
  for (int i = 0; i < 24; ++i) {
    const Asked& asked = questions[Below(questions.size())];
    BOOST_TEST_CONTEXT(asked.predicate.ToString() << " by " << asked.query.order_by) {
      CheckPages(asked, kRows, /*changes=*/true);
    }
  }
}

// One value has most rows: the pages of it come by keys, of one file and of several.
BOOST_AUTO_TEST_CASE(PagesWithinAValueOfManyRows) {
  constexpr uint64_t kRows = 3'000;
  for (uint64_t row = 0; row < kRows; ++row) {
    WriteBatch batch;
    batch.Put("t", Key(row), "d", "n", row % 10 == 0 ? "1" : "2");
    batch.Put("t", Key(row), "d", "s", "x");
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    if (row == 1'000) BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  }
  for (int state = 0; state < 3; ++state) {
    for (const char* order : {"", "n", "falling", "s_n"}) {
      for (const char* text : {"", "n = 2", "s = 'x'"}) {
        Asked asked;
        if (*text != '\0') asked.predicate = *Predicate::Parse(text);
        asked.query.order_by = order;
        asked.query.use_index = order;
        if (*order == '\0' && *text != '\0') asked.query.use_index = text[0];
        BOOST_TEST_CONTEXT(asked.predicate.ToString() << " by " << order << " " << state) {
          CheckPages(asked, kRows, /*changes=*/false);
        }
      }
    }
    if (state == 0) BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    if (state == 1) BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(ScansGoOnToo) {
  constexpr uint64_t kRows = 300;
  PutRows(600, kRows);
  for (const bool reverse : {false, true}) {
    for (const bool ranges : {false, true}) {
      ScanOptions scan{.reverse = reverse};
      scan.start = Key(20);
      if (ranges) scan.ranges = {{Key(50), Key(90)}, {Key(10), Key(30)}, {Key(200), ""}};
      std::string token;
      const auto all = PageOf(database->Scan({}, "t", scan), &token);
      std::vector<std::string> forward, backward;
      scan.limit = 7;
      token.clear();
      while (true) {
        scan.after = token;
        const auto page = PageOf(database->Scan({}, "t", scan), &token);
        forward.insert(forward.end(), page.begin(), page.end());
        if (page.size() < scan.limit) break;
      }
      BOOST_CHECK(forward == all);
      scan.after.clear();
      while (true) {
        scan.before = token;
        const auto page = PageOf(database->Scan({}, "t", scan), &token);
        backward.insert(backward.end(), page.begin(), page.end());
        if (page.size() < scan.limit) break;
      }
      BOOST_CHECK(std::equal(backward.begin(), backward.end(), all.rbegin() + 1, all.rend()));
    }
  }
}

BOOST_AUTO_TEST_CASE(ACursorHasTheTokenOfTheRowItIsAt) {
  PutRows(200, 100);
  QueryOptions query{.order_by = "n"};
  auto cursor = database->Query({}, "t", {}, query);
  BOOST_CHECK_EQUAL(*cursor->Token(), "");
  std::vector<std::string> keys, tokens;
  while (cursor->Next()) {
    keys.emplace_back(cursor->row().key());
    tokens.push_back(*cursor->Token());
  }
  BOOST_CHECK_EQUAL(*cursor->Token(), tokens.back());
  for (size_t i = 0; i < tokens.size(); ++i) {
    BOOST_CHECK_LE(tokens[i].size(), 100 + keys[i].size() * 3 / 2 + 16);
    query.after = tokens[i];
    auto rest = database->Query({}, "t", {}, query);
    BOOST_CHECK_EQUAL(*rest->Token(), tokens[i]);  // It has returned no row yet.
    BOOST_REQUIRE_EQUAL(rest->Next(), i + 1 < keys.size());
    if (i + 1 < keys.size()) BOOST_CHECK_EQUAL(rest->row().key(), keys[i + 1]);
  }
}

BOOST_AUTO_TEST_CASE(ATokenIsOfOneQuery) {
  PutRows(200, 100);
  const Predicate predicate = *Predicate::Parse("n > 1");
  auto cursor = database->Query({}, "t", predicate, {.order_by = "n"});
  BOOST_REQUIRE(cursor->Next());
  const std::string token = *cursor->Token();
  const auto refused = [&](std::string_view table, const Predicate& asked, QueryOptions query,
                           const ReadOptions& read = {}) {
    query.after = token;
    const auto found = database->Query(read, table, asked, query);
    BOOST_REQUIRE(found.status().code() == StatusCode::kInvalidArgument);
    return std::string(found.status().message());
  };
  const auto says = [](const std::string& message, std::string_view part) {
    BOOST_CHECK_MESSAGE(message.find(part) != std::string::npos, message);
  };
  says(refused("u", predicate, {.order_by = "n"}), "another table");
  for (const char* other : {"n > 2", "n >= 1", "s > '1'", "n > 1 AND n > 0", "n::text > 1"}) {
    says(refused("t", *Predicate::Parse(other), {.order_by = "n"}), "another query");
  }
  says(refused("t", predicate, {}), "another query");
  says(refused("t", predicate, {.order_by = "falling"}), "another query");
  says(refused("t", predicate, {.order_by = "n", .descending = true}), "another query");
  says(refused("t", predicate, {.order_by = "n"}, {.columns = {{"d", "n"}}}), "another query");
  says(refused("t", predicate, {.order_by = "n"}, {.as_of = 5}), "another query");
  QueryOptions both{.order_by = "n", .before = token};
  says(refused("t", predicate, both), "after and before");
  const auto scanned = database->Scan({}, "t", {.after = token});
  says(std::string(scanned.status().message()), "another query");
  {
    const auto other = OpenSmall(directory.Path("other"));
    BOOST_REQUIRE_EQUAL(other->CreateTable(Table("t")).ToString(), "OK");
    const auto found = other->Query({}, "t", predicate, {.order_by = "n", .after = token});
    says(std::string(found.status().message()), "another database");
  }
  // An index of the same name is not the same index.
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "n").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", Table("t").indexes[0]).ToString(), "OK");
  says(refused("t", predicate, {.order_by = "n"}), "another query");
}

BOOST_AUTO_TEST_CASE(ATokenThatIsCutOrChangedIsRefused) {
  PutRows(200, 100);
  auto cursor = database->Query({}, "t", {}, {.order_by = "n"});
  BOOST_REQUIRE(cursor->Next());
  const std::string token = *cursor->Token();
  const auto code = [&](std::string text) {
    return database->Query({}, "t", {}, {.order_by = "n", .after = std::move(text)})
        .status()
        .code();
  };
  BOOST_CHECK(code(token) == StatusCode::kOk);
  for (size_t i = 0; i < token.size(); ++i) {
    if (i > 0) BOOST_CHECK(code(token.substr(0, i)) == StatusCode::kInvalidArgument);
    for (const char c : {'A', 'z', '-', ' ', '\0'}) {
      if (c == token[i]) continue;
      std::string changed = token;
      changed[i] = c;
      BOOST_CHECK(code(changed) == StatusCode::kInvalidArgument);
    }
  }
  BOOST_CHECK(code(token + "A") == StatusCode::kInvalidArgument);
}

BOOST_AUTO_TEST_CASE(ANewerStateGoesOnAfterThePosition) {
  for (uint64_t row = 0; row < 100; ++row) {
    WriteBatch batch;
    batch.Put("t", Key(row), "d", "n", std::to_string(row / 10));
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  QueryOptions query{.order_by = "n", .limit = 55};
  auto cursor = database->Query({}, "t", {}, query);
  while (cursor->Next()) {
  }
  query.after = *cursor->Token();
  query.limit = 0;
  WriteBatch batch;
  batch.Put("t", Key(3), "d", "n", "7");    // It has been returned, and moves on.
  batch.Put("t", Key(80), "d", "n", "1");   // It moves to what is done.
  batch.Put("t", Key(200), "d", "n", "5");  // New, after the position.
  batch.DeleteRow("t", Key(54));            // The row of the position.
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  auto rest = database->Query({}, "t", {}, query);
  BOOST_REQUIRE_EQUAL(rest.status().ToString(), "OK");
  BOOST_CHECK_EQUAL(rest->continues_exactly(), false);
  std::vector<std::string> expected, found;
  for (uint64_t row = 55; row < 100; ++row) {
    if (row == 60) expected.push_back(Key(200));
    if (row == 70) expected.push_back(Key(3));
    if (row != 80) expected.push_back(Key(row));
  }
  for (const RowView& row : *rest) found.emplace_back(row.key());
  BOOST_CHECK(found == expected);
}

BOOST_AUTO_TEST_CASE(CountsAndExplanationsTakeTokens) {
  PutRows(400, 300);
  const Predicate predicate = *Predicate::Parse("n > 1");
  for (const char* order : {"", "n"}) {
    QueryOptions query{.order_by = order};
    const uint64_t all = *database->Count({}, "t", predicate, query);
    query.limit = 30;
    auto cursor = database->Query({}, "t", predicate, query);
    while (cursor->Next()) {
    }
    query.limit = 0;
    query.after = *cursor->Token();
    BOOST_CHECK_EQUAL(*database->Count({}, "t", predicate, query), all - 30);
    BOOST_CHECK_EQUAL(database->Explain({}, "t", predicate, query)->rows, all - 30);
    std::swap(query.after, query.before);
    BOOST_CHECK_EQUAL(*database->Count({}, "t", predicate, query), 29);
    BOOST_CHECK_EQUAL(database->Explain({}, "t", predicate, query)->rows, 29);
  }
}

BOOST_AUTO_TEST_CASE(APreparedQueryGoesOnWithTheSameValues) {
  PutRows(400, 300);
  auto prepared = database->Prepare("t", *Predicate::Parse("n >= ?"), {.limit = 10});
  BOOST_REQUIRE_EQUAL(prepared->BindInt64(1, 2).ToString(), "OK");
  auto cursor = database->Query({}, &*prepared);
  while (cursor->Next()) {
  }
  const std::string token = *cursor->Token();
  auto rest = database->Prepare("t", *Predicate::Parse("n >= ?"), {.after = token});
  BOOST_REQUIRE_EQUAL(rest->BindInt64(1, 3).ToString(), "OK");
  BOOST_CHECK(database->Query({}, &*rest).status().code() == StatusCode::kInvalidArgument);
  BOOST_REQUIRE_EQUAL(rest->BindInt64(1, 2).ToString(), "OK");
  BOOST_CHECK_EQUAL(*database->Count({}, &*rest),
                    *database->Count({}, "t", *Predicate::Parse("n >= 2")) - 10);
}

// What was prepared keeps a part of what tokens are hashed of, unless it is long.
BOOST_AUTO_TEST_CASE(APreparedQueryWithoutParametersHasTheTokensOfItsQuery) {
  PutRows(400, 300);
  std::string longer = "n IN (";
  for (int i = 0; i < 200; ++i) longer += (i == 0 ? "" : ", ") + std::to_string(i);
  for (const std::string& text : {std::string("n >= 2"), longer + ")"}) {
    const Predicate predicate = *Predicate::Parse(text);
    auto cursor = database->Query({}, "t", predicate, {.limit = 10});
    while (cursor->Next()) {
    }
    auto prepared = database->Prepare("t", predicate, {.limit = 10});
    auto same = database->Query({}, &*prepared);
    while (same->Next()) {
    }
    BOOST_CHECK_EQUAL(*same->Token(), *cursor->Token());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test

// Reads that begin at the row with a number: they return what is left of the whole result after so
// many rows, whatever the rows lie in, and where counts are there they read none of those before.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "test/api/index_fixture.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 1000;

std::string Key(uint64_t row) { return "row" + std::to_string(10'000 + row); }

TableOptions Table() {
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "d", .block_size_bytes = 512}};
  table.indexes = {IndexOf("n", "d:n::int64"), IndexOf("s", "d:s"),
                   IndexOf("few", "d:few::int64 DESC")};
  return table;
}

struct OffsetFixture : IndexFixture {
  OffsetFixture() : IndexFixture(Table()) {}

  uint64_t Below(uint64_t end) { return random() % end; }

  void PutRow(uint64_t row, WriteBatch* batch) {
    batch->Put("t", Key(row), "d", "n", std::to_string(Below(kRows)));
    batch->Put("t", Key(row), "d", "s", std::string(1, static_cast<char>('a' + Below(4))));
    batch->Put("t", Key(row), "d", "few", std::to_string(Below(3)));
  }
  void PutAll() {
    WriteBatch batch;
    for (uint64_t row = 0; row < kRows; ++row) PutRow(row, &batch);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  // Whole rows, single columns, and rows that go.
  void Update(uint64_t rows) {
    for (uint64_t i = 0; i < rows; ++i) {
      WriteBatch batch;
      const uint64_t row = Below(kRows + 50);
      switch (Below(8)) {
        case 0:
          batch.DeleteRow("t", Key(row));
          break;
        case 1:
          batch.DeleteColumn("t", Key(row), "d", "n");
          break;
        case 2:
          batch.Put("t", Key(row), "d", "other", "x");
          break;
        case 3:
          batch.Put("t", Key(row), "d", "n", std::to_string(Below(kRows)));
          break;
        default:
          PutRow(row, &batch);
      }
      BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    }
  }
  void Flush() { BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK"); }

  // They are built in the background.
  void WaitForOverlaps() {
    for (int i = 0; i < 1000; ++i) {
      const Explanation explained = Explained("", {.limit = 1, .offset = kRows / 2});
      if (explained.skipped_by_reading == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    BOOST_FAIL("the overlaps of files are not built");
  }

  std::vector<std::string> Keys(Result<Cursor> cursor) {
    BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
    std::vector<std::string> keys;
    while (cursor->Next()) keys.emplace_back(cursor->row().key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }
  static std::vector<std::string> Part(const std::vector<std::string>& all, uint64_t offset,
                                       uint64_t limit) {
    const uint64_t begin = std::min<uint64_t>(offset, all.size());
    const uint64_t rest = all.size() - begin;
    const uint64_t end = begin + (limit == 0 ? rest : std::min(rest, limit));
    return {all.begin() + static_cast<ptrdiff_t>(begin), all.begin() + static_cast<ptrdiff_t>(end)};
  }

  /// Asks for parts of the results of many reads. Returns how many rows were read to skip them.
  uint64_t CheckParts(int times = 3) {
    uint64_t read_to_skip = 0;
    const struct {
      const char *predicate, *order_by;
    } reads[] = {{"", ""},
                 {"s = 'b'", ""},
                 {"n >= 100 AND n < 700", ""},
                 {"", "n"},
                 {"n BETWEEN 200 AND 900", "n"},
                 {"", "few"},
                 {"few = 1", "few"},
                 {"", "s"},
                 {"_row >= 'row10300'", ""},
                 {"n >= 500 AND s = 'a'", "n"}};
    for (const auto& [text, order_by] : reads) {
      const Predicate predicate = *text == 0 ? Predicate() : *Predicate::Parse(text);
      for (const bool descending : {false, true}) {
        QueryOptions query{.order_by = order_by, .descending = descending};
        if (*order_by == 0 && descending) continue;
        const auto all = Keys(database->Query({}, "t", predicate, query));
        for (int i = 0; i < times; ++i) {
          query.limit = Below(3) == 0 ? 0 : 1 + Below(30);
          query.offset = i == 0 ? all.size() : i == 1 ? 2 * kRows : Below(all.size() + 2);
          BOOST_TEST_CONTEXT(text << " by " << order_by << (descending ? " falling" : "")
                                  << " limit " << query.limit << " offset " << query.offset) {
            const auto expected = Part(all, query.offset, query.limit);
            const auto found = Keys(database->Query({}, "t", predicate, query));
            BOOST_TEST(found == expected, boost::test_tools::per_element());
            const auto count = database->Count({}, "t", predicate, query);
            BOOST_REQUIRE(count.has_value());
            BOOST_TEST(*count == expected.size());
            const Explanation explained = *database->Explain({}, "t", predicate, query);
            BOOST_TEST(explained.rows == expected.size());
            const uint64_t skipped = explained.skipped_by_counts + explained.skipped_by_reading;
            BOOST_TEST(skipped == std::min<uint64_t>(query.offset, all.size()));
            BOOST_TEST(explained.read_to_skip.empty() == (explained.skipped_by_reading == 0));
            read_to_skip += explained.skipped_by_reading;
          }
        }
      }
    }
    for (const bool reverse : {false, true}) {
      ScanOptions scan{.reverse = reverse};
      const auto all = Keys(database->Scan({}, "t", scan));
      for (int i = 0; i < times; ++i) {
        scan.limit = Below(3) == 0 ? 0 : 1 + Below(30);
        scan.offset = Below(all.size() + 2);
        const auto found = Keys(database->Scan({}, "t", scan));
        BOOST_TEST(found == Part(all, scan.offset, scan.limit), boost::test_tools::per_element());
      }
    }
    return read_to_skip;
  }

  std::mt19937_64 random{7};
};

BOOST_FIXTURE_TEST_SUITE(Offset, OffsetFixture)

BOOST_AUTO_TEST_CASE(PartsOfResultsAreTheSameWhereverRowsLie) {
  PutAll();
  CheckParts();
  Flush();
  CheckParts();
  BOOST_REQUIRE(database->Split("t", {.key = Key(400)}).has_value());
  CheckParts();
  for (int round = 0; round < 6; ++round) {
    Update(60);
    CheckParts();
    Flush();
    CheckParts();
    Update(10);
    CheckParts();
  }
  BOOST_REQUIRE(database->MergeRegions("t").has_value());
  CheckParts();
  BOOST_REQUIRE(database->Compact("t").ok());
  CheckParts();
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(RowsOfFilesAreNotReadToSkipThem) {
  PutAll();
  Flush();
  const Predicate all;
  const auto skipped = [&](const Predicate& predicate, QueryOptions query, uint64_t rows) {
    query.offset = 777;
    query.limit = 5;
    const Explanation explained = *database->Explain({}, "t", predicate, query);
    BOOST_TEST(explained.skipped_by_reading == 0u);
    BOOST_TEST(explained.skipped_by_counts == 777u);
    BOOST_TEST(explained.read_to_skip == "");
    BOOST_TEST(explained.rows == 5u);
    BOOST_TEST(explained.candidate_rows <= rows);
  };
  skipped(all, {}, 10);
  skipped(all, {.order_by = "n"}, 200);
  skipped(all, {.order_by = "n", .descending = true}, 200);
  skipped(*Predicate::Parse("n >= 10"), {.use_index = "n"}, 10);
  // A tenth of the rows is written again, and those before are dead.
  WriteBatch batch;
  for (uint64_t row = 0; row < kRows; row += 10) PutRow(row, &batch);
  BOOST_REQUIRE(database->Write({}, batch).ok());
  skipped(all, {}, 250);
  skipped(all, {.order_by = "n"}, 800);
  Flush();
  WaitForOverlaps();
  skipped(all, {}, 20);
  skipped(all, {.order_by = "n"}, 400);
}

// The rows of one value, whose list is long enough to be read by chunks: of one file, of several
// that share rows, and with others in the memstore.
BOOST_AUTO_TEST_CASE(LatePagesAmongTheRowsOfOneValueAreFoundByCounts) {
  constexpr uint64_t kMany = 12'000;
  const auto put = [&](uint64_t row, const char* few, WriteBatch* batch) {
    batch->Put("t", Key(row), "d", "few", few);
    batch->Put("t", Key(row), "d", "s", "a");
  };
  const Predicate is_one = *Predicate::Parse("few = 1");
  const auto check = [&](uint64_t most_read) {
    const auto all = Keys(database->Query({}, "t", is_one, {.no_index = true}));
    BOOST_REQUIRE_GT(all.size(), kMany / 6);
    for (int i = 0; i < 40; ++i) {
      QueryOptions page{.limit = 1 + Below(30), .offset = Below(all.size() + 2)};
      const auto expected = Part(all, page.offset, page.limit);
      if (Below(2) == 0) page.order_by = "few";
      BOOST_TEST_CONTEXT("offset " << page.offset << " limit " << page.limit << page.order_by) {
        BOOST_TEST(Keys(database->Query({}, "t", is_one, page)) == expected,
                   boost::test_tools::per_element());
      }
    }
    const Explanation explained =
        *database->Explain({}, "t", is_one, {.limit = 10, .offset = all.size() * 9 / 10});
    BOOST_TEST(explained.skipped_by_reading == 0u);
    BOOST_TEST(explained.candidate_rows <= most_read);
  };
  WriteBatch batch;
  for (uint64_t row = 0; row < kMany; ++row) put(row, row % 5 == 0 ? "1" : "2", &batch);
  BOOST_REQUIRE(database->Write({}, batch).ok());
  BOOST_REQUIRE(database->Compact("t").ok());
  check(100);
  batch.Clear();
  for (uint64_t row = 3; row < kMany; row += 40) put(row, Below(2) == 0 ? "2" : "1", &batch);
  BOOST_REQUIRE(database->Write({}, batch).ok());
  check(kMany);
  Flush();
  WaitForOverlaps();
  check(200);
  batch.Clear();
  for (uint64_t row = 1; row < kMany; row += 900) batch.DeleteRow("t", Key(row));
  for (uint64_t row = 2; row < kMany; row += 900) put(row, row % 5 == 0 ? "2" : "1", &batch);
  put(kMany + 5, "1", &batch);
  BOOST_REQUIRE(database->Write({}, batch).ok());
  check(kMany);
  VerifyOk();
  // Most of the rows have the other value. A scan would be cheaper if they were all read.
  const Predicate is_two = *Predicate::Parse("few = 2");
  BOOST_TEST(database->Explain({}, "t", is_two, {.limit = 10})->index == "");
  const Explanation late = *database->Explain({}, "t", is_two, {.limit = 10, .offset = kMany / 2});
  BOOST_TEST(late.index == "few");
  BOOST_TEST(late.skipped_by_reading == 0u);
  BOOST_TEST(late.candidate_rows <= kMany / 4);
}

// Files decide on rows whose timestamps go back, and memstores hold cells of some of them.
BOOST_AUTO_TEST_CASE(RowsThatFilesDecideMayBeInMemstoresToo) {
  const auto put = [&](uint64_t row, const char* column, const char* value, int64_t timestamp) {
    WriteBatch batch;
    batch.Put("t", Key(row), "d", column, value, timestamp);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  };
  for (uint64_t row = 0; row < 10; ++row) put(row, "s", "x", 100);
  BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  for (const uint64_t row : {3, 4}) put(row, "s", "x", 50);
  BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  WriteBatch batch;
  batch.DeleteColumn("t", Key(4), "d", "s", 1000);
  const auto rows_of = [&](const QueryOptions& options) {
    std::string rows;
    auto cursor = database->Query({}, "t", Predicate(), options);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    while (cursor->Next()) rows += std::string(cursor->row().key()) + " ";
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  };
  const auto compare = [&] {
    for (int i = 0; i < 20; ++i) {  // The counts are built once reads have paid.
      QueryOptions page{.order_by = "s"};
      for (page.offset = 0; page.offset < 11; ++page.offset) {
        QueryOptions scan = page;
        scan.no_index = true;
        BOOST_REQUIRE_EQUAL(rows_of(page), rows_of(scan));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  compare();
  for (const uint64_t row : {3, 4}) put(row, "few", "1", 200);
  compare();
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  compare();
}

BOOST_AUTO_TEST_CASE(WhatCannotBeCountedIsRead) {
  PutAll();
  Flush();
  const auto why = [&](std::string_view text, QueryOptions query, const ReadOptions& read = {}) {
    query.offset = 20;
    return Explained(text, query, read).read_to_skip;
  };
  BOOST_TEST(why("n >= 500 AND s = 'a'", {.no_index = true}) == "no index counts the matches");
  BOOST_TEST(why("n >= 500 OR s = 'a'", {.order_by = "n", .use_index = "n"}) ==
             "not every entry of the index is that of a match");
  Update(20);  // The file of the next flush has cells from before the snapshot and after it.
  const auto snapshot = database->TakeSnapshot();
  Update(20);
  Flush();
  BOOST_TEST(why("_row > 'a'", {}, {.snapshot = &*snapshot}).starts_with("cells may have expired"));
}

BOOST_AUTO_TEST_CASE(PagesWithTokensHaveOffsetsToo) {
  PutAll();
  Flush();
  QueryOptions query{.order_by = "few", .limit = 10};
  const auto all = Keys(database->Query({}, "t", Predicate(), {.order_by = "few"}));
  auto cursor = database->Query({}, "t", Predicate(), query);
  while (cursor->Next()) {
  }
  query.after = *cursor->Token();
  query.offset = 100;
  BOOST_TEST(Keys(database->Query({}, "t", Predicate(), query)) == Part(all, 110, 10),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// Indexes that are created and dropped on a table with data: queries are right at once, files and
// memstores from before are read without them and rewritten, and no condition changes its meaning.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

IndexOptions IndexOn(std::string name, std::string qualifier, ColumnType type) {
  return {.name = std::move(name),
          .columns = {{.family = "d", .qualifier = std::move(qualifier), .type = type}}};
}

struct IndexChangeFixture {
  IndexChangeFixture() {
    Open();
    BOOST_REQUIRE_EQUAL(
        database->CreateTable({.name = "t", .families = {{.name = "d"}}}).ToString(), "OK");
  }

  void Open() { database = OpenSmall(directory.Path("db")); }
  Status Put(const std::string& row, const std::string& qualifier, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", row, "d", qualifier, value);
    return database->Write({}, batch);
  }
  /// Rows of integers, but for one in ten, which has text.
  void PutRows(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const std::string value = i % 10 == 3 ? "none" : std::to_string(i % 50);
      BOOST_REQUIRE_EQUAL(Put("row" + std::to_string(1000 + i), "n", value).ToString(), "OK");
    }
  }
  uint64_t Count(std::string_view text, const QueryOptions& query = {}) {
    const auto predicate = Predicate::Parse(text);
    BOOST_REQUIRE_MESSAGE(predicate.has_value(), predicate.status().ToString());
    const auto count = database->Count({}, "t", *predicate, query);
    BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
    return *count;
  }
  Explanation Explain(std::string_view text, const QueryOptions& query) {
    const auto explanation = database->Explain({}, "t", *Predicate::Parse(text), query);
    BOOST_REQUIRE_MESSAGE(explanation.has_value(), explanation.status().ToString());
    return *explanation;
  }
  IndexInfo InfoOf(const std::string& index) {
    const DatabaseInfo info = *database->Info();
    for (const IndexInfo& found : info.tables[0].indexes) {
      if (found.options.name == index) return found;
    }
    BOOST_FAIL("there is no index " + index);
    return {};
  }
  /// Until the background has rewritten every file from before the index.
  void WaitForFiles(const std::string& index) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (InfoOf(index).files_older > 0) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  /// What it counts through the index, and without one.
  void CheckCounts(std::string_view text, uint64_t expected, const std::string& index) {
    BOOST_CHECK_EQUAL(Count(text), expected);
    BOOST_CHECK_EQUAL(Count(text, {.use_index = index}), expected);
    BOOST_CHECK_EQUAL(Count(text, {.no_index = true}), expected);
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

BOOST_FIXTURE_TEST_SUITE(index_change, IndexChangeFixture)

BOOST_AUTO_TEST_CASE(QueriesAreRightBeforeFilesHaveTheIndex) {
  PutRows(0, 100);
  BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  PutRows(100, 200);  // These stay in the memstore, which is older than the index too.
  BOOST_REQUIRE_EQUAL(Count("n::int64 < 5"), 16u);
  BOOST_REQUIRE_EQUAL(
      database->CreateIndex("t", IndexOn("by_n", "n", ColumnType::kInt64)).ToString(), "OK");
  CheckCounts("n::int64 < 5", 16, "by_n");
  CheckCounts("n::int64 IS NULL", 20, "by_n");
  PutRows(200, 203);
  CheckCounts("n::int64 < 5", 19, "by_n");
  BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  WaitForFiles("by_n");
  CheckCounts("n::int64 < 5", 19, "by_n");
  const Explanation explanation = Explain("n::int64 < 5", {.use_index = "by_n"});
  BOOST_CHECK_EQUAL(explanation.files_scanned, 0u);
  BOOST_CHECK_EQUAL(explanation.memstores_scanned, 0u);
  BOOST_CHECK_EQUAL(InfoOf("by_n").entries, 183u);
  const auto report = database->Verify(true);
  BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
  BOOST_CHECK(report->findings.empty());
}

BOOST_AUTO_TEST_CASE(ASourceFromBeforeIsReadWhole) {
  PutRows(0, 40);
  BOOST_REQUIRE_EQUAL(
      database->CreateIndex("t", IndexOn("by_n", "n", ColumnType::kInt64)).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  // It was flushed after the index was made: nothing is older.
  BOOST_CHECK_EQUAL(InfoOf("by_n").files_without, 0u);
}

BOOST_AUTO_TEST_CASE(ConditionsKeepTheTypeOfTheirColumn) {
  for (const char* value : {"9", "10", "007"}) {
    BOOST_REQUIRE_EQUAL(Put(std::string("row") + value, "n", value).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL(Count("n < '10'"), 1u);  // 007, as bytes.
  BOOST_REQUIRE_EQUAL(
      database->CreateIndex("t", IndexOn("by_n", "n", ColumnType::kInt64)).ToString(), "OK");
  BOOST_CHECK_EQUAL(Count("n < '10'"), 1u);
  CheckCounts("n::int64 < 10", 2, "by_n");
  const auto refused =
      database->Count({}, "t", *Predicate::Parse("n < '10'"), {.use_index = "by_n"});
  BOOST_CHECK_EQUAL(refused.status().code(), StatusCode::kInvalidArgument);
  BOOST_REQUIRE_EQUAL(
      database->SetColumnType("t", {.qualifier = "n", .type = ColumnType::kInt64}).ToString(),
      "OK");
  CheckCounts("n < 10", 2, "by_n");
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_n").ToString(), "OK");
  BOOST_CHECK_EQUAL(Count("n < 10"), 2u);
  BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
  Open();
  BOOST_CHECK_EQUAL(Count("n < 10"), 2u);
  BOOST_CHECK_EQUAL(Count("n::bytes < 10"), 1u);
}

// The first index of a table gives its column the type, and takes it not along.
BOOST_AUTO_TEST_CASE(DroppingAnIndexChangesNoAnswer) {
  BOOST_REQUIRE_EQUAL(database
                          ->CreateTable({.name = "u",
                                         .families = {{.name = "d"}},
                                         .indexes = {IndexOn("by_n", "n", ColumnType::kInt64)}})
                          .ToString(),
                      "OK");
  WriteBatch batch;
  for (const char* value : {"9", "10"}) batch.Put("u", value, "d", "n", value);
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  const auto less = *Predicate::Parse("n < 10");
  BOOST_CHECK_EQUAL(*database->Count({}, "u", less), 1u);
  BOOST_REQUIRE_EQUAL(database->DropIndex("u", "by_n").ToString(), "OK");
  BOOST_CHECK_EQUAL(*database->Count({}, "u", less), 1u);
  batch.Clear();
  batch.Put("u", "any", "d", "n", "no number");  // Nothing refuses it any more.
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(*database->Count({}, "u", less), 1u);
  BOOST_CHECK_EQUAL(*database->Count({}, "u", *Predicate::Parse("n IS NULL")), 1u);
}

BOOST_AUTO_TEST_CASE(AnIdIsNotGivenOutTwice) {
  PutRows(0, 20);
  BOOST_REQUIRE_EQUAL(Put("other", "m", "5").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", IndexOn("i", "n", ColumnType::kInt64)).ToString(),
                      "OK");
  BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "i").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
  Open();
  // The file has a section of the first one.
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", IndexOn("i", "m", ColumnType::kInt64)).ToString(),
                      "OK");
  CheckCounts("m::int64 = 5", 1, "i");
  CheckCounts("m::int64 = 1", 0, "i");
}

// Bytes compare at any length; an index key has a limit.
BOOST_AUTO_TEST_CASE(AFileWithAHiddenValueIsReadWhole) {
  const std::string longer(3000, 'v');
  BOOST_REQUIRE_EQUAL(Put("long", "n", longer).ToString(), "OK");
  PutRows(0, 20);
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", IndexOn("i", "n", ColumnType::kBytes)).ToString(),
                      "OK");
  CheckCounts("n > 'u'", 1, "i");
  BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  CheckCounts("n > 'u'", 1, "i");
  BOOST_CHECK_EQUAL(InfoOf("i").files_without, 1u);
  BOOST_CHECK_EQUAL(InfoOf("i").files_older, 0u);
  BOOST_CHECK(database->Verify(true)->findings.empty());
  BOOST_CHECK_EQUAL(Put("longer", "n", longer).code(), StatusCode::kInvalidArgument);
  WriteBatch batch;
  batch.DeleteRow("t", "long");
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(InfoOf("i").files_without, 0u);
  CheckCounts("n > 'u'", 0, "i");
}

// The log is replayed into memstores that have the index.
BOOST_AUTO_TEST_CASE(OperationsFromBeforeNeedNotFit) {
  PutRows(0, 50);
  BOOST_REQUIRE_EQUAL(
      database->CreateIndex("t", IndexOn("by_n", "n", ColumnType::kInt64)).ToString(), "OK");
  BOOST_CHECK_EQUAL(Put("row1003", "n", "none").code(), StatusCode::kInvalidArgument);
  const std::string copy = directory.Path("copy");
  BOOST_REQUIRE_EQUAL(database->Checkpoint(copy).ToString(), "OK");
  const auto opened = Database::Open(copy, {.io = IoBackend::kPosix});
  BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
  database->Close().Ignore("the copy is looked at");
  database = nullptr;
  BOOST_CHECK_EQUAL(*(*opened)->Count({}, "t", *Predicate::Parse("n::int64 IS NOT NULL")), 45u);
}

BOOST_AUTO_TEST_CASE(BadRequestsChangeNothing) {
  using enum StatusCode;
  const IndexOptions good = IndexOn("i", "n", ColumnType::kInt64);
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", good).ToString(), "OK");
  BOOST_CHECK_EQUAL(database->CreateIndex("t", good).code(), kAlreadyExists);
  BOOST_CHECK_EQUAL(database->CreateIndex("none", good).code(), kNotFound);
  IndexOptions bad = good;
  bad.name = "j";
  BOOST_CHECK_EQUAL(database->CreateIndex("t", bad).ToString(),
                    "AlreadyExists: index 'i' has the same definition");
  bad.name = "";
  BOOST_CHECK_EQUAL(database->CreateIndex("t", bad).code(), kInvalidArgument);
  bad = IndexOn("j", "n", static_cast<ColumnType>(99));
  BOOST_CHECK_EQUAL(database->CreateIndex("t", bad).code(), kInvalidArgument);
  bad = IndexOn("j", std::string(kQualifierBytesMax + 1, 'q'), ColumnType::kText);
  BOOST_CHECK_EQUAL(database->CreateIndex("t", bad).code(), kInvalidArgument);
  bad = IndexOn("j", "n", ColumnType::kText);
  bad.columns[0].family = "none";
  BOOST_CHECK_EQUAL(database->CreateIndex("t", bad).code(), kInvalidArgument);
  bad.columns.clear();
  BOOST_CHECK_EQUAL(database->CreateIndex("t", bad).code(), kInvalidArgument);
  BOOST_CHECK_EQUAL(database->DropIndex("t", "j").code(), kNotFound);
  BOOST_CHECK_EQUAL(database->DropIndex("none", "i").code(), kNotFound);
  BOOST_CHECK_EQUAL(database->SetColumnType("t", {.family = "none"}).code(), kInvalidArgument);
  BOOST_CHECK_EQUAL(database->SetColumnType("none", {}).code(), kNotFound);
  for (uint32_t i = 1; i < kIndexesMax; ++i) {
    const auto index =
        IndexOn("i" + std::to_string(i), "n" + std::to_string(i), ColumnType::kInt64);
    BOOST_REQUIRE_EQUAL(database->CreateIndex("t", index).ToString(), "OK");
  }
  BOOST_CHECK_EQUAL(database->CreateIndex("t", IndexOn("x", "n", ColumnType::kInt64)).code(),
                    kInvalidArgument);
  BOOST_CHECK_EQUAL(database->Info()->tables[0].indexes.size(), kIndexesMax);
}

BOOST_AUTO_TEST_CASE(OpenCursorsAndPreparedQueriesGoOn) {
  PutRows(0, 100);
  BOOST_REQUIRE_EQUAL(
      database->CreateIndex("t", IndexOn("by_n", "n", ColumnType::kInt64)).ToString(), "OK");
  auto prepared = database->Prepare("t", *Predicate::Parse("n::int64 < ?"));
  BOOST_REQUIRE_MESSAGE(prepared.has_value(), prepared.status().ToString());
  BOOST_REQUIRE_EQUAL(prepared->Bind(1, "5").ToString(), "OK");
  auto cursor = database->Query({}, "t", *Predicate::Parse("n::int64 < 5"), {.use_index = "by_n"});
  BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_n").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  uint64_t rows = 0;
  while (cursor->Next()) ++rows;
  BOOST_CHECK_EQUAL(cursor->status().ToString(), "OK");
  BOOST_CHECK_EQUAL(rows, 8u);
  BOOST_CHECK_EQUAL(*database->Count({}, &*prepared), 8u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

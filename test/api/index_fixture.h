// A small database whose table "t" is queried by its indexes and by scans, which have to agree.
#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {

/// An index over columns that are written as IndexColumn::ParseList reads them.
inline IndexOptions IndexOf(std::string name, std::string_view columns) {
  Result<std::vector<IndexColumn>> parsed = IndexColumn::ParseList(columns);
  BOOST_REQUIRE_MESSAGE(parsed.has_value(), parsed.status().ToString());
  return {.name = std::move(name), .columns = *std::move(parsed)};
}

struct IndexFixture {
  explicit IndexFixture(const TableOptions& table) {
    Open();
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  void Open() { database = OpenSmall(directory.Path("db"), options); }
  /// Runs `check` on rows in the memstore, in files, merged and, unless a snapshot is open, after a
  /// reopen.
  template <typename Check>
  void AtEachStage(Check&& check, bool reopens = true) {
    for (const char* stage : {"memstore", "file", "merged", "opened"}) {
      const std::string_view now = stage;
      if (now == "opened" && !reopens) break;
      if (now == "file") BOOST_REQUIRE(database->Flush("t").ok());
      if (now == "merged") BOOST_REQUIRE(database->Compact("t").ok());
      if (now == "opened") {
        BOOST_REQUIRE(database->Close().ok());
        Open();
      }
      BOOST_TEST_CONTEXT(stage) { check(); }
    }
    VerifyOk();
  }
  /// The keys of the rows, by whatever index, which are those of a scan.
  std::string Rows(std::string_view text, const QueryOptions& options = {},
                   const ReadOptions& read = {}) {
    const auto predicate = Predicate::Parse(text);
    BOOST_REQUIRE_MESSAGE(predicate.has_value(), predicate.status().ToString());
    std::string found[2];
    for (const bool no_index : {false, true}) {
      QueryOptions query = options;
      query.no_index = no_index;
      if (no_index) query.use_index.clear();
      if (no_index) query.no_scan = false;
      auto cursor = database->Query(read, "t", *predicate, query);
      BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
      uint64_t rows = 0;
      for (; cursor->Next(); ++rows) found[no_index] += std::string(cursor->row().key()) + " ";
      BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
      const auto count = database->Count(read, "t", *predicate, query);
      BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
      BOOST_TEST(*count == rows, text);
    }
    if (found[0] != found[1]) {
      size_t at = 0;
      while (at < found[0].size() && at < found[1].size() && found[0][at] == found[1][at]) ++at;
      BOOST_ERROR(text << ": after " << at << " bytes: " << found[0].substr(at, 60)
                       << " but by a scan " << found[1].substr(at, 60) << ", in all "
                       << found[0].size() << ", " << found[1].size());
    }
    return found[0];
  }
  Explanation Explained(std::string_view text, const QueryOptions& query = {},
                        const ReadOptions& read = {}) {
    const Predicate predicate = text.empty() ? Predicate() : Predicate::Parse(text).value();
    auto explained = database->Explain(read, "t", predicate, query);
    BOOST_REQUIRE_MESSAGE(explained.has_value(), explained.status().ToString());
    return *std::move(explained);
  }
  void VerifyOk() {
    const auto report = database->Verify(true);
    BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
    BOOST_TEST(report->findings.empty());
  }

  TemporaryDirectory directory;
  Options options = SmallOptions();
  std::unique_ptr<Database> database;
};

}  // namespace tandem::test

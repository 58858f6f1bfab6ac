// Opening, closing and what is between: tables, handles, read-only access.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/limits.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct OpenFixture : TestEngine {
  OpenFixture() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable()).ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }
};

std::string CreateError(TestEngine& engine, const TableOptions& options) {
  const Status status = engine->CreateTable(options);
  BOOST_CHECK_EQUAL(status.code(), StatusCode::kInvalidArgument);
  return std::string(status.message());
}

BOOST_FIXTURE_TEST_SUITE(Lifecycle, OpenFixture)

BOOST_AUTO_TEST_CASE(WhatWasWrittenIsThereAfterCloseAndOpen) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("b", "c", "2", Durability::kMemory).ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "a{c=1} b{c=2}");
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "a{c=1} b{c=2}");
  BOOST_CHECK_EQUAL(engine().Info().recovered_operations, 0u);
  BOOST_CHECK_EQUAL(FileCount(), 1u);
}

BOOST_AUTO_TEST_CASE(ACleanCloseLeavesOneEmptySegmentHoweverOften) {
  for (int i = 0; i < 5; ++i) {
    BOOST_REQUIRE_EQUAL(Put("a", "c", std::to_string(i)).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_CHECK_EQUAL(engine().Info().log_segments, 1u);
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_CHECK_EQUAL(Rows(), "a{c=" + std::to_string(i) + "}");
  }
}

BOOST_AUTO_TEST_CASE(AProcessThatDiesLosesOnlyWhatItDidNotWrite) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("b", "c", "2", Durability::kMemory).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("c", "c", "3", Durability::kBuffered).ToString(), "OK");
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "a{c=1}");
  BOOST_CHECK_EQUAL(engine().Info().recovered_operations, 1u);
  BOOST_REQUIRE_EQUAL(Put("d", "c", "4").ToString(), "OK");
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "a{c=1} d{c=4}");
}

BOOST_AUTO_TEST_CASE(SequencesAndTimestampsNeverComeTwice) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1", Durability::kMemory).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("b", "c", "2", Durability::kMemory).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK");
  const uint64_t sequence = engine().Info().last_sequence;
  const std::string versions = Versions("b", "c");
  Kill();
  clock.SetWall(1);
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(engine().Info().last_sequence, sequence);
  BOOST_REQUIRE_EQUAL(Put("c", "c", "3").ToString(), "OK");
  BOOST_CHECK_GT(Versions("c", "c").substr(2), versions.substr(2));
  BOOST_CHECK_EQUAL(engine().Info().last_sequence, sequence + 1);
}

BOOST_AUTO_TEST_CASE(CloseIsRefusedWhileHandlesAreOpen) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  {
    Result<Cursor> cursor = engine().Scan({}, "t", {});
    Result<Snapshot> snapshot = engine().TakeSnapshot();
    Result<Snapshot> second = engine().TakeSnapshot();
    BOOST_REQUIRE(cursor.has_value() && snapshot.has_value() && second.has_value());
    BOOST_CHECK_EQUAL(Close().ToString(),
                      "Busy: 1 cursor (of 't') and 2 snapshots (of sequence 1, 1) are open");
    BOOST_CHECK(cursor->Next());
    BOOST_CHECK_EQUAL(Put("b", "c", "2").ToString(), "OK");
  }
  BOOST_CHECK_EQUAL(engine().Close().ToString(), "OK");
  BOOST_CHECK_EQUAL(engine().Close().code(), StatusCode::kClosed);
  BOOST_CHECK_EQUAL(Put("c", "c", "3").code(), StatusCode::kClosed);
  BOOST_CHECK_EQUAL(engine().Get({}, "t", "a").error().code(), StatusCode::kClosed);
}

// Whatever their order is, and some after the database is gone.
BOOST_AUTO_TEST_CASE(CursorsThatEndLeaveTheOthersOpen) {
  constexpr int kCursors = 6;
  for (int i = 0; i < kCursors; ++i) {
    TableOptions table = SimpleTable();
    table.name = std::string(1, static_cast<char>('a' + i));
    BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
  }
  for (const std::vector<int>& ends : std::vector<std::vector<int>>{
           {0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {2, 5, 0, 3, 1, 4}, {1, 0, 4, 2, 5, 3}}) {
    std::vector<std::optional<Cursor>> cursors;
    for (int i = 0; i < kCursors; ++i) {
      Result<Cursor> cursor = engine().Scan({}, std::string(1, static_cast<char>('a' + i)), {});
      BOOST_REQUIRE(cursor.has_value());
      cursors.emplace_back(*std::move(cursor));
    }
    for (size_t ended = 0; ended + 2 < ends.size(); ++ended) {
      cursors[static_cast<size_t>(ends[ended])].reset();
      std::string open = "Busy: " + std::to_string(kCursors - ended - 1) + " cursors (of ";
      for (int i = 0; i < kCursors; ++i) {
        if (!cursors[static_cast<size_t>(i)].has_value()) continue;
        open +=
            std::string(open.ends_with("(of ") ? "'" : ", '") + static_cast<char>('a' + i) + "'";
      }
      BOOST_CHECK_EQUAL(Close().ToString(), open + ") are open");
    }
    Drop();
    cursors.clear();
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(ACursorOfADestroyedDatabaseSaysClosed) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("b", "c", "1").ToString(), "OK");
  Result<Cursor> cursor = engine().Scan({}, "t", {});
  Result<Snapshot> snapshot = engine().TakeSnapshot();
  BOOST_REQUIRE(cursor.has_value() && snapshot.has_value());
  BOOST_CHECK(cursor->Next());
  Drop();
  BOOST_CHECK(!cursor->Next());
  BOOST_CHECK_EQUAL(cursor->status().code(), StatusCode::kClosed);
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(engine().Info().recovered_operations, 0u);  // It was closed cleanly.
  ReadOptions old;
  old.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL(engine().Get(old, "t", "a").error().code(), StatusCode::kInvalidArgument);
}

// The rows of a file are decoded ahead of the cursor: those that it has not given are not given any
// more, and destroying the database does not touch what the cursor looks at.
BOOST_AUTO_TEST_CASE(ACursorGivesNoRowThatWasDecodedAhead) {
  for (int row = 0; row < 100; ++row) {
    BOOST_REQUIRE(Put("row" + std::to_string(row), "c", "1").ok());
  }
  BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK");
  for (const int given : {1, 5, 30, 99}) {
    Result<Cursor> cursor = engine().Scan({}, "t", {});
    BOOST_REQUIRE(cursor.has_value());
    for (int row = 0; row < given; ++row) BOOST_REQUIRE(cursor->Next());
    Drop();
    BOOST_CHECK(!cursor->Next());
    BOOST_CHECK_EQUAL(cursor->status().code(), StatusCode::kClosed);
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(ASnapshotSeesNothingThatCameLater) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  Result<Snapshot> snapshot = engine().TakeSnapshot();
  BOOST_REQUIRE_EQUAL(Put("a", "c", "2").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  ReadOptions old;
  old.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL((*engine().Get(old, "t", "a"))->Find("d", "c").value_or("-"), "1");
  BOOST_CHECK_EQUAL(Value("a", "c"), "2");
  { const Snapshot gone = std::move(*snapshot); }
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(engine().Info().tables[0].regions[0].files[0].cells, 1u);
}

BOOST_AUTO_TEST_CASE(ReadOnlyOpenWritesNothing) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  Kill();
  options.read_only = true;
  disk.control().SetTracing(true);
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "a{c=1}");
  BOOST_CHECK_EQUAL(Put("b", "c", "2").ToString(),
                    "ReadOnly: the database was opened to read only");
  BOOST_CHECK_EQUAL(engine().CreateTable(SimpleTable()).code(), StatusCode::kReadOnly);
  BOOST_CHECK_EQUAL(engine().Flush("").code(), StatusCode::kReadOnly);
  BOOST_CHECK(engine().Info().read_only);
  BOOST_CHECK_EQUAL(Close().ToString(), "OK");
  for (const DiskEvent& event : disk.control().TakeTrace()) {
    BOOST_CHECK_MESSAGE(event.operation == DiskOperation::kRead ||
                            event.operation == DiskOperation::kOpen ||
                            event.operation == DiskOperation::kList,
                        Describe(event));
  }
}

BOOST_AUTO_TEST_CASE(ADatabaseThatDoesNotExistIsNotMade) {
  TestEngine other;
  other.options.create_if_missing = false;
  BOOST_CHECK_EQUAL(other.Open().code(), StatusCode::kNotFound);
}

BOOST_AUTO_TEST_CASE(TablesAreFoundAgainAndNamesAreUnique) {
  BOOST_CHECK_EQUAL(engine().CreateTable(SimpleTable()).ToString(),
                    "AlreadyExists: table 't' exists already");
  TableOptions second = SimpleTable(5, 1000);
  second.name = "second";
  second.families[0].compression = Compression::kNone;
  second.indexes.push_back(
      {.name = "n", .columns = {{.family = "", .qualifier = "n", .type = ColumnType::kInt64}}});
  BOOST_REQUIRE_EQUAL(engine().CreateTable(second).ToString(), "OK");
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  const DatabaseInfo info = engine().Info();
  BOOST_REQUIRE_EQUAL(info.tables.size(), 2u);
  const TableOptions& found = info.tables[1].options;
  BOOST_CHECK_EQUAL(found.name, "second");
  BOOST_CHECK_EQUAL(found.families[0].max_versions, 5u);
  BOOST_CHECK_EQUAL(found.families[0].ttl_micros, 1000);
  BOOST_CHECK(found.families[0].compression == Compression::kNone);
  BOOST_REQUIRE_EQUAL(found.indexes.size(), 2u);
  BOOST_CHECK_EQUAL(found.indexes[1].columns[0].family, "d");
  BOOST_CHECK(found.indexes[1].columns[0].type == ColumnType::kInt64);
}

BOOST_AUTO_TEST_CASE(BadDeclarationsAreRefused) {
  TableOptions options = SimpleTable();
  options.name = "";
  BOOST_CHECK_EQUAL(CreateError(*this, options),
                    "table name '': expected 1 to 255 bytes without control characters");
  options.name = std::string(256, 'x');
  CreateError(*this, options);
  options.name = "line\nbreak";
  CreateError(*this, options);

  options = SimpleTable();
  options.name = "u";
  options.families.clear();
  BOOST_CHECK_EQUAL(CreateError(*this, options), "table 'u' declares 0 families, expected 1 to 64");
  options.families.clear();
  for (int i = 0; i < 65; ++i) options.families.push_back({.name = "f" + std::to_string(i)});
  BOOST_CHECK_EQUAL(CreateError(*this, options),
                    "table 'u' declares 65 families, expected 1 to 64");
  options.families = {{.name = "d"}, {.name = "d"}};
  CreateError(*this, options);
  options.families = {{.name = "a:b"}};
  CreateError(*this, options);
  for (const FamilyOptions& family :
       {FamilyOptions{.name = ""}, FamilyOptions{.name = "d", .max_versions = 0},
        FamilyOptions{.name = "d", .ttl_micros = -1},
        FamilyOptions{.name = "d", .compression = static_cast<Compression>(9)},
        FamilyOptions{.name = "d", .block_size_bytes = 511},
        FamilyOptions{.name = "d", .block_size_bytes = (1 << 20) + 1}}) {
    options.families = {family};
    options.indexes.clear();
    CreateError(*this, options);
  }

  options = SimpleTable();
  options.name = "u";
  const IndexOptions good = options.indexes[0];
  options.indexes = {good, good};
  BOOST_CHECK_EQUAL(CreateError(*this, options), "index 'by_c': is declared twice");
  options.indexes = {{.name = "i", .columns = {}}};
  BOOST_CHECK_EQUAL(CreateError(*this, options), "index 'i': declares 0 columns, expected 1 to 16");
  options.indexes = {{.name = "i", .columns = {good.columns[0], good.columns[0]}}};
  CreateError(*this, options);
  options.indexes = {{.name = "i", .columns = {{.family = "nowhere", .qualifier = "c"}}}};
  BOOST_CHECK_EQUAL(CreateError(*this, options), "index 'i': there is no family 'nowhere'");
  options.indexes = {
      {.name = "i",
       .columns = {{.family = "", .qualifier = "c", .type = static_cast<ColumnType>(8)}}}};
  CreateError(*this, options);
  options.indexes = {
      {.name = "i", .columns = {{.family = "", .qualifier = std::string(2049, 'q')}}}};
  CreateError(*this, options);
  options.indexes.assign(kIndexesMax + 1, good);
  for (size_t i = 0; i < options.indexes.size(); ++i) options.indexes[i].name = std::to_string(i);
  CreateError(*this, options);
  BOOST_CHECK_EQUAL(engine().Info().tables.size(), 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

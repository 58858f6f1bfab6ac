// Point reads: what they allocate, and what a pinned row holds and for how long.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tandem/tandem.h"
#include "test/allocations/allocations.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

std::string Key(unsigned row) { return "row" + std::to_string(1000 + row); }

std::unique_ptr<Database> Opened(const std::string& path) {
  Options options;
  options.create_if_missing = true;
  options.memory_bytes = 8 << 20;
  options.io = IoBackend::kPosix;
  auto opened = Database::Open(path, options);
  BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
  return *std::move(opened);
}

struct PinnedFixture {
  PinnedFixture() {
    database = Opened(directory.Path("db"));
    for (const char* name : {"t", "u"}) {
      TableOptions table;
      table.name = name;
      table.families = {{.name = "d"}};
      BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    }
  }
  ~PinnedFixture() { ThisThreadsAllocations().left = -1; }

  /// Four small columns a row.
  void PutRows(const std::string& table, const std::string& value) {
    for (unsigned row = 0; row < kRows; ++row) {
      WriteBatch batch;
      for (const char* column : {"a", "b", "c", "e"}) {
        batch.Put(table, Key(row), "d", column, value + std::to_string(row));
      }
      BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    }
  }
  void Delete(const std::string& table, const std::string& key) {
    WriteBatch batch;
    batch.DeleteRow(table, key);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  bool Read(const std::string& table, const std::string& key, const ReadOptions& options = {}) {
    const auto found = database->GetPinned(options, table, key, &pinned);
    BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
    return *found;
  }
  std::string Value(const char* column) {
    return std::string(pinned.view().Find("d", column).value_or("nothing"));
  }
  /// The allocations of reading every row, after a round that lets lists grow.
  uint64_t AllocationsOfReads(const ReadOptions& options, const std::string& value) {
    uint64_t allocations = 0;
    for (unsigned read = 0; read < 2 * kRows; ++read) {
      const unsigned row = read % kRows;
      const std::string key = Key(row);
      bool found = false;
      const uint64_t here =
          AllocationsOf([&] { found = database->GetPinned(options, "t", key, &pinned).value(); });
      BOOST_REQUIRE(found);
      BOOST_REQUIRE_EQUAL(Value("b"), value + std::to_string(row));
      if (read >= kRows) allocations += here;
    }
    return allocations;
  }

  static constexpr unsigned kRows = 300;
  TemporaryDirectory directory{"/dev/shm"};
  std::unique_ptr<Database> database;
  PinnedRow pinned;
};

BOOST_FIXTURE_TEST_SUITE(pinned_row, PinnedFixture)

BOOST_AUTO_TEST_CASE(ReadingRowsOfAMergedFileAllocatesNothing) {
  PutRows("t", "v");
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(AllocationsOfReads({}, "v"), 0u);
}

BOOST_AUTO_TEST_CASE(ReadingRowsOfAMemstoreAllocatesNothing) {
  PutRows("t", "v");
  BOOST_CHECK_EQUAL(AllocationsOfReads({}, "v"), 0u);
}

BOOST_AUTO_TEST_CASE(ReadingRowsOfAFileAndAMemstoreAllocatesNothing) {
  PutRows("t", "old");
  BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  PutRows("t", "new");
  BOOST_CHECK_EQUAL(AllocationsOfReads({}, "new"), 0u);
  ReadOptions one_column;
  one_column.columns = {{.family = "d", .qualifier = "b"}};
  BOOST_CHECK_LE(AllocationsOfReads(one_column, "new"), kRows);  // The columns' ids in the file.
  BOOST_CHECK_EQUAL(pinned.view().cells().size(), 1u);
}

BOOST_AUTO_TEST_CASE(AGetOfFourSmallColumnsAllocatesTwice) {
  PutRows("t", "v");
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  const std::string key = Key(7);
  BOOST_REQUIRE(database->Get({}, "t", key)->has_value());
  std::optional<Row> row;
  const uint64_t allocations = AllocationsOf([&] { row = *database->Get({}, "t", key); });
  BOOST_REQUIRE(row.has_value());
  BOOST_CHECK_EQUAL(row->cells().size(), 4u);
  BOOST_CHECK_LE(allocations, 2u);
}

BOOST_AUTO_TEST_CASE(ARowStaysAsItWasWhenItWasRead) {
  PutRows("t", "v");
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    const std::string key = Key(is_flushed ? 8 : 7);
    BOOST_REQUIRE(Read("t", key));
    Delete("t", key);
    BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
    BOOST_CHECK_EQUAL(pinned.view().key(), key);
    BOOST_CHECK_EQUAL(pinned.view().cells().size(), 4u);
    BOOST_CHECK_EQUAL(Value("a"), is_flushed ? "v8" : "v7");
    BOOST_CHECK(!Read("t", key));
    BOOST_CHECK(pinned.view().cells().empty() && pinned.view().key().empty());
  }
}

BOOST_AUTO_TEST_CASE(AHeldRowRefusesTheCloseAndIsNamed) {
  PutRows("t", "v");
  BOOST_CHECK(database->GetSpaceUsage()->cursors.empty());
  BOOST_REQUIRE(Read("t", Key(1)));
  auto snapshot = std::make_optional(*database->TakeSnapshot());
  auto cursor = std::make_optional(*database->Scan({}, "u", {}));
  BOOST_CHECK((database->GetSpaceUsage()->cursors == std::vector<std::string>{"t", "u"}));
  const Status refused = database->Close();
  BOOST_CHECK_EQUAL(refused.code(), StatusCode::kBusy);
  BOOST_CHECK_EQUAL(refused.message(),
                    "1 cursor (of 'u') and 1 pinned row (of 't') and 1 snapshot (of sequence " +
                        std::to_string(snapshot->sequence()) + ") are open");
  snapshot.reset();
  cursor.reset();
  BOOST_CHECK_EQUAL(database->Close().message(), "1 pinned row (of 't') is open");
  pinned.Release();
  BOOST_CHECK(pinned.view().cells().empty());
  BOOST_CHECK(database->GetSpaceUsage()->cursors.empty());
  // One that holds no row keeps nothing open.
  BOOST_CHECK(!Read("t", "none"));
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
  BOOST_CHECK_EQUAL(database->GetPinned({}, "t", Key(1), &pinned).status().code(),
                    StatusCode::kClosed);
}

BOOST_AUTO_TEST_CASE(AnErrorLeavesNoRow) {
  PutRows("t", "v");
  BOOST_REQUIRE(Read("t", Key(1)));
  BOOST_CHECK_EQUAL(database->GetPinned({}, "none", Key(1), &pinned).status().code(),
                    StatusCode::kNotFound);
  BOOST_CHECK(pinned.view().cells().empty());
  BOOST_REQUIRE(Read("t", Key(1)));
  ReadOptions no_versions;
  no_versions.versions = 0;
  BOOST_CHECK_EQUAL(database->GetPinned(no_versions, "t", Key(1), &pinned).status().code(),
                    StatusCode::kInvalidArgument);
  BOOST_CHECK(pinned.view().cells().empty());
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(OneObjectReadsTablesAndDatabasesInTurn) {
  PutRows("t", "t");
  PutRows("u", "u");
  auto other = Opened(directory.Path("other"));
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "d"}};
  BOOST_REQUIRE_EQUAL(other->CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  batch.Put("t", Key(1), "d", "a", "other");
  BOOST_REQUIRE_EQUAL(other->Write({}, batch).ToString(), "OK");
  for (int round = 0; round < 2; ++round) {
    BOOST_REQUIRE(Read("t", Key(1)));
    BOOST_CHECK_EQUAL(Value("a"), "t1");
    BOOST_REQUIRE(Read("u", Key(1)));
    BOOST_CHECK_EQUAL(Value("a"), "u1");
    BOOST_REQUIRE(*other->GetPinned({}, "t", Key(1), &pinned));
    BOOST_CHECK_EQUAL(Value("a"), "other");
  }
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
  PinnedRow moved = std::move(pinned);
  BOOST_CHECK_EQUAL(std::string(*moved.view().Find("d", "a")), "other");
  BOOST_CHECK(pinned.view().cells().empty());
  other.reset();  // It takes the row with it.
  moved.Release();
}

BOOST_AUTO_TEST_CASE(ASnapshotReadsTheRowAsItWas) {
  PutRows("t", "old");
  const Snapshot snapshot = *database->TakeSnapshot();
  PutRows("t", "new");
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  ReadOptions old;
  old.snapshot = &snapshot;
  BOOST_REQUIRE(Read("t", Key(2), old));
  BOOST_CHECK_EQUAL(Value("c"), "old2");
  BOOST_REQUIRE(Read("t", Key(2)));
  BOOST_CHECK_EQUAL(Value("c"), "new2");
}

// Wide rows and large values come from many blocks.
BOOST_AUTO_TEST_CASE(LargeRowsAreCopied) {
  WriteBatch batch;
  for (int i = 0; i < 200; ++i) {
    batch.Put("t", "wide", "d", "c" + std::to_string(i), std::string(1000, 'w'));
  }
  batch.Put("t", "large", "d", "c", std::string(200'000, 'l'));
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    for (int round = 0; round < 2; ++round) {
      BOOST_REQUIRE(Read("t", "wide"));
      BOOST_CHECK_EQUAL(pinned.view().cells().size(), 200u);
      BOOST_REQUIRE(Read("t", "large"));
      BOOST_CHECK_EQUAL(Value("c"), std::string(200'000, 'l'));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

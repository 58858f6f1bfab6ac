// Global indexes: queries by them answer as scans do, whatever was written, and their entries are
// those of the rows.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/bulk_load.h"
#include "tandem/limits.h"
#include "tandem/tandem.h"
#include "tandem/transaction.h"
#include "test/api/index_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

IndexOptions GlobalIndex(std::string name, std::string_view columns) {
  IndexOptions index = IndexOf(std::move(name), columns);
  index.placement = IndexPlacement::kGlobal;
  return index;
}

// Regions begin at "b", "c" and so on.
TableOptions TableOfRegions() {
  return {.name = "t",
          .families = {{.name = "d", .max_versions = 2}, {.name = "m"}},
          .indexes = {GlobalIndex("city", "city"), GlobalIndex("both", "city, n::int64 DESC"),
                      GlobalIndex("lower", "lower(m:name)")},
          .split_keys = {"b", "c", "d", "e"}};
}

struct GlobalIndexFixture : IndexFixture {
  GlobalIndexFixture() : IndexFixture(TableOfRegions()) {}

  void Put(const std::string& row, const std::string& column, const std::string& value,
           std::optional<int64_t> timestamp = {}) {
    WriteBatch batch;
    batch.Put("t", row, "d", column, value, timestamp);
    Write(batch);
  }
  void Write(const WriteBatch& batch) {
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  const IndexInfo& InfoOf(std::string_view name) {
    info = *database->Info();
    for (const TableInfo& table : info.tables) {
      if (table.options.name != "t") continue;
      for (const IndexInfo& index : table.indexes) {
        if (index.options.name == name) return index;
      }
    }
    BOOST_FAIL("no index " << name);
    return info.tables.at(0).indexes.at(0);
  }
  void AwaitBuilt(std::string_view name) {
    for (int i = 0; InfoOf(name).is_building && i < 1000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    BOOST_REQUIRE(!InfoOf(name).is_building);
  }
  std::string RejectedOf(std::string_view name, std::string_view predicate,
                         const ReadOptions& read = {}) {
    for (const std::string& why : Explained(predicate, {}, read).rejected) {
      if (why.starts_with("index " + std::string(name) + ": ")) return why;
    }
    return "";
  }
  DatabaseInfo info;
};

const QueryOptions kByCity{.use_index = "city"};
const QueryOptions kByBoth{.use_index = "both"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(global_indexes, GlobalIndexFixture)

BOOST_AUTO_TEST_CASE(TheyFindRowsOfAllRegions) {
  for (const char* row : {"a1", "b1", "c1", "d1", "e1"}) {
    Put(row, "city", "oslo");
    Put(std::string(row) + "x", "city", row);
    Put(row, "n", std::string(1, row[0] - 'a' + '1'));
  }
  AtEachStage([&] {
    BOOST_TEST(Rows("city = 'oslo'", kByCity) == "a1 b1 c1 d1 e1 ");
    BOOST_TEST(Rows("city = 'oslo' AND n > 3", kByBoth) == "d1 e1 ");
    BOOST_TEST(Rows("city = 'oslo' AND n IS NULL", kByBoth) == "");
    BOOST_TEST(Rows("city > 'a' AND city < 'c' ", kByCity) == "a1x b1x ");
    BOOST_TEST(Rows("city = 'oslo' AND _row > 'b1'", kByCity) == "c1 d1 e1 ");
    BOOST_TEST(Rows("city = 'nowhere'", kByCity) == "");
    QueryOptions ordered{.order_by = "both", .limit = 2};
    BOOST_TEST(Rows("city = 'oslo'", ordered) == "e1 d1 ");
    const Explanation explained = Explained("city = 'oslo'", kByCity);
    BOOST_TEST(explained.index == "city");
    BOOST_TEST(explained.rows == 5);
    BOOST_TEST(explained.reason.ends_with("global index city: 5 rows"));
    QueryOptions never_scans;
    never_scans.no_scan = true;
    BOOST_TEST(Rows("city = 'oslo'", never_scans) == "a1 b1 c1 d1 e1 ");
  });
}

// The row keys that entries lead to are in memory together.
BOOST_AUTO_TEST_CASE(ABudgetOfMemoryHoldsTheRowsFound) {
  for (int i = 0; i < 100; ++i) Put("a" + std::to_string(i), "city", "oslo");
  ReadOptions read;
  const auto code = [&] {
    return database->Query(read, "t", *Predicate::Parse("city = 'oslo'"), kByCity).status().code();
  };
  read.budget.memory = 100;
  BOOST_TEST(code() == StatusCode::kOverBudget);
  read.budget.memory = 1 << 20;
  BOOST_TEST(code() == StatusCode::kOk);
}

BOOST_AUTO_TEST_CASE(EntriesGoWithWhatTheyAreOf) {
  Put("a", "city", "oslo", 10);
  Put("a", "city", "rome", 20);
  BOOST_TEST(Rows("city = 'oslo'", kByCity) == "");
  WriteBatch reveal;
  reveal.DeleteCell("t", "a", "d", "city", 20);
  Write(reveal);
  BOOST_TEST(Rows("city = 'oslo'", kByCity) == "a ");
  BOOST_TEST(Rows("city = 'rome'", kByCity) == "");
  Put("a", "city", "older", 5);
  BOOST_TEST(Rows("city = 'older'", kByCity) == "");
  WriteBatch family;
  family.DeleteFamily("t", "a", "d");
  Write(family);
  BOOST_TEST(Rows("city = 'oslo'", kByCity) == "");
  WriteBatch several;
  several.Put("t", "b", "d", "city", "x");
  several.DeleteRow("t", "b");
  several.Put("t", "c", "d", "city", "y");
  several.Put("t", "c", "d", "city", "z");
  Write(several);
  BOOST_TEST(Rows("city >= 'x'", kByCity) == "c ");
  BOOST_TEST(Rows("city = 'z'", kByCity) == "c ");
  BOOST_REQUIRE(database->Append({}, "t", "c", "d", "city", "z").has_value());
  BOOST_TEST(Rows("city = 'zz'", kByCity) == "c ");
  BOOST_REQUIRE(database->Increment({}, "t", "c", "d", "n", 7).has_value());
  BOOST_TEST(Rows("city = 'zz' AND n = 7", kByBoth) == "c ");
  const auto applied = database->CheckAndMutate({}, "t", "c", *Predicate::Parse("city = 'zz'"), [] {
    WriteBatch batch;
    batch.DeleteColumn("t", "c", "d", "city");
    return batch;
  }());
  BOOST_REQUIRE(applied.has_value());
  BOOST_TEST(*applied);
  BOOST_TEST(Rows("city = 'zz'", kByCity) == "");
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(ATransactionReadsWithoutThemAndKeepsThem) {
  Put("a", "city", "oslo");
  Result<Transaction> transaction = database->Begin();
  BOOST_REQUIRE(transaction.has_value());
  BOOST_REQUIRE(transaction->Put("t", "b", "d", "city", "oslo").ok());
  auto cursor = transaction->Query({}, "t", *Predicate::Parse("city = 'oslo'"));
  BOOST_REQUIRE(cursor.has_value());
  std::string found;
  while (cursor->Next()) found += cursor->row().key();
  BOOST_TEST(found == "ab");
  cursor = Status::Closed("");
  BOOST_REQUIRE_EQUAL(transaction->Commit().ToString(), "OK");
  BOOST_TEST(Rows("city = 'oslo'", kByCity) == "a b ");
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(AnAddedIndexIsBuiltAndServesLaterSnapshots) {
  for (int i = 0; i < 1000; ++i) {
    Put(std::string(1, static_cast<char>('a' + i % 7)) + std::to_string(i), "k",
        std::to_string(i % 10));
  }
  Result<Snapshot> before = database->TakeSnapshot();
  BOOST_REQUIRE(before.has_value());
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", GlobalIndex("k", "k")).ToString(), "OK");
  AwaitBuilt("k");
  const QueryOptions by{.use_index = "k"};
  BOOST_TEST(Explained("k = '3'", by).rows == 100);
  Rows("k = '3'", by);
  const ReadOptions then{.snapshot = &*before};
  BOOST_TEST(RejectedOf("k", "k = '3'", then) == "index k: the snapshot is older than its entries");
  BOOST_TEST(Rows("k = '3'", {}, then) == Rows("k = '3'", by));
  ReadOptions past;
  past.as_of = 1;
  BOOST_TEST(RejectedOf("k", "k = '3'", past) ==
             "index k: entries are of the current state, and the read is of other timestamps");
  before = Status::Closed("");
  AtEachStage([&] { BOOST_TEST(Rows("k = '3' AND _row < 'b'", by).size() > 0); });
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "k").ToString(), "OK");
  const auto dropped = database->Query({}, "t", *Predicate::Parse("k = '3'"), by);
  BOOST_TEST(dropped.status().code() == StatusCode::kNotFound);
  VerifyOk();
}

// Until then queries do without the index, and find the rows of the load.
BOOST_AUTO_TEST_CASE(ALoadBuildsThemAgain) {
  const auto load = [&](const std::string& city) {
    Result<BulkLoad> begun = database->BeginBulkLoad("t", {.any_order = true});
    BOOST_REQUIRE_EQUAL(begun.status().ToString(), "OK");
    WriteBatch batch;
    for (const char* row : {"a", "c", "e"}) {
      batch.Put("t", row, "d", "city", city);
      batch.Put("t", row, "d", "n", "1");
    }
    BOOST_REQUIRE_EQUAL(begun->Add(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(begun->Commit().ToString(), "OK");
  };
  Put("a", "city", "oslo");
  Put("b", "city", "oslo");
  Result<Snapshot> before = database->TakeSnapshot();
  BOOST_REQUIRE(before.has_value());
  const ReadOptions then{.snapshot = &*before};
  for (const char* city : {"rome", "bern", "rome"}) {
    load(city);
    BOOST_TEST(Rows("city = '" + std::string(city) + "'") == "a c e ");
    BOOST_TEST(Rows("city = 'oslo'") == "b ");
    BOOST_TEST(Rows("city = 'oslo'", {}, then) == "a b ");
  }
  Put("b", "city", "rome");
  for (const char* name : {"city", "both", "lower"}) AwaitBuilt(name);
  BOOST_TEST(RejectedOf("city", "city = 'oslo'", then) ==
             "index city: the snapshot is older than its entries");
  BOOST_TEST(Rows("city = 'oslo'", {}, then) == "a b ");
  before = Status::Closed("");
  AtEachStage([&] {
    BOOST_TEST(Rows("city = 'rome'", kByCity) == "a b c e ");
    BOOST_TEST(Rows("city = 'oslo'", kByCity) == "");
    BOOST_TEST(Rows("city = 'bern'", kByCity) == "");
    BOOST_TEST(Rows("city = 'rome' AND n = 1", kByBoth) == "a c e ");
  });
  BOOST_REQUIRE(database->Close().ok());
  Open();
  BOOST_TEST(InfoOf("city").entries == 4);
}

BOOST_AUTO_TEST_CASE(AttachedRowsHaveThem) {
  Put("a", "city", "oslo");
  Put("e", "city", "oslo");
  BOOST_REQUIRE(database->ExportFiles("t", directory.Path("export")).has_value());
  WriteBatch batch;
  batch.DeleteRow("t", "a");
  Write(batch);
  Put("b", "city", "oslo");
  BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  Put("c", "city", "oslo");
  const auto attached = database->Attach("t", directory.Path("export"));
  BOOST_REQUIRE_MESSAGE(attached.has_value(), attached.status().ToString());
  BOOST_TEST(Rows("city = 'oslo'") == "a c e ");
  AwaitBuilt("city");
  AtEachStage([&] { BOOST_TEST(Rows("city = 'oslo'", kByCity) == "a c e "); });
}

// A row's key and value together are longer than a key may be: the build says so and ends.
BOOST_AUTO_TEST_CASE(ABuildThatIsGivenUpIsTold) {
  Put(std::string(kRowKeyBytesMax - 10, 'r'), "k", std::string(100, 'v'));
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", GlobalIndex("k", "k")).ToString(), "OK");
  for (int i = 0; InfoOf("k").unusable.empty() && i < 1000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::string why = InfoOf("k").unusable;
  BOOST_TEST(why.starts_with("its build was given up, until the database is opened again: "), why);
  BOOST_TEST(!Rows("k PREFIX 'v'").empty());
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "k").ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(TheirTablesAreHiddenAndGoWithTheirs) {
  Put("a", "city", "oslo");
  BOOST_TEST(database->Info()->tables.size() == 1);
  const std::string hidden = std::string(1, 1) + "1.1";
  BOOST_TEST(database->Get({}, hidden, "a").status().code() == StatusCode::kNotFound);
  WriteBatch batch;
  batch.Put(hidden, "a", "e", "", "x");
  BOOST_TEST(database->Write({}, batch).code() == StatusCode::kNotFound);
  BOOST_REQUIRE_EQUAL(database->RenameTable("t", "u").ToString(), "OK");
  const auto found = database->Count({}, "u", *Predicate::Parse("city = 'oslo'"), kByCity);
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(*found == 1);
  BOOST_REQUIRE_EQUAL(database->RenameTable("u", "t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  BOOST_TEST(Rows("city = 'oslo'", kByCity) == "");
  Put("b", "city", "oslo");
  AtEachStage([&] { BOOST_TEST(Rows("city = 'oslo'", kByCity) == "b "); });
  BOOST_REQUIRE_EQUAL(database->DropTable("t").ToString(), "OK");
  BOOST_TEST(database->Info()->tables.empty());
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(WhatTheyCannotBeIsRefused) {
  const auto create = [&](const IndexOptions& index) {
    return std::string(database->CreateIndex("t", index).message());
  };
  IndexOptions unique = GlobalIndex("u", "x");
  unique.unique = true;
  BOOST_TEST(create(unique) == "index 'u': it is global: it cannot be unique");
  IndexOptions partial = GlobalIndex("p", "x");
  partial.where = "y = '1'";
  BOOST_TEST(create(partial) == "index 'p': it is global: it cannot have a WHERE");
  const IndexOptions of_key = GlobalIndex("k", "split_part(_row, '/', 2)");
  BOOST_TEST(create(of_key).starts_with(
      "index 'k': it is global: it cannot be over a part of the row key"));
  BOOST_TEST(create(GlobalIndex("w", "words(x)")).find("several values") != std::string::npos);
  FamilyOptions brief{.name = "d", .max_versions = 2, .ttl_micros = 1'000'000};
  BOOST_TEST(database->AlterFamily("t", brief).code() == StatusCode::kInvalidArgument);
  BOOST_TEST(database->DropFamily("t", "m").code() == StatusCode::kInvalidArgument);
  const auto refused = database->Query({}, "t", *Predicate::Parse("n = 1"), kByCity);
  BOOST_TEST(std::string(refused.status().message()).find("cannot serve") != std::string::npos);
  for (const char* text : {"city IS NULL", "NOT city = 'oslo'", "city = 'oslo' OR n = 1"}) {
    const auto null = database->Query({}, "t", *Predicate::Parse(text), kByCity);
    BOOST_TEST(null.status().code() == StatusCode::kInvalidArgument, text);
  }
}

BOOST_AUTO_TEST_CASE(RandomWritesLeaveTheEntriesOfTheRows) {
  std::mt19937 random(7);
  const auto pick = [&](uint32_t n) { return random() % n; };
  std::vector<Snapshot> snapshots;
  for (int step = 0; step < 600; ++step) {
    const std::string row(1, static_cast<char>('a' + pick(6)));
    const std::string column = pick(2) == 0 ? "city" : "n";
    const std::string value = std::to_string(1 + pick(3));
    std::optional<int64_t> timestamp;
    if (pick(2) == 0) timestamp = 1 + pick(7);
    WriteBatch batch;
    for (uint32_t i = 0; i <= pick(3); ++i) {
      switch (pick(6)) {
        case 0:
        case 1:
          batch.Put("t", row, "d", column, value, timestamp);
          break;
        case 2:
          batch.DeleteCell("t", row, "d", column, timestamp.value_or(3));
          break;
        case 3:
          batch.DeleteColumn("t", row, "d", column, timestamp);
          break;
        case 4:
          batch.DeleteFamily("t", row, "d", timestamp);
          break;
        default:
          batch.Put("t", std::string(1, static_cast<char>('a' + pick(6))), "m", "name",
                    pick(2) == 0 ? "A" : "b");
      }
    }
    Write(batch);
    if (pick(40) == 0) BOOST_REQUIRE(database->Flush("t").ok());
    if (pick(80) == 0) BOOST_REQUIRE(database->Compact("t").ok());
    if (pick(60) == 0) {
      Result<Snapshot> taken = database->TakeSnapshot();
      BOOST_REQUIRE(taken.has_value());
      snapshots.push_back(*std::move(taken));
      if (snapshots.size() > 3) snapshots.erase(snapshots.begin());
    }
    if (step % 5 != 0) continue;
    for (size_t at = 0; at <= snapshots.size(); ++at) {
      ReadOptions read;
      if (at > 0) read.snapshot = &snapshots[at - 1];
      Rows("city = '1'", kByCity, read);
      Rows("city >= '2'", kByCity, read);
      Rows("city = '2' AND n <= 2", kByBoth, read);
      Rows("city = '2' AND n IS NULL", kByBoth, read);
      Rows("lower(m:name) = 'a'", {.use_index = "lower"}, read);
    }
    if (step % 50 == 0) VerifyOk();
  }
  snapshots.clear();
  AtEachStage([&] {
    Rows("city = '1'", kByCity);
    Rows("city = '3' AND n = 1", kByBoth);
  });
}

BOOST_AUTO_TEST_CASE(CopiesHaveThem) {
  Put("a", "city", "oslo");
  Put("e", "city", "oslo");
  BOOST_REQUIRE_EQUAL(database->Checkpoint(directory.Path("copy")).ToString(), "OK");
  RestoreTableOptions as;
  as.as = "u";
  BOOST_REQUIRE(database->RestoreTable(directory.Path("copy"), "t", as).has_value());
  const auto count = [&] {
    const auto found = database->Count({}, "u", *Predicate::Parse("city = 'oslo'"), {});
    return found.has_value() ? *found : 99;
  };
  BOOST_TEST(count() == 2);
  BOOST_REQUIRE(database->Close().ok());
  database = OpenSmall(directory.Path("copy"));
  BOOST_TEST(Rows("city = 'oslo'", kByCity) == "a e ");
  VerifyOk();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test

// Families that are added, altered and dropped on a table with data: reads are right at once, in
// memory, in files and after a restart, and readers from before finish on what they began with.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

struct FamilyChangeFixture {
  FamilyChangeFixture() {
    Open();
    const TableOptions table{.name = "t", .families = {{.name = "d", .max_versions = 3}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  void Open() {
    database.reset();
    database = OpenSmall(directory.Path("db"));
  }
  void Add(FamilyOptions family) {
    BOOST_REQUIRE_EQUAL(database->AddFamily("t", family).ToString(), "OK");
  }
  void Alter(const FamilyOptions& family) {
    BOOST_REQUIRE_EQUAL(database->AlterFamily("t", family).ToString(), "OK");
  }
  void PutAt(const std::string& row, const std::string& value, int64_t timestamp) {
    WriteBatch batch;
    batch.Put("t", row, "d", "c", value, timestamp);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void Drop(const std::string& family) {
    BOOST_REQUIRE_EQUAL(database->DropFamily("t", family).ToString(), "OK");
  }
  Status TryPut(const std::string& row, const std::string& column, const std::string& value) {
    const size_t colon = column.find(':');
    WriteBatch batch;
    batch.Put("t", row, column.substr(0, colon), column.substr(colon + 1), value);
    return database->Write({}, batch);
  }
  void Put(const std::string& row, const std::string& column, const std::string& value) {
    BOOST_REQUIRE_EQUAL(TryPut(row, column, value).ToString(), "OK");
  }
  static std::string TextOf(const RowView& row) {
    std::string text(row.key());
    for (const Cell& cell : row.cells()) {
      text += " " + std::string(cell.family) + ":" + std::string(cell.qualifier) + "=" +
              std::string(cell.value);
    }
    return text;
  }
  /// All rows, each as "row d:c=value"; one row by Get must agree.
  std::string Rows(ReadOptions options = {}) {
    std::string text;
    auto cursor = database->Scan(options, "t", {});
    BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
    while (cursor->Next()) {
      const std::string row = TextOf(cursor->row());
      const auto found = database->Get(options, "t", cursor->row().key());
      BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
      BOOST_REQUIRE(found->has_value());
      BOOST_CHECK_EQUAL(TextOf((*found)->view()), row);
      text += (text.empty() ? "" : "; ") + row;
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return text;
  }
  uint64_t Count(std::string_view text) {
    const auto count = database->Count({}, "t", *Predicate::Parse(text), {});
    BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
    return *count;
  }
  void Flush() { BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK"); }
  void Compact() { BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK"); }
  void CheckSound() {
    const auto report = database->Verify(true);
    BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }
  uint64_t CellsInFiles() {
    uint64_t cells = 0;
    const DatabaseInfo info = *database->Info();
    for (const RegionInfo& region : info.tables[0].regions) {
      for (const FileInfo& file : region.files) cells += file.cells;
    }
    return cells;
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

BOOST_FIXTURE_TEST_SUITE(family_change, FamilyChangeFixture)

BOOST_AUTO_TEST_CASE(AFamilyIsAddedBesideRowsInMemoryAndFiles) {
  Put("a", "d:c", "1");
  Flush();
  Put("b", "d:c", "2");
  BOOST_CHECK_EQUAL(TryPut("a", "e:x", "9").code(), StatusCode::kNotFound);
  Add({.name = "e", .max_versions = 2});
  BOOST_CHECK_EQUAL(Rows(), "a d:c=1; b d:c=2");
  Put("a", "e:x", "8");
  Put("a", "e:x", "9");
  Put("c", "e:x", "7");
  const std::string expected = "a d:c=1 e:x=9; b d:c=2; c e:x=7";
  BOOST_CHECK_EQUAL(Rows(), expected);
  BOOST_CHECK_EQUAL(Rows({.versions = 2}), "a d:c=1 e:x=9 e:x=8; b d:c=2; c e:x=7");
  Open();  // A replay of operations on it.
  BOOST_CHECK_EQUAL(Rows(), expected);
  Flush();
  BOOST_CHECK_EQUAL(Rows(), expected);
  Compact();
  BOOST_CHECK_EQUAL(Rows(), expected);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(TheCellsOfADroppedFamilyAreGoneAndWithThemRowsOfNothingElse) {
  Add({.name = "e"});
  Put("a", "d:c", "1");
  Put("a", "e:x", "2");
  Put("b", "e:x", "3");
  Flush();
  Put("c", "d:c", "4");
  Put("c", "e:x", "5");
  Put("d", "e:x", "6");
  BOOST_REQUIRE_EQUAL(Count("e:x IS NOT NULL"), 4u);
  Drop("e");
  const auto check = [this] {
    BOOST_CHECK_EQUAL(Rows(), "a d:c=1; c d:c=4");
    BOOST_CHECK_EQUAL(Count("d:zz IS NULL"), 2u);
    BOOST_CHECK_EQUAL(Count("c = '4'"), 1u);
    BOOST_CHECK(!database->Get({}, "t", "b")->has_value());
    BOOST_CHECK(!database->Get({}, "t", "d")->has_value());
    BOOST_CHECK_EQUAL(database->Get({.families = {"e"}}, "t", "a").status().code(),
                      StatusCode::kNotFound);
  };
  check();
  BOOST_CHECK_EQUAL(TryPut("a", "e:x", "9").code(), StatusCode::kNotFound);
  Open();  // Its operations are still in the log.
  check();
  Flush();
  check();
  Compact();
  check();
  BOOST_CHECK_EQUAL(CellsInFiles(), 2u);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(AFamilyOfTheSameNameBeginsEmpty) {
  Add({.name = "e"});
  Put("a", "e:x", "1");
  Flush();
  Put("b", "e:x", "2");
  Drop("e");
  Add({.name = "e"});
  BOOST_CHECK_EQUAL(Rows(), "");
  Put("a", "e:y", "3");
  BOOST_CHECK_EQUAL(Rows(), "a e:y=3");
  Open();
  BOOST_CHECK_EQUAL(Rows(), "a e:y=3");
  WriteBatch batch;
  batch.DeleteRow("t", "a");
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "");
  Compact();
  CheckSound();
}

BOOST_AUTO_TEST_CASE(ReadersFromBeforeGoOnWithTheFamily) {
  Add({.name = "e"});
  Put("a", "d:c", "1");
  Put("a", "e:x", "2");
  Flush();
  Put("b", "e:x", "3");
  auto snapshot = database->TakeSnapshot();
  BOOST_REQUIRE(snapshot.has_value());
  auto cursor = database->Scan({}, "t", {});
  BOOST_REQUIRE(cursor.has_value());
  BOOST_REQUIRE(cursor->Next());
  Drop("e");
  Flush();
  Compact();
  Put("b", "d:c", "4");
  const std::string before = "a d:c=1 e:x=2; b e:x=3";
  BOOST_CHECK_EQUAL(Rows({.snapshot = &*snapshot}), before);
  BOOST_CHECK_EQUAL(TextOf(cursor->row()), "a d:c=1 e:x=2");
  BOOST_REQUIRE(cursor->Next());
  BOOST_CHECK_EQUAL(TextOf(cursor->row()), "b e:x=3");
  Add({.name = "e"});
  Put("a", "e:x", "5");
  BOOST_CHECK_EQUAL(Rows({.snapshot = &*snapshot}), before);
  BOOST_CHECK_EQUAL(Rows(), "a d:c=1 e:x=5; b d:c=4");
}

BOOST_AUTO_TEST_CASE(TheFirstFamilyIsTheOneThatAnEmptyNameMeans) {
  Add({.name = "e"});
  Put("a", "d:c", "1");
  Put("a", "e:c", "2");
  BOOST_CHECK_EQUAL(Count("c = '1'"), 1u);
  Drop("d");
  BOOST_CHECK_EQUAL(Count("c = '1'"), 0u);
  BOOST_CHECK_EQUAL(Count("c = '2'"), 1u);
  BOOST_CHECK_EQUAL(Rows(), "a e:c=2");
}

BOOST_AUTO_TEST_CASE(WhatCannotBeDroppedIsNamed) {
  const auto drop = [this](const std::string& family) {
    return database->DropFamily("t", family).ToString();
  };
  BOOST_CHECK_NE(drop("d").find("it is the only one of table 't'"), std::string::npos);
  BOOST_CHECK_EQUAL(database->DropFamily("t", "e").code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(database->DropFamily("u", "d").code(), StatusCode::kNotFound);
  Add({.name = "e"});
  const IndexOptions index{.name = "by_x", .columns = {{.family = "e", .qualifier = "x"}}};
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", index).ToString(), "OK");
  BOOST_CHECK_NE(drop("e").find("index 'by_x' is over one of its columns"), std::string::npos);
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_x").ToString(), "OK");
  Drop("e");
}

BOOST_AUTO_TEST_CASE(WhatCannotBeAddedOrAlteredIsRefused) {
  BOOST_CHECK_EQUAL(database->AddFamily("t", {.name = "d"}).code(), StatusCode::kAlreadyExists);
  BOOST_CHECK_EQUAL(database->AddFamily("t", {.name = ""}).code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(database->AddFamily("t", {.name = "e", .max_versions = 0}).code(),
                    StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(database->AlterFamily("t", {.name = "e"}).code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(database->AlterFamily("t", {.name = "d", .max_versions = 0}).code(),
                    StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(database->AlterFamily("u", {.name = "d"}).code(), StatusCode::kNotFound);
}

BOOST_AUTO_TEST_CASE(MoreVersionsAreKeptOfWhatIsVisibleNowAndLater) {
  Alter({.name = "d", .max_versions = 1});
  for (const char* value : {"1", "2"}) Put("a", "d:c", value);
  Flush();
  Put("a", "d:c", "3");
  Alter({.name = "d", .max_versions = 3});
  const auto check = [this](const std::string& expected) {
    BOOST_CHECK_EQUAL(Rows({.versions = 9}), expected);
  };
  check("a d:c=3");  // Not 2 and 1, which are in files.
  Put("a", "d:c", "4");
  check("a d:c=4 d:c=3");
  Open();
  check("a d:c=4 d:c=3");
  Flush();
  check("a d:c=4 d:c=3");
  for (const char* value : {"5", "6"}) Put("a", "d:c", value);
  check("a d:c=6 d:c=5 d:c=4");
  Compact();
  check("a d:c=6 d:c=5 d:c=4");
  Open();
  check("a d:c=6 d:c=5 d:c=4");
  CheckSound();
}

// The version that had cut the others is replaced, deleted and written over in other files.
BOOST_AUTO_TEST_CASE(WhatACutVersionHidSurvivesNoMergeOrder) {
  for (const bool compacts : {false, true}) {
    PutAt("a", "5", 5);
    PutAt("b", "5", 5);
    Alter({.name = "d", .max_versions = 1});
    Flush();
    PutAt("a", "7", 7);
    PutAt("b", "7", 7);
    Alter({.name = "d", .max_versions = 3});
    PutAt("a", "again", 7);
    WriteBatch batch;
    batch.DeleteCell("t", "b", "d", "c", 7);
    batch.Put("t", "b", "d", "c", "3", 3);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    Flush();
    if (compacts) Compact();
    BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=again; b d:c=3");
    CheckSound();
    BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(FormerLimitsGoWhenTheTableWasCompacted) {
  const auto former = [this] { return database->Info()->tables[0].former_limits; };
  Alter({.name = "d", .max_versions = 4});
  BOOST_CHECK_EQUAL(former().size(), 0u);  // The table was empty.
  // While it lives, no merge settles the limits.
  auto snapshot = std::optional<Snapshot>(*database->TakeSnapshot());
  for (uint32_t i = 0; i < kFormerLimitsMax; ++i) {
    PutAt("a", std::to_string(i), i);
    Alter({.name = "d", .max_versions = 1 + i % 2});
  }
  BOOST_REQUIRE_EQUAL(former().size(), kFormerLimitsMax);
  BOOST_CHECK_EQUAL(former()[0].family, "d");
  BOOST_CHECK_EQUAL(*former()[0].max_versions, 4u);
  BOOST_CHECK(!former()[0].expired_through.has_value());
  const Status refused = database->AlterFamily("t", {.name = "d", .max_versions = 9});
  BOOST_CHECK_EQUAL(refused.code(), StatusCode::kUnsupported);
  BOOST_CHECK_NE(refused.ToString().find("compact the table"), std::string::npos);
  const std::string rows = Rows({.versions = 9});
  BOOST_CHECK_EQUAL(rows, "a d:c=15");
  Compact();
  BOOST_CHECK_EQUAL(database->AlterFamily("t", {.name = "d", .max_versions = 9}).code(),
                    StatusCode::kUnsupported);
  snapshot.reset();
  Compact();
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), rows);
  Alter({.name = "d", .max_versions = 9});
  BOOST_CHECK_EQUAL(former().size(), 1u);  // Its own.
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), rows);
  Open();
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), rows);
  CheckSound();
}

// A merge of one file may not go by the few versions of now: it does not know of the delete that
// was made when more were kept.
BOOST_AUTO_TEST_CASE(FewerVersionsCutWhatIsVisibleThen) {
  Alter({.name = "d", .max_versions = 4});
  for (int64_t time : {5, 7, 9}) PutAt("a", std::to_string(time), time);
  Flush();
  WriteBatch batch;
  batch.DeleteCell("t", "a", "d", "c", 9);
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  Alter({.name = "d", .max_versions = 2});
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=7 d:c=5");
  Compact();
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=7 d:c=5");
}

BOOST_AUTO_TEST_CASE(ALongerTimeToLiveBringsNothingBack) {
  constexpr int64_t kHour = 3'600'000'000;
  Alter({.name = "d", .max_versions = 3, .ttl_micros = kHour});
  Put("a", "d:c", "now");
  PutAt("b", "old", 1000);
  BOOST_CHECK_EQUAL(Rows(), "a d:c=now");
  Alter({.name = "d", .max_versions = 3});
  const std::string rows = "a d:c=now";
  BOOST_CHECK_EQUAL(Rows(), rows);
  BOOST_CHECK_EQUAL(Count("c IS NULL"), 0u);
  BOOST_CHECK_EQUAL(Count("c = 'old'"), 0u);
  BOOST_CHECK(!database->Get({}, "t", "b")->has_value());
  Open();
  BOOST_CHECK_EQUAL(Rows(), rows);
  const std::vector<FormerLimits> former = database->Info()->tables[0].former_limits;
  BOOST_REQUIRE_EQUAL(former.size(), 1u);
  BOOST_CHECK(!former[0].max_versions.has_value());
  BOOST_CHECK(former[0].expired_through.has_value());
  PutAt("b", "older", 900);  // The family keeps it for ever now.
  PutAt("b", "old again", 1000);
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=now; b d:c=old again d:c=older");
  Compact();
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=now; b d:c=old again d:c=older");
  BOOST_CHECK_EQUAL(Count("c = 'old again'"), 1u);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(ALoadFromBeforeARaiseIsRefused) {
  auto load = database->BeginBulkLoad("t");
  BOOST_REQUIRE_MESSAGE(load.has_value(), load.status().ToString());
  WriteBatch batch;
  for (int64_t time : {1, 2, 3, 4}) batch.Put("t", "a", "d", "c", std::to_string(time), time);
  BOOST_REQUIRE_EQUAL(load->Add(batch).ToString(), "OK");
  Alter({.name = "d", .max_versions = 4});
  BOOST_CHECK_EQUAL(load->Commit().code(), StatusCode::kConflict);
  load = database->BeginBulkLoad("t");
  BOOST_REQUIRE_EQUAL(load->Add(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(load->Commit().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=4 d:c=3 d:c=2 d:c=1");
}

BOOST_AUTO_TEST_CASE(SnapshotsFromBeforeARaiseReadByTheFormerLimits) {
  Alter({.name = "d", .max_versions = 1});
  PutAt("a", "5", 5);
  PutAt("a", "7", 7);
  const auto snapshot = database->TakeSnapshot();
  BOOST_REQUIRE_EQUAL(database->CreateSnapshot("named", {}).ToString(), "OK");
  Alter({.name = "d", .max_versions = 3});
  PutAt("a", "6", 6);
  PutAt("a", "again", 7);
  const auto check = [&] {
    BOOST_CHECK_EQUAL(Rows({.snapshot = &*snapshot, .versions = 9}), "a d:c=7");
    const auto named = database->OpenSnapshot("named");
    BOOST_REQUIRE(named.has_value());
    BOOST_CHECK_EQUAL(Rows({.snapshot = &*named, .versions = 9}), "a d:c=7");
    BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=again d:c=6");
  };
  check();
  Flush();
  check();
  Compact();
  check();
  CheckSound();
}

// Ids of families are never given out twice: 255 of them are a table's life.
// Counts and rows by each index of "t" against a scan.
void RequireIndexesToAgree(Database& database, const ReadOptions& read) {
  const TableOptions table = database.Info()->tables[0].options;
  for (const char* text :
       {"c = 'after'", "c = 'before'", "c >= 'a' AND c < 'b'", "c IS NULL", "length(c)::int64 = 5",
        "split(c, ',') = 'after'", "upper(c) = 'AFTER'", "upper(c) = 'BEFORE'"}) {
    const Predicate predicate = *Predicate::Parse(text);
    const auto scanned = database.Count(read, "t", predicate, {.no_index = true});
    BOOST_REQUIRE_EQUAL(scanned.status().ToString(), "OK");
    BOOST_TEST(*database.Count(read, "t", predicate, {}) == *scanned, text);
    for (const IndexOptions& index : table.indexes) {
      const auto counted = database.Count(read, "t", predicate, {.use_index = index.name});
      if (counted.status().code() == StatusCode::kInvalidArgument) continue;  // Not for this.
      BOOST_TEST(*counted == *scanned, text << " by " << index.name);
      auto cursor = database.Query(read, "t", predicate, {.use_index = index.name});
      BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
      uint64_t rows = 0;
      while (cursor->Next()) ++rows;
      BOOST_TEST(rows == *scanned, text << " by " << index.name);
    }
  }
}

// A Put that a former limit hides has a greater timestamp than one that came after the change. Both
// lie in one file, since a snapshot sees the first.
BOOST_AUTO_TEST_CASE(IndexesFindWhatIsBelowAPutThatAFormerLimitHides) {
  FamilyOptions family{.name = "d", .max_versions = 1};
  Alter(family);
  for (const char* definition :
       {"c", "length(c)::int64", "c DESC, e", "split(c, ',')", "c INCLUDE (e)",
        "c WHERE c IS NOT NULL", "concat(c, e)", "upper(c), substr(_row, 1, 1)"}) {
    IndexOptions index = *IndexOptions::Parse(definition);
    index.name = definition;
    BOOST_REQUIRE_EQUAL(database->CreateIndex("t", index).ToString(), "OK");
  }
  PutAt("a", "before", 100);
  const auto snapshot = database->TakeSnapshot();
  BOOST_REQUIRE(snapshot.has_value());
  PutAt("a", "next", 200);
  Flush();
  family.max_versions = 3;
  Alter(family);
  WriteBatch newest;
  newest.DeleteCell("t", "a", "d", "c");
  BOOST_REQUIRE_EQUAL(database->Write({}, newest).ToString(), "OK");
  PutAt("a", "after", 1);
  const auto check = [&] {
    BOOST_REQUIRE_EQUAL(Rows({.versions = 9}), "a d:c=after");
    BOOST_REQUIRE_EQUAL(Rows({.snapshot = &*snapshot, .versions = 9}), "a d:c=before");
    RequireIndexesToAgree(*database, {});
    RequireIndexesToAgree(*database, {.snapshot = &*snapshot});
    auto ordered = database->Query({}, "t", {}, {.order_by = "c"});
    BOOST_REQUIRE_EQUAL(ordered.status().ToString(), "OK");
    BOOST_TEST(ordered->Next());
    BOOST_TEST(!ordered->Next());
    auto grouped = database->Aggregate({}, "t", {}, {.group_by = {"c"}});
    BOOST_REQUIRE(grouped.has_value() && grouped->Next());
    BOOST_TEST(grouped->keys()[0].value_or("") == "after");
  };
  check();
  Flush();
  check();
  Compact();
  BOOST_REQUIRE_EQUAL(database->Info()->tables[0].regions[0].files.size(), 1u);
  check();
  // What decides about uniqueness finds it too.
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "c").ToString(), "OK");
  IndexOptions unique = *IndexOptions::Parse("c");
  unique.name = "unique";
  unique.unique = true;
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", unique).ToString(), "OK");
  Compact();  // It waits for no build.
  BOOST_REQUIRE_EQUAL(database->EnforceUnique("t", "unique").status().ToString(), "OK");
  BOOST_TEST((TryPut("b", "d:c", "after").code() == StatusCode::kAlreadyExists));
  BOOST_TEST(TryPut("b", "d:c", "before").ToString() == "OK");
  CheckSound();
}

BOOST_AUTO_TEST_CASE(IdsOfFamiliesEnd) {
  for (int i = 1; i < 255; ++i) {
    Add({.name = "e"});
    Drop("e");
  }
  const Status refused = database->AddFamily("t", {.name = "e"});
  BOOST_CHECK_EQUAL(refused.code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_NE(refused.ToString().find("has had 255 families"), std::string::npos);
  Put("a", "d:c", "1");
  Open();
  BOOST_CHECK_EQUAL(Rows(), "a d:c=1");
}

BOOST_AUTO_TEST_CASE(FewerVersionsHideOlderOnesAtOnceButNotFromSnapshots) {
  for (const char* value : {"1", "2", "3"}) Put("a", "d:c", value);
  Flush();
  Put("a", "d:c", "4");
  const auto snapshot = database->TakeSnapshot();
  const std::string before = "a d:c=4 d:c=3 d:c=2";
  BOOST_REQUIRE_EQUAL(Rows({.versions = 9}), before);
  const FamilyOptions fewer{
      .name = "d", .compression = Compression::kNone, .block_size_bytes = 1024};
  BOOST_REQUIRE_EQUAL(database->AlterFamily("t", fewer).ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=4");
  Flush();
  Compact();
  BOOST_CHECK_EQUAL(Rows({.versions = 9}), "a d:c=4");
  BOOST_CHECK_EQUAL(Rows({.snapshot = &*snapshot, .versions = 9}), before);
  const TableOptions now = database->Info()->tables[0].options;
  BOOST_CHECK_EQUAL(now.families[0].block_size_bytes, 1024u);
  BOOST_CHECK(now.families[0].compression == Compression::kNone);
  CheckSound();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

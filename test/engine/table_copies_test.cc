// Tables that go from one database to another: what arrives, that it arrives as a whole or not at
// all, and that damage of the source is found before anything is linked.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/backup/staged_database.h"
#include "engine/storage/storage.h"
#include "tandem/backup.h"
#include "test/engine/copied_database.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr const char* kExport = "export";

std::string Key(int number) { return "r" + std::to_string(1000 + number); }

/// "t": three versions of d:c and d:n, a second family, an index, two regions.
TableOptions SourceTable() {
  TableOptions table = SimpleTable(3);
  table.families.push_back({.name = "e"});
  table.indexes.push_back(
      {.name = "by_n", .columns = {{.family = "d", .qualifier = "n", .type = ColumnType::kInt64}}});
  table.split_keys = {Key(20)};
  return table;
}

void PutRow(engine::Engine* engine, const std::string& table, int number, const std::string& value,
            int64_t timestamp) {
  WriteBatch batch;
  batch.Put(table, Key(number), "d", "c", value, timestamp);
  batch.Put(table, Key(number), "d", "n", std::to_string(number), timestamp);
  batch.Put(table, Key(number), "e", "x", value + "-x", timestamp);
  BOOST_REQUIRE_EQUAL(engine->Write({}, batch).ToString(), "OK");
}

/// Files, a memstore, versions, deletes.
void Fill(TestEngine* engine) {
  BOOST_REQUIRE(engine->Open().ok());
  BOOST_REQUIRE_EQUAL((*engine)->CreateTable(SourceTable()).ToString(), "OK");
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 40; i += round) {
      PutRow(&**engine, "t", i, "v" + std::to_string(round), 10 * round);
    }
    if (round < 3) BOOST_REQUIRE((*engine)->Flush("t").ok());
  }
  WriteBatch batch;
  batch.DeleteRow("t", Key(7));
  batch.DeleteColumn("t", Key(8), "d", "c");
  BOOST_REQUIRE((*engine)->Write({}, batch).ok());
}

/// All cells of all versions, of a snapshot or the latest.
std::string Cells(engine::Engine* engine, const std::string& table,
                  const Snapshot* snapshot = nullptr) {
  Result<Cursor> cursor = engine->Scan({.snapshot = snapshot, .versions = UINT32_MAX}, table, {});
  if (!cursor.has_value()) return "!" + cursor.error().ToString();
  std::string text;
  while (cursor->Next()) {
    text.append(cursor->row().key()).append("{");
    for (const Cell& cell : cursor->row().cells()) {
      text.append(cell.family).append(":").append(cell.qualifier).append("=");
      text.append(cell.value).append("@").append(std::to_string(cell.timestamp)).append(" ");
    }
    text += "}";
  }
  return cursor->status().ok() ? text : text + "!" + cursor->status().ToString();
}

uint64_t CountWhere(engine::Engine* engine, const std::string& table,
                    const std::string& predicate) {
  const Result<uint64_t> count = engine->Count({}, table, Predicate::Parse(predicate).value(), {});
  BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
  return *count;
}

std::string Findings(engine::Engine* engine) {
  const Result<VerifyReport> report = engine->Verify(true);
  if (!report.has_value()) return report.error().ToString();
  std::string text;
  for (const Finding& finding : report->findings) text += finding.text + "\n";
  return text;
}

/// What a call that failed must leave as it was: files on disk, tables, regions and rows.
std::string StateOf(TestEngine* engine, const std::string& path = "db") {
  std::string text;
  size_t stores = 0;
  for (const std::string& name : *(*engine->disk.OpenDirectory(path, false))->List()) {
    stores += name.starts_with("store-") ? 1 : 0;
  }
  text += std::to_string(stores) + " store files;";
  for (const TableInfo& table : (*engine)->Info().tables) {
    text += " " + table.options.name;
    for (const RegionInfo& region : table.regions) {
      text += " " + region.start_key + "/" + std::to_string(region.files.size()) + "/" +
              std::to_string(region.memstore_rows);
    }
    text += ": " + Cells(&**engine, table.options.name);
  }
  return text;
}

/// The rows of all tables.
std::string RowsOf(TestEngine* engine) {
  std::string text;
  for (const TableInfo& table : (*engine)->Info().tables) {
    text += table.options.name + ": " + Cells(&**engine, table.options.name);
  }
  return text;
}

Status AttachTo(TestEngine* engine, const std::string& table = "u",
                const std::string& path = kExport) {
  return (*engine)->Attach(table, path, {}).status();
}

TableOptions Named(TableOptions table, const std::string& name) {
  table.name = name;
  return table;
}

struct ExportedTable : TestEngine {
  ExportedTable() {
    Fill(this);
    cells = Cells(&**this, "t");
    Export();
  }
  void Export() {
    const Result<TableCopy> copy = (**this).ExportFiles("t", kExport, {});
    BOOST_REQUIRE_EQUAL(copy.status().ToString(), "OK");
    BOOST_TEST(copy->rows == 39u);
  }
  void Create(const TableOptions& table) {
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
  }
  engine::Engine* engine() { return &**this; }

  std::string cells;
};

BOOST_FIXTURE_TEST_SUITE(table_copies, ExportedTable)

BOOST_AUTO_TEST_CASE(AnExportIsADatabaseOfWhatAReadSees) {
  CopiedDatabase copy(&disk, kExport, /*read_only=*/true);
  BOOST_TEST(Cells(&*copy, "t") == cells);
  BOOST_TEST(copy.Findings() == "");
  BOOST_TEST(CountWhere(&*copy, "t", "n = 12") == 1u);
  const DatabaseInfo info = copy->Info();
  BOOST_REQUIRE(info.tables.size() == 1u);
  BOOST_TEST(info.tables[0].options.indexes.size() == 2u);
  BOOST_REQUIRE(info.tables[0].regions.size() == 2u);
  BOOST_TEST(info.tables[0].regions[1].start_key == Key(20));
  for (const RegionInfo& region : info.tables[0].regions) {
    BOOST_TEST(region.deletes == 0u);
    BOOST_TEST(region.runs == 1u);
  }
  // It is durable as it is.
  const auto crashed = disk.CrashedCopy({});
  CopiedDatabase survivor(crashed.get(), kExport, /*read_only=*/true);
  BOOST_TEST(Cells(&*survivor, "t") == cells);
}

BOOST_AUTO_TEST_CASE(AnExportIsOfOnePointInTime) {
  const Snapshot snapshot = *engine()->TakeSnapshot();
  PutRow(engine(), "t", 3, "later", 100);
  BOOST_REQUIRE(engine()->RenameTable("t", "renamed").ok());
  const auto copy = engine()->ExportFiles("t", "earlier", {.snapshot = &snapshot});
  BOOST_TEST(copy.status().ToString() == "OK");
  CopiedDatabase earlier(&disk, "earlier", /*read_only=*/true);
  BOOST_TEST(Cells(&*earlier, "t") == cells);
}

BOOST_AUTO_TEST_CASE(AnExportOfNoRowsIsAttached) {
  Create(Named(SourceTable(), "empty"));
  BOOST_TEST(engine()->ExportFiles("empty", "nothing", {}).status().ToString() == "OK");
  const std::string before = StateOf(this);
  BOOST_TEST(AttachTo(this, "t", "nothing").ToString() == "OK");
  BOOST_TEST((StateOf(this) == before));
}

BOOST_AUTO_TEST_CASE(AttachedRowsAppearTogetherAndAreIndexedByTheirNewTable) {
  TableOptions other = Named(SourceTable(), "u");
  other.indexes = {{.name = "by_x", .columns = {{.family = "e", .qualifier = "x"}}}};
  other.split_keys = {Key(10), Key(30)};
  other.families[0].compression = Compression::kNone;
  Create(other);
  PutRow(engine(), "u", 100, "own", 5);
  std::optional<Snapshot> before = *engine()->TakeSnapshot();
  const Result<TableCopy> copy = engine()->Attach("u", kExport, {});
  BOOST_REQUIRE_EQUAL(copy.status().ToString(), "OK");
  BOOST_TEST(copy->rows == 39u);
  BOOST_TEST(copy->files > 0u);
  const std::string own = Key(100) + "{d:c=own@5 d:n=100@5 e:x=own-x@5 }";
  for (int round = 0; round < 3; ++round) {
    BOOST_TEST(Cells(engine(), "u") == cells + own);
    BOOST_TEST(CountWhere(engine(), "u", "e:x = 'v3-x'") == 14u);
    BOOST_TEST(Findings(engine()) == "");
    if (round == 0) {
      BOOST_TEST(Cells(engine(), "u", &*before) == own);
      before.reset();
      BOOST_REQUIRE(engine()->Compact("u").ok());
    } else {
      Kill();
      BOOST_REQUIRE(Open().ok());
    }
  }
}

BOOST_AUTO_TEST_CASE(AttachingTwiceChangesNothingMore) {
  Create(Named(SourceTable(), "u"));
  BOOST_REQUIRE_EQUAL(AttachTo(this).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(AttachTo(this).ToString(), "OK");
  BOOST_TEST(Cells(engine(), "u") == cells);
  BOOST_TEST(CountWhere(engine(), "u", "n = 12") == 1u);
  BOOST_REQUIRE(engine()->Compact("u").ok());
  BOOST_TEST(Cells(engine(), "u") == cells);
  BOOST_TEST(Findings(engine()) == "");
  // What was deleted in the table that the export is of comes back.
  WriteBatch batch;
  batch.DeleteRow("t", Key(1));
  BOOST_REQUIRE(Write(batch).ok());
  BOOST_TEST(Cells(engine(), "t") != cells);
  BOOST_REQUIRE_EQUAL(AttachTo(this, "t").ToString(), "OK");
  BOOST_TEST(Cells(engine(), "t") == cells);
}

BOOST_AUTO_TEST_CASE(AttachedCellsAreAfterWhatWasWrittenBefore) {
  Create(Named(SourceTable(), "u"));
  PutRow(engine(), "u", 3, "older", 30);  // The export has that cell with the same timestamp.
  WriteBatch batch;
  batch.DeleteRow("u", Key(5), 5);
  BOOST_REQUIRE(Write(batch).ok());
  BOOST_REQUIRE_EQUAL(AttachTo(this).ToString(), "OK");
  PutRow(engine(), "u", 6, "newer", 30);
  for (int round = 0; round < 2; ++round) {
    BOOST_TEST(CountWhere(engine(), "u", "c = 'older'") == 0u);
    BOOST_TEST(CountWhere(engine(), "u", "c = 'newer'") == 1u);
    BOOST_TEST(CountWhere(engine(), "u", "n = 5") == 1u);
    BOOST_REQUIRE(engine()->Compact("u").ok());
  }
}

BOOST_AUTO_TEST_CASE(FamiliesAreMatchedByName) {
  TableOptions other = Named(SourceTable(), "u");
  other.families = {{.name = "z"}, {.name = "e"}, {.name = "d", .max_versions = 1}};
  Create(other);
  BOOST_REQUIRE_EQUAL(AttachTo(this).ToString(), "OK");
  BOOST_TEST(CountWhere(engine(), "u", "d:c = 'v3'") == CountWhere(engine(), "t", "d:c = 'v3'"));
  BOOST_TEST(CountWhere(engine(), "u", "e:x = 'v2-x'") ==
             CountWhere(engine(), "t", "e:x = 'v2-x'"));
  BOOST_TEST(CountWhere(engine(), "u", "d:c = 'v1'") == CountWhere(engine(), "t", "d:c = 'v1'"));
  BOOST_TEST(Findings(engine()) == "");
}

BOOST_AUTO_TEST_CASE(LargeRowsAndValuesArrive) {
  const std::string value(200'000, 'v');
  for (int i = 0; i < 20; ++i) {
    BOOST_REQUIRE(Put("wide", "q" + std::to_string(100 + i), value).ok());
  }
  BOOST_REQUIRE(engine()->ExportFiles("t", "wide", {}).has_value());
  Create(Named(SourceTable(), "u"));
  BOOST_REQUIRE_EQUAL(AttachTo(this, "u", "wide").ToString(), "OK");
  BOOST_TEST((Cells(engine(), "u") == Cells(engine(), "t")));
  TableOptions turned = Named(SourceTable(), "w");
  std::swap(turned.families[0], turned.families[1]);
  Create(turned);
  BOOST_REQUIRE_EQUAL(AttachTo(this, "w", "wide").ToString(), "OK");
  BOOST_TEST(Findings(engine()) == "");
  BOOST_TEST(CountWhere(engine(), "w", "d:q119 = '" + value + "'") == 1u);
}

BOOST_AUTO_TEST_CASE(WhatDoesNotFitIsRefusedAndNamed) {
  TableOptions other = Named(SourceTable(), "no_family");
  other.families.pop_back();
  Create(other);
  other = Named(SourceTable(), "other_type");
  other.indexes[1].columns[0].type = ColumnType::kDouble;
  Create(other);
  other = Named(SourceTable(), "no_value");
  other.indexes = {
      {.name = "by_x", .columns = {{.family = "e", .qualifier = "x", .type = ColumnType::kInt64}}}};
  Create(other);
  const std::string before = StateOf(this);
  BOOST_TEST(AttachTo(this, "no_family").ToString() ==
             "InvalidArgument: table 'no_family' has no family 'e', which the exported table 't' "
             "has");
  BOOST_TEST(AttachTo(this, "other_type").ToString() ==
             "InvalidArgument: column 'd:n' is int64 in the exported table 't' and "
             "double in table 'other_type'");
  const std::string refused = AttachTo(this, "no_value").ToString();
  BOOST_TEST(refused.find("InvalidArgument: row 'r1000', column 'e:x', index 'by_x': ") == 0u,
             refused);
  BOOST_TEST(AttachTo(this, "absent").code() == StatusCode::kNotFound);
  BOOST_TEST((StateOf(this) == before));
}

BOOST_AUTO_TEST_CASE(WhatIsNoExportIsRefused) {
  Create(Named(SourceTable(), "u"));
  BOOST_REQUIRE(engine()->Backup("backups").has_value());
  BOOST_REQUIRE(engine()->Checkpoint("whole").ok());
  const std::string before = StateOf(this);
  const std::string why = ", but no export, which is a closed database of one table";
  BOOST_TEST(AttachTo(this, "u", "backups").ToString() ==
             "InvalidArgument: 'backups' is a directory of backups" + why);
  BOOST_TEST(AttachTo(this, "u", "whole").ToString() ==
             "InvalidArgument: 'whole' is a database of 2 tables" + why);
  BOOST_TEST(AttachTo(this, "u", "db").ToString() ==
             "InvalidArgument: 'db' is a database that was not closed" + why);
  BOOST_TEST(AttachTo(this, "u", "nowhere").code() == StatusCode::kNotFound);
  BOOST_TEST(engine()->ExportFiles("t", kExport, {}).status().ToString() ==
             "AlreadyExists: 'export' exists already and holds a database; name another directory");
  BOOST_TEST(engine()->ExportFiles("absent", "new", {}).status().code() == StatusCode::kNotFound);
  BOOST_TEST((StateOf(this) == before));
}

/// The files of the export.
std::vector<std::string> FilesOfExport(SimulatedDisk* disk) {
  return *(*disk->OpenDirectory(kExport, false))->List();
}

// A slot of ROOT is there twice, so that one that is damaged is not missed.
BOOST_AUTO_TEST_CASE(EveryFlippedByteIsFound) {
  Create(Named(SourceTable(), "u"));
  const std::string before = StateOf(this);
  size_t flips = 0;
  for (const std::string& name : FilesOfExport(&disk)) {
    const std::string content = *disk.Content(kExport, name);
    size_t accepted = 0;
    for (size_t at = 0; at < content.size(); ++at) {
      if (name == "ROOT" && content[at] == 0 && at % 16 != 0) continue;
      std::string damaged = content;
      damaged[at] ^= 1 << (at % 8);
      disk.SetContent(kExport, name, damaged);
      const Status status = AttachTo(this);
      ++flips;
      if (!status.ok()) {
        BOOST_TEST(status.message().find("'export'") != std::string::npos, status.ToString());
        continue;
      }
      ++accepted;
      BOOST_REQUIRE_MESSAGE(name == "ROOT", name << " at " << at);
      BOOST_TEST(Cells(engine(), "u") == cells);
      BOOST_REQUIRE(engine()->TruncateTable("u").ok());
    }
    disk.SetContent(kExport, name, content);
    BOOST_TEST_MESSAGE(name << ": " << content.size() << " bytes, accepted " << accepted);
  }
  BOOST_TEST(flips > 4000u);
  executor.Drain();
  BOOST_TEST((StateOf(this) == before));
  BOOST_TEST(AttachTo(this).ToString() == "OK");
}

BOOST_AUTO_TEST_CASE(EveryCutFileAndEveryMissingOneIsFound) {
  Create(Named(SourceTable(), "u"));
  const std::string before = StateOf(this);
  for (const std::string& name : FilesOfExport(&disk)) {
    const std::string content = *disk.Content(kExport, name);
    for (size_t size = 0; size < content.size(); size += 64) {
      disk.SetContent(kExport, name, content.substr(0, size));
      BOOST_TEST(!AttachTo(this).ok(), name << " of " << size << " bytes");
    }
    BOOST_REQUIRE(disk.RemoveDurably(kExport, name).ok());
    BOOST_TEST(!AttachTo(this).ok(), "without " << name);
    disk.SetContent(kExport, name, content);
  }
  BOOST_TEST((StateOf(this) == before));
  BOOST_TEST(AttachTo(this).ToString() == "OK");
}

BOOST_AUTO_TEST_CASE(DamageIsNamedByFileAndOffset) {
  Create(Named(SourceTable(), "u"));
  for (const std::string& name : FilesOfExport(&disk)) {
    if (!name.starts_with("store-")) continue;
    std::string content = *disk.Content(kExport, name);
    content[170] ^= 1;
    disk.SetContent(kExport, name, content);
    const Status status = AttachTo(this);
    BOOST_TEST((status.code() == StatusCode::kCorruption));
    const std::string text(status.message());
    BOOST_TEST(text.find("'export': " + name + ": ") == 0u, text);
    BOOST_TEST(text.find("hash of the whole file") != std::string::npos, text);
    BOOST_TEST(text.find("offset 128") != std::string::npos, text);
    return;
  }
}

/// Writes the files of the export again as "forged", with another catalog.
void Forge(TestEngine* engine, const std::function<void(format::Catalog*)>& change) {
  engine::OpenStorageOptions options;
  options.file_system = &engine->disk;
  options.path = kExport;
  options.read_only = true;
  auto opened = engine::OpenLocalStorage(
      options, [](const format::Catalog&) { return Status(); },
      [](const format::Frame&) { return Status(); });
  BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
  format::Catalog catalog = opened->storage->catalog();
  const auto random = base::NewSeededRandom(3);
  auto draft = *engine::StagedDatabase::Begin(&engine->disk, "forged");
  for (const auto& [number, record] : catalog.files) {
    const auto file = *opened->storage->OpenFile(number);
    BOOST_REQUIRE(
        draft->AddCopy("store-" + std::to_string(number.value), file.get(), record.size_bytes)
            .has_value());
  }
  change(&catalog);
  catalog.segments.clear();
  BOOST_REQUIRE_EQUAL(draft->Finish(catalog, {}, random.get()).ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(AnExportThatOverlapsItselfIsRefused) {
  // Files of ten rows each, so that a region has several in its run.
  tuning.file_rows = 10;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  BOOST_REQUIRE(engine()->ExportFiles("t", "forge", {}).has_value());
  for (const std::string& name : FilesOfExport(&disk)) {
    BOOST_REQUIRE(disk.RemoveDurably(kExport, name).ok());
  }
  auto from = *disk.OpenDirectory("forge", false);
  for (const std::string& name : *from->List()) {
    disk.SetContent(kExport, name, *disk.Content("forge", name));
  }
  Create(Named(SourceTable(), "u"));
  const std::string before = StateOf(this);
  Forge(this, [](format::Catalog* catalog) {
    format::RegionRecord region = catalog->regions.begin()->second;
    BOOST_REQUIRE(region.files.size() > 1u);
    region.files.push_back(region.files.front());
    catalog->regions.Put(region.id, region);
  });
  BOOST_TEST(AttachTo(this, "u", "forged").ToString() ==
             "InvalidArgument: 'forged': store-5 and store-4 overlap, but the files of an export "
             "have no key in common");
  BOOST_TEST((StateOf(this) == before));
}

BOOST_AUTO_TEST_CASE(ACancelledAttachChangesNothing) {
  Create(Named(SourceTable(), "u"));
  const std::string before = StateOf(this);
  const std::atomic<bool> cancelled = true;
  BOOST_TEST((engine()->Attach("u", kExport, {.cancelled = &cancelled}).status().code() ==
              StatusCode::kCancelled));
  BOOST_TEST((engine()->ExportFiles("t", "new", {.cancelled = &cancelled}).status().code() ==
              StatusCode::kCancelled));
  BOOST_TEST(
      (engine()->RestoreTable(kExport, "t", {.as = "w", .cancelled = &cancelled}).status().code() ==
       StatusCode::kCancelled));
  BOOST_TEST((StateOf(this) == before));
}

BOOST_AUTO_TEST_CASE(ATableIsRestoredFromACheckpointWithItsLog) {
  // A reader's checkpoint has operations in its log that no file holds.
  {
    CopiedDatabase reader(&disk, "db", /*read_only=*/true);
    BOOST_REQUIRE(reader->Checkpoint("checkpoint").ok());
  }
  PutRow(engine(), "t", 3, "later", 100);
  BOOST_TEST(engine()->RestoreTable("checkpoint", "t", {}).status().ToString() ==
             "AlreadyExists: table 't' exists already");
  const Snapshot before = *engine()->TakeSnapshot();
  const Result<TableCopy> copy = engine()->RestoreTable("checkpoint", "t", {.as = "restored"});
  BOOST_REQUIRE_EQUAL(copy.status().ToString(), "OK");
  BOOST_TEST(copy->rows == 39u);
  BOOST_TEST(Cells(engine(), "restored") == cells);
  BOOST_TEST(Cells(engine(), "restored", &before) == "");
  BOOST_TEST(CountWhere(engine(), "restored", "n = 12") == 1u);
  const TableInfo info = engine()->Info().tables.back();
  BOOST_TEST(info.options.name == "restored");
  BOOST_TEST(info.options.indexes.size() == 2u);
  BOOST_TEST(info.regions.size() == 2u);
  BOOST_TEST(Findings(engine()) == "");
  PutRow(engine(), "restored", 50, "new", 100);
  Kill();
  BOOST_REQUIRE(Open().ok());
  BOOST_TEST(CountWhere(engine(), "restored", "c = 'new'") == 1u);
  BOOST_TEST(Findings(engine()) == "");
  BOOST_TEST(engine()->RestoreTable("checkpoint", "absent", {}).status().ToString() ==
             "NotFound: 'checkpoint': table 'absent' does not exist");
  BOOST_TEST(
      engine()->RestoreTable("checkpoint", "t", {.as = "w", .backup = 1}).status().ToString() ==
      "InvalidArgument: 'checkpoint' is a database and has no backup 1");
}

BOOST_AUTO_TEST_CASE(ATableIsRestoredFromABackupUnderItsName) {
  BOOST_REQUIRE(engine()->Backup("backups").has_value());
  PutRow(engine(), "t", 3, "later", 100);
  const std::string later = Cells(engine(), "t");
  BOOST_REQUIRE(engine()->Backup("backups").has_value());
  BOOST_REQUIRE(engine()->DropTable("t").ok());
  BOOST_REQUIRE_EQUAL(engine()->RestoreTable("backups", "t", {}).status().ToString(), "OK");
  BOOST_TEST(Cells(engine(), "t") == later);
  BOOST_REQUIRE_EQUAL(
      engine()->RestoreTable("backups", "t", {.as = "first", .backup = 1}).status().ToString(),
      "OK");
  BOOST_TEST(Cells(engine(), "first") == cells);
  BOOST_TEST((engine()->RestoreTable("backups", "t", {.as = "w", .backup = 9}).status().code() ==
              StatusCode::kNotFound));
  BOOST_TEST(Findings(engine()) == "");
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  BOOST_TEST(Cells(engine(), "t") == later);
}

BOOST_AUTO_TEST_CASE(ATableIsCopiedWithinItsDatabase) {
  BOOST_REQUIRE_EQUAL(engine()->RestoreTable("db", "t", {.as = "twin"}).status().ToString(), "OK");
  BOOST_TEST(Cells(engine(), "twin") == cells);
  PutRow(engine(), "t", 3, "later", 100);
  BOOST_TEST(Cells(engine(), "twin") == cells);
  BOOST_TEST(Findings(engine()) == "");
}

BOOST_AUTO_TEST_CASE(DamageOfWhatOnlyASnapshotHasIsNotInTheWay) {
  BOOST_REQUIRE_EQUAL(engine()->CreateSnapshot("s", {}).ToString(), "OK");
  for (const int row : {3, 30}) PutRow(engine(), "t", row, "later", 100);
  BOOST_REQUIRE(engine()->Compact("t").ok());
  const std::vector<NamedSnapshotInfo> snapshots = *engine()->ListSnapshots();
  for (const uint64_t number : snapshots.front().files) {
    const std::string name = "store-" + std::to_string(number);
    std::string bytes = *disk.Content("db", name);
    bytes[200] = static_cast<char>(bytes[200] ^ 4);
    disk.SetContent("db", name, bytes);
  }
  BOOST_REQUIRE_EQUAL(engine()->RestoreTable("db", "t", {.as = "twin"}).status().ToString(), "OK");
  BOOST_TEST(Cells(engine(), "twin") == Cells(engine(), "t"));
}

BOOST_AUTO_TEST_CASE(ASnapshotWithANameIsExported) {
  BOOST_REQUIRE_EQUAL(engine()->CreateSnapshot("s", {}).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine()->DropTable("t").ToString(), "OK");
  const Snapshot then = *engine()->OpenSnapshot("s");
  BOOST_REQUIRE_EQUAL(engine()->ExportFiles("t", "past", {.snapshot = &then}).status().ToString(),
                      "OK");
  BOOST_REQUIRE_EQUAL(engine()->RestoreTable("past", "t", {}).status().ToString(), "OK");
  BOOST_TEST(Cells(engine(), "t") == cells);
  BOOST_TEST(Findings(engine()) == "");
}

BOOST_AUTO_TEST_CASE(AValueThatDoesNotFitAnIndexIsRestored) {
  BOOST_REQUIRE(
      engine()
          ->CreateIndex(
              "t", {.name = "late", .columns = {{.qualifier = "c", .type = ColumnType::kInt64}}})
          .ok());
  BOOST_REQUIRE_EQUAL(engine()->RestoreTable("db", "t", {.as = "twin"}).status().ToString(), "OK");
  BOOST_TEST(Cells(engine(), "twin") == cells);
  BOOST_TEST(Findings(engine()) == "");
}

BOOST_AUTO_TEST_CASE(ADamagedBackupIsNotRestored) {
  BOOST_REQUIRE(engine()->Flush("t").ok());
  BOOST_REQUIRE(engine()->Backup("backups").has_value());
  const std::string before = StateOf(this);
  const auto directory = *disk.OpenDirectory("backups", false);
  for (const std::string& name : *directory->List()) {
    const std::string content = *disk.Content("backups", name);
    if (content.empty()) continue;
    for (size_t at = 0; at < content.size(); at += 61) {
      std::string damaged = content;
      damaged[at] ^= 1;
      disk.SetContent("backups", name, damaged);
      BOOST_TEST(!engine()->RestoreTable("backups", "t", {.as = "w"}).has_value(),
                 name << " at " << at);
    }
    disk.SetContent("backups", name, content);
  }
  BOOST_TEST((StateOf(this) == before));
  BOOST_TEST(engine()->RestoreTable("backups", "t", {.as = "w"}).status().ToString() == "OK");
}

/// What a crash at any operation of `call` leaves of table `table`: nothing new, or `after`.
void CrashAnywhere(TestEngine* engine, const std::string& table,
                   const std::function<Status()>& call) {
  const std::string before = Cells(&**engine, table);
  std::vector<std::string> found;
  uint64_t crashes = 0;
  engine->disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation == DiskOperation::kRead) return;
    ++crashes;
    for (uint64_t seed = 0; seed < 3; ++seed) {
      const CrashPolicy policy{
          .kept = seed == 0 ? CrashPolicy::Kept::kAll : CrashPolicy::Kept::kRandom,
          .seed = crashes * 10 + seed};
      const auto crashed = engine->disk.CrashedCopy(policy);
      CopiedDatabase survivor(crashed.get(), "db");
      BOOST_TEST(survivor.Findings() == "", "crash " << crashes);
      found.push_back(Cells(&*survivor, table));
    }
  });
  BOOST_TEST(call().ToString() == "OK");
  engine->disk.control().SetHook(nullptr);
  const std::string after = Cells(&**engine, table);
  size_t whole = 0;
  for (const std::string& cells : found) {
    if (cells == after) ++whole;
    BOOST_TEST((cells == before || cells == after));
  }
  BOOST_TEST(whole > 0u);
  BOOST_TEST(crashes > 5u);
}

BOOST_AUTO_TEST_CASE(ACrashAnywhereInAttachLeavesAllOrNothing) {
  Create(Named(SourceTable(), "u"));
  PutRow(engine(), "u", 3, "own", 1);
  BOOST_REQUIRE(engine()->Flush({}).ok());
  CrashAnywhere(this, "u", [&] { return AttachTo(this); });
}

BOOST_AUTO_TEST_CASE(ACrashAnywhereInRestoreLeavesAllOrNothing) {
  CrashAnywhere(this, "w",
                [&] { return engine()->RestoreTable(kExport, "t", {.as = "w"}).status(); });
}

BOOST_AUTO_TEST_CASE(ACrashAnywhereInExportLeavesNothingToAttach) {
  uint64_t crashes = 0, whole = 0;
  disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation == DiskOperation::kRead) return;
    ++crashes;
    for (uint64_t seed = 0; seed < 3; ++seed) {
      const auto crashed = disk.CrashedCopy(
          {.kept = seed == 0 ? CrashPolicy::Kept::kAll : CrashPolicy::Kept::kRandom,
           .seed = crashes * 10 + seed});
      CopiedDatabase survivor(crashed.get(), "db");
      BOOST_REQUIRE_EQUAL(survivor->CreateTable(Named(SourceTable(), "u")).ToString(), "OK");
      if (!survivor->Attach("u", "second", {}).has_value()) continue;
      ++whole;
      BOOST_TEST(Cells(&*survivor, "u") == cells);
    }
  });
  BOOST_TEST(engine()->ExportFiles("t", "second", {}).status().ToString() == "OK");
  disk.control().SetHook(nullptr);
  BOOST_TEST(crashes > 20u);
  BOOST_TEST(whole > 0u);
}

/// One error at each operation of `call`: it fails, changes nothing, and succeeds afterwards; or
/// the error did not matter.
void FailAnywhere(const Status& error, const std::vector<DiskOperation>& operations,
                  const std::function<Status(TestEngine*)>& call) {
  uint64_t failures = 0;
  for (uint64_t at = 1;; ++at) {
    ExportedTable engine;
    engine.Create(Named(SourceTable(), "u"));
    BOOST_REQUIRE(engine->Flush({}).ok());
    engine.executor.Drain();
    const std::string before = StateOf(&engine), rows = RowsOf(&engine);
    engine.disk.control().InjectFault({.operations = operations, .at = at, .status = error});
    const Status status = call(&engine);
    const bool has_struck = engine.disk.control().has_struck();
    engine.disk.control().ClearFaults();
    if (!has_struck) {
      BOOST_TEST(status.ToString() == "OK");
      break;
    }
    if (status.ok()) continue;
    ++failures;
    if (status.code() == StatusCode::kNoSpace) BOOST_TEST((StateOf(&engine) == before));
    BOOST_TEST((RowsOf(&engine) == rows), "operation " << at << ": " << status.ToString());
    const Status again = call(&engine);
    if (again.code() == StatusCode::kReadOnly) {  // It is not known what the manifest holds.
      BOOST_TEST(!engine.Close().ok());
      engine.Drop();
      BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    } else {
      BOOST_TEST(again.ok(), "operation " << at << ": " << again.ToString());
    }
    BOOST_TEST(Findings(&*engine) == "", "operation " << at);
  }
  BOOST_TEST(failures > 3u);
}

const std::vector<DiskOperation> kAnyWrite = {DiskOperation::kCreate, DiskOperation::kWrite,
                                              DiskOperation::kPreallocate};

BOOST_AUTO_TEST_CASE(AFullDiskChangesNothing) {
  const Status full = Status::NoSpace("injected: full");
  FailAnywhere(full, kAnyWrite, [](TestEngine* engine) { return AttachTo(engine); });
  FailAnywhere(full, kAnyWrite, [](TestEngine* engine) {
    return (*engine)->RestoreTable(kExport, "t", {.as = "w"}).status();
  });
}

BOOST_AUTO_TEST_CASE(AnErrorAnywhereChangesNothing) {
  const Status error = Status::IoError("injected: no answer");
  FailAnywhere(error, {}, [](TestEngine* engine) { return AttachTo(engine); });
  FailAnywhere(error, {}, [](TestEngine* engine) {
    return (*engine)->RestoreTable(kExport, "t", {.as = "w"}).status();
  });
}

BOOST_AUTO_TEST_CASE(AFailedExportLeavesNothing) {
  for (uint64_t at = 1;; ++at) {
    disk.control().InjectFault({.operations = kAnyWrite, .at = at, .status = Status::NoSpace("x")});
    const Status status = engine()->ExportFiles("t", "second", {}).status();
    const bool has_struck = disk.control().has_struck();
    disk.control().ClearFaults();
    if (!has_struck) break;
    if (status.ok()) continue;
    const auto left = disk.OpenDirectory("second", false);
    BOOST_TEST((!left.has_value() || (*left)->List()->empty()), "operation " << at);
    BOOST_REQUIRE_MESSAGE(at < 200, "it never succeeds");
    if (left.has_value()) break;  // The simulated disk keeps the directory, which has to be new.
  }
  BOOST_TEST(Cells(engine(), "t") == cells);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

// Salvage, case by case: rows of which a part is broken, files that a merge left or was making,
// files under other names, and files made on purpose that fit their own table but not this one.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/storage/storage.h"
#include "test/engine/copied_database.h"
#include "test/engine/salvage/salvage_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

std::string NewestStore(const FileContents& files) {
  std::string newest;
  for (const auto& [name, content] : files) {
    if (!name.starts_with("store-")) continue;
    if (name.size() > newest.size() || (name.size() == newest.size() && name > newest)) {
      newest = name;
    }
  }
  return newest;
}

void RequireGood(const SalvageWorld& world, const engine::SalvageReport& report,
                 SimulatedDisk* disk) {
  const std::vector<std::string> wrong = Judge(world, report, disk);
  BOOST_TEST(wrong.size() == 0u, (wrong.empty() ? "" : wrong.front()));
}

struct Salvaged {
  std::unique_ptr<SimulatedDisk> disk;
  engine::SalvageReport report;
};

// With a bit flipped in the byte at `at` of one file; what is said of it holds.
Salvaged SalvageFlipped(const SalvageWorld& world, FileContents files, const std::string& name,
                        size_t at) {
  files[name][at] = static_cast<char>(files[name][at] ^ 4);
  Salvaged salvaged{.disk = DiskWith(files), .report = {}};
  auto report = SalvageOn(salvaged.disk.get());
  BOOST_REQUIRE(report.has_value());
  salvaged.report = std::move(*report);
  RequireGood(world, salvaged.report, salvaged.disk.get());
  return salvaged;
}

bool HasOrphan(const engine::SalvageReport& report, const std::string& what) {
  return std::any_of(report.orphans.begin(), report.orphans.end(),
                     [&](const auto& note) { return note.what.find(what) != std::string::npos; });
}

BOOST_AUTO_TEST_SUITE(SalvageCasesSuite)

// Wherever the byte is, a part of the wide row and every other row is saved.
BOOST_AUTO_TEST_CASE(AWideRowLosesOnlyTheChunkThatIsBroken) {
  TestRandom random("SalvageCasesSuite/Wide");
  SalvageWorld world(&random);
  world.Put("row-01", "d", "size", "1");
  world.PutWide("row-02", "d", 80);  // 320,000 bytes, in chunks of 64 KiB.
  world.Put("row-02", "d", "size", "2");
  world.Put("row-03", "d", "size", "3");
  world.Flush();
  const FileContents files = world.Files();
  const std::string name = NewestStore(files);
  uint64_t partial = 0;
  for (size_t at = 1'000; at < files.at(name).size(); at += 9'973) {
    const auto [disk, report] = SalvageFlipped(world, files, name, at);
    const CellValues found = CellsOf(disk.get(), "copy");
    BOOST_TEST(found.size() >= 3 + 80 - 20u, name << " at " << at << ": " << found.size());
    if (report.lost.empty()) continue;
    ++partial;
    BOOST_REQUIRE_EQUAL(report.lost.size(), 1);
    const engine::LostRange& lost = report.lost[0];
    BOOST_TEST(lost.columns.has_value());
    BOOST_TEST((lost.offset <= at && at < lost.offset + lost.bytes));
    BOOST_TEST(lost.reason.find(" cannot be read") != std::string::npos, lost.reason);
    BOOST_TEST((lost.keys.low == "row-02" && !lost.keys.Contains("row-03")));
    BOOST_TEST(lost.details.size() == 1u);
    BOOST_TEST(report.uncertain.size() == 1u);
  }
  BOOST_TEST(partial > 20u);
}

BOOST_AUTO_TEST_CASE(AnOverflowValueThatIsBrokenCostsItsCellAlone) {
  TestRandom random("SalvageCasesSuite/Far");
  SalvageWorld world(&random);
  world.Put("row-01", "d", "far", world.RandomBytes(90'000));
  world.Put("row-01", "d", "size", "1");
  world.PutWide("row-02", "d", 30);
  world.Put("row-02", "d", "far", world.RandomBytes(90'000));
  world.Flush();
  const FileContents files = world.Files();
  const std::string name = NewestStore(files);
  uint64_t cells_lost = 0;
  for (size_t at = 200; at < files.at(name).size(); at += 4'999) {
    const auto [disk, report] = SalvageFlipped(world, files, name, at);
    for (const engine::LostRange& lost : report.lost) {
      if (!lost.columns.has_value() || lost.columns->low != "far") continue;
      ++cells_lost;
      BOOST_TEST(!lost.columns->Contains("size"));
      BOOST_TEST(CellsOf(disk.get(), "copy").size() == world.Visible().size() - 1);
    }
  }
  BOOST_TEST(cells_lost > 20u);
}

// What a merge made and nobody names, beside its inputs; and what it left, beside its output.
BOOST_AUTO_TEST_CASE(NothingComesTwiceOrBackFromADeletion) {
  TestRandom random("SalvageCasesSuite/Merged");
  SalvageWorld world(&random);
  for (int i = 1; i < 10; ++i) world.Put("row-0" + std::to_string(i), "d", "size", "1");
  world.Flush();
  for (int i = 1; i < 10; i += 2) world.DeleteRow("row-0" + std::to_string(i));
  world.DeleteColumn("row-02", "d", "size");
  world.Put("row-04", "d", "size", "2");
  world.Flush();
  const FileContents before = world.Files();
  const CellValues visible = world.Visible();
  world.Compact();
  const FileContents after = world.Files();
  BOOST_REQUIRE(CellsOf(&world.engine.disk, "db") == visible);
  FileContents output = before, inputs = after;
  for (const auto& [name, content] : after) {
    if (name.starts_with("store-")) output.emplace(name, content);
  }
  for (const auto& [name, content] : before) {
    if (name.starts_with("store-")) inputs.emplace(name, content);
  }
  BOOST_REQUIRE(output.size() > before.size());
  BOOST_REQUIRE(inputs.size() > after.size());
  for (const FileContents& files : {output, inputs}) {
    for (const bool orphans : {false, true}) {
      const auto disk = DiskWith(files);
      const auto report = SalvageOn(disk.get(), orphans);
      BOOST_REQUIRE(report.has_value());
      BOOST_TEST(!report->lost_something());
      BOOST_TEST(HasOrphan(*report, "not copied"));
      BOOST_TEST((CellsOf(disk.get(), "copy") == visible));
    }
    // Nor without a word of what is whose.
    FileContents bare = files;
    std::erase_if(bare, [](const auto& file) {
      return file.first == "ROOT" || file.first.starts_with("manifest-");
    });
    const auto disk = DiskWith(bare);
    const auto report = SalvageOn(disk.get());
    BOOST_REQUIRE(report.has_value());
    BOOST_TEST((CellsOf(disk.get(), "copy") == visible));
  }
}

BOOST_AUTO_TEST_CASE(FilesAreFoundUnderOtherNames) {
  TestRandom random("SalvageCasesSuite/Names");
  SalvageWorld world(&random);
  for (int i = 0; i < 30; ++i) world.Step();
  world.Put("row-01", "d", "size", "1");
  world.Flush();
  world.Put("row-02", "d", "size", "1");
  FileContents renamed;
  for (const auto& [name, content] : world.Files()) {
    renamed["#" + std::to_string(1000 + renamed.size())] = content;
  }
  const auto disk = DiskWith(renamed);
  const auto report = SalvageOn(disk.get());
  BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
  BOOST_TEST(!report->lost_something());
  BOOST_TEST((CellsOf(disk.get(), "copy") == world.Visible()));
  // Two files that changed their names, and one that is there twice.
  FileContents swapped = world.Files();
  std::vector<std::string> stores;
  for (const auto& [name, content] : swapped) {
    if (name.starts_with("store-")) stores.push_back(name);
  }
  std::swap(swapped[stores.front()], swapped["log-999"]);
  swapped["store-998"] = swapped[stores.back()];
  const auto other = DiskWith(swapped);
  const auto again = SalvageOn(other.get(), /*include_orphans=*/true);
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST(again->lost.empty());
  BOOST_TEST((CellsOf(other.get(), "copy") == world.Visible()));
}

/// The files of a database with one index over d:v of that type and one row in a store file, or in
/// the log alone. Two of them differ in nothing but that: a seed decides all ids.
FileContents FilesWith(ColumnType type, const std::string& value, bool flushed,
                       const std::string& family = "d") {
  TestEngine engine(77, nullptr);
  BOOST_REQUIRE(engine.Open().ok());
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "d"}};
  if (family != "d") table.families.push_back({.name = family});
  table.indexes.push_back({"by_v", {{"d", "v", type, false}}});
  BOOST_REQUIRE(engine->CreateTable(table).ok());
  WriteBatch batch;
  batch.Put("t", "row", family, "v", value, 5);
  batch.Put("t", "row", "d", "other", "kept", 5);
  BOOST_REQUIRE(engine.Write(batch, Durability::kSynced).ok());
  if (flushed) BOOST_REQUIRE(engine->Flush("t").ok());
  FileContents files;
  for (const std::string& name : *(*engine.disk.OpenDirectory("db", false))->List()) {
    files[name] = *engine.disk.Content("db", name);
  }
  return files;
}

/// Salvages `sound` with the `prefix` files of `hostile` in their place: all but the one cell
/// comes.
void LoseOneCell(FileContents sound, const FileContents& hostile, const std::string& prefix,
                 const std::string& reason) {
  uint64_t replaced = 0;
  for (auto& [name, content] : sound) {
    if (!name.starts_with(prefix)) continue;
    BOOST_REQUIRE(hostile.contains(name));
    content = hostile.at(name);
    ++replaced;
  }
  BOOST_REQUIRE(replaced > 0u);
  const auto disk = DiskWith(sound);
  const auto report = SalvageOn(disk.get());
  BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
  BOOST_TEST(report->verified.findings.empty());
  BOOST_REQUIRE_EQUAL(report->lost.size(), 1);
  const engine::LostRange& lost = report->lost[0];
  BOOST_TEST(lost.file.starts_with(prefix));
  BOOST_TEST(lost.table == "t");
  BOOST_TEST(lost.region != 0u);
  BOOST_TEST((lost.keys.low == "row" && lost.keys.Contains("row")));
  BOOST_TEST(lost.reason.find(reason) != std::string::npos, lost.reason);
  BOOST_TEST(!report->uncertain.empty());
  const CellValues found = CellsOf(disk.get(), "copy");
  BOOST_TEST(found.contains({"row", "d", "other", 5}));
  BOOST_TEST(found.size() == 1u);
}

/// The index may be younger than the value.
BOOST_AUTO_TEST_CASE(ValuesThatDoNotFitAnIndexAreCopied) {
  for (const bool flushed : {true, false}) {
    FileContents files = FilesWith(ColumnType::kInt64, "1", flushed);
    const std::string prefix = flushed ? "store-" : "log-";
    for (const auto& [name, content] : FilesWith(ColumnType::kBytes, "abc", flushed)) {
      if (name.starts_with(prefix)) files.at(name) = content;
    }
    const auto disk = DiskWith(files);
    const auto report = SalvageOn(disk.get());
    BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
    BOOST_TEST(report->lost.empty());
    BOOST_TEST(CellsOf(disk.get(), "copy").size() == 2u);
  }
}

BOOST_AUTO_TEST_CASE(CellsOfNoFamilyAreLostAndTheCopyOpens) {
  const std::string why = "family 1 is none of the table's";
  LoseOneCell(FilesWith(ColumnType::kBytes, "1", true),
              FilesWith(ColumnType::kBytes, "1", true, "e"), "store-", why);
  LoseOneCell(FilesWith(ColumnType::kBytes, "1", false),
              FilesWith(ColumnType::kBytes, "1", false, "e"), "log-", why);
}

/// The files of a database that has given out all sequences up to `last`, with one row in a store
/// file. Two of them differ in nothing but that.
FileContents FilesAfterSequence(uint64_t last) {
  TestEngine engine(78, nullptr);
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine.Close().ok());
  const auto random = base::NewSeededRandom(79);
  engine::OpenStorageOptions options;
  options.file_system = &engine.disk;
  options.random = random.get();
  options.path = "db";
  auto opened = engine::OpenLocalStorage(
      options, [](const format::Catalog&) { return Status(); },
      [](const format::Frame&) { return Status(); });
  BOOST_REQUIRE(opened.has_value());
  BOOST_REQUIRE(opened->storage->Start({}).ok());
  format::CatalogEdit edit;
  edit.counters.emplace(opened->storage->catalog().counters).last_sequence = last;
  BOOST_REQUIRE(opened->storage->CommitEdits(1, edit).ok());
  BOOST_REQUIRE(opened->storage->CloseCleanly().ok());
  opened->storage.reset();
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
  BOOST_REQUIRE(engine.Put("row", "c", "1").ok());
  BOOST_REQUIRE(engine->Flush("t").ok());
  BOOST_REQUIRE(engine.Close().ok());
  FileContents files;
  for (const std::string& name : *(*engine.disk.OpenDirectory("db", false))->List()) {
    files[name] = *engine.disk.Content("db", name);
  }
  return files;
}

void WithoutCatalog(FileContents* files) {
  std::erase_if(*files, [](const auto& file) { return !file.first.starts_with("store-"); });
}

BOOST_AUTO_TEST_CASE(ASequenceThatNoDatabaseReachesIsReportedAndNotAdopted) {
  FileContents files = FilesAfterSequence(0);
  const FileContents hostile = FilesAfterSequence(uint64_t{1} << 60);
  for (auto& [name, content] : files) {
    if (name.starts_with("store-")) content = hostile.at(name);
  }
  for (const bool has_catalog : {true, false}) {
    if (!has_catalog) WithoutCatalog(&files);
    const auto disk = DiskWith(files);
    const auto report = SalvageOn(disk.get());
    BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
    BOOST_TEST(report->verified.findings.empty());
    BOOST_TEST(report->repaired.size() > 0u);
    BOOST_REQUIRE_EQUAL(report->lost.size(), 1);
    BOOST_TEST(report->lost[0].reason.find("sequence 1152921504606846977") != std::string::npos,
               report->lost[0].reason);
    CopiedDatabase copy(disk.get(), "copy");
    BOOST_REQUIRE(copy.status().ok());
    BOOST_TEST(copy->Info().last_sequence < 100u);
    BOOST_TEST(copy.Rows() == "");
  }
  // Where the catalog has it, it is what it is.
  const auto disk = DiskWith(hostile);
  const auto report = SalvageOn(disk.get());
  BOOST_REQUIRE(report.has_value());
  BOOST_TEST(!report->lost_something());
  CopiedDatabase copy(disk.get(), "copy");
  BOOST_TEST(copy.Rows() == "row{c=1}");
}

BOOST_AUTO_TEST_CASE(TimestampsOfCellsAreNoCounters) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  TestEngine engine(80, nullptr);
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
  BOOST_REQUIRE(engine.Put("row", "c", "1", Durability::kSynced, kLast).ok());
  BOOST_REQUIRE(engine->Flush("t").ok());
  FileContents files;
  for (const std::string& name : *(*engine.disk.OpenDirectory("db", false))->List()) {
    files[name] = *engine.disk.Content("db", name);
  }
  WithoutCatalog(&files);
  const auto disk = DiskWith(files);
  BOOST_REQUIRE(SalvageOn(disk.get()).has_value());
  CopiedDatabase copy(disk.get(), "copy");
  BOOST_REQUIRE(copy.status().ok());
  WriteBatch batch;
  batch.Put("t", "next", "d", "c", "2");
  BOOST_REQUIRE(copy->Write({}, batch).ok());
  const auto row = copy->Get({}, "t", "next");
  BOOST_REQUIRE(row.has_value());
  BOOST_REQUIRE(row->has_value());
  BOOST_TEST((*row)->cells()[0].timestamp < kLast / 2);
  BOOST_TEST((*row)->cells()[0].timestamp > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test

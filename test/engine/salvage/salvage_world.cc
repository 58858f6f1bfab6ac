// Timestamps rise with the operations, so that a marker hides all that is older and what is visible
// follows from the order of the writes alone.
#include "test/engine/salvage/salvage_world.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "engine/storage/files.h"
#include "engine/storage/manifest.h"
#include "engine/storage/storage.h"
#include "format/root.h"
#include "test/engine/copied_database.h"

namespace tandem::test {
namespace {

constexpr int kRows = 14;
constexpr size_t kWideValueBytes = 4'000;

std::string Column(int number) { return "w" + std::to_string(1000 + number).substr(1); }

const engine::LostRange* FindLost(const SalvageWorld& world, const engine::SalvageReport& report,
                                  const CellName& cell) {
  for (const engine::LostRange& lost : report.lost) {
    const bool is_named = lost.table.empty() || lost.table == "t";
    const bool in_family = lost.family.empty() || lost.family == cell.family;
    const bool in_columns = !lost.columns.has_value() || lost.columns->Contains(cell.qualifier);
    const bool in_region = lost.region == 0 || world.RegionOf(cell.row) == 0 ||
                           lost.region == world.RegionOf(cell.row) || !report.lost_edits.empty();
    if (is_named && in_family && in_columns && in_region && lost.keys.Contains(cell.row)) {
      return &lost;
    }
  }
  return nullptr;
}

bool IsUncertain(const engine::SalvageReport& report, const CellName& cell) {
  return std::any_of(report.uncertain.begin(), report.uncertain.end(),
                     [&](const engine::UncertainRange& range) {
                       return (range.table.empty() || range.table == "t") &&
                              (range.family.empty() || range.family == cell.family) &&
                              range.keys.Contains(cell.row);
                     });
}

std::string Text(const CellName& cell) {
  return cell.row + " " + cell.family + ":" + cell.qualifier + "@" + std::to_string(cell.timestamp);
}

}  // namespace

SalvageWorld::SalvageWorld(TestRandom* random) : engine(random->Next(), nullptr), random_(*random) {
  engine.tuning.memstore_bytes = 1 << 20;
  engine.tuning.memstores_total_bytes = 16 << 20;
  engine.tuning.compaction_runs = 100;  // Merges come when a step says so.
  BOOST_REQUIRE(engine.Open().ok());
  TableOptions table;
  table.name = "t";
  const size_t families = 1 + random_.Below(3);
  for (size_t i = 0; i < families; ++i) {
    FamilyOptions& family = table.families.emplace_back();
    family.name = std::string(1, static_cast<char>('d' + i));
    family.max_versions = random_.OneIn(2) ? 1 : 3;
    family.block_size_bytes = random_.OneIn(2) ? 512 : 2048;
    family.compression = random_.OneIn(2) ? Compression::kNone : Compression::kZstd;
    versions_[family.name] = family.max_versions;
  }
  table.indexes.push_back({"size", {{"d", "size", ColumnType::kInt64, false}}});
  if (families > 1) table.indexes.push_back({"tag", {{"e", "tag"}}});
  if (random_.OneIn(2)) table.split_keys = {"row-04", "row-09"};
  BOOST_REQUIRE(engine->CreateTable(table).ok());
}

std::string SalvageWorld::RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_.Next());
  return bytes;
}

void SalvageWorld::Write(const WriteBatch& batch) {
  const Status status = engine.Write(batch, Durability::kSynced);
  BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
  sequences_[now_] = engine->Info().last_sequence;
  ++now_;
}

void SalvageWorld::Put(const std::string& row, const std::string& family,
                       const std::string& qualifier, const std::string& value) {
  WriteBatch batch;
  batch.Put("t", row, family, qualifier, value, now_);
  written_[{row, family, qualifier, now_}] = ever_[{row, family, qualifier, now_}] = value;
  Write(batch);
}

void SalvageWorld::PutWide(const std::string& row, const std::string& family, int columns) {
  std::vector<std::pair<std::string, std::string>> cells;
  for (int i = 0; i < columns; ++i) cells.emplace_back(Column(i), RandomBytes(kWideValueBytes));
  std::vector<ColumnValue> values;
  for (const auto& [name, value] : cells) {
    values.push_back({name, value});
    written_[{row, family, name, now_}] = ever_[{row, family, name, now_}] = value;
  }
  WriteBatch batch;
  batch.PutColumns("t", row, family, values, now_);
  Write(batch);
}

void SalvageWorld::DeleteColumn(const std::string& row, const std::string& family,
                                const std::string& qualifier) {
  WriteBatch batch;
  batch.DeleteColumn("t", row, family, qualifier, now_);
  std::erase_if(written_, [&](const auto& entry) {
    const CellName& cell = entry.first;
    return cell.row == row && cell.family == family && cell.qualifier == qualifier;
  });
  Write(batch);
}

void SalvageWorld::DeleteRow(const std::string& row) {
  WriteBatch batch;
  batch.DeleteRow("t", row, now_);
  std::erase_if(written_, [&](const auto& entry) { return entry.first.row == row; });
  Write(batch);
}

void SalvageWorld::Flush() {
  BOOST_REQUIRE(engine->Flush("t").ok());
  engine.executor.Drain();
}

void SalvageWorld::Compact() {
  BOOST_REQUIRE(engine->Compact("t").ok());
  engine.executor.Drain();
}

void SalvageWorld::Step() {
  const uint64_t number = random_.Below(kRows);
  const std::string row = "row-" + std::to_string(100 + number).substr(1);
  const auto at =
      std::next(versions_.begin(), static_cast<ptrdiff_t>(random_.Below(versions_.size())));
  const std::string& family = at->first;
  const uint64_t kind = random_.Below(100);
  if (kind < 20) return Put(row, "d", "size", std::to_string(random_.Below(9)));
  if (kind < 30 && versions_.contains("e")) return Put(row, "e", "tag", RandomBytes(3));
  if (kind < 58) return Put(row, family, "c" + std::to_string(random_.Below(4)), RandomBytes(60));
  if (kind < 64) return PutWide(row, family, 20 + static_cast<int>(random_.Below(60)));
  if (kind < 70) return Put(row, family, "far", RandomBytes(66'000 + random_.Below(90'000)));
  if (kind < 76) return DeleteColumn(row, family, random_.OneIn(2) ? "far" : Column(3));
  if (kind < 80) return DeleteRow(row);
  if (kind < 95) return Flush();
  if (kind < 98) return Compact();
}

CellValues SalvageWorld::Visible() const {
  CellValues visible;
  std::map<std::tuple<std::string, std::string, std::string>, uint32_t> seen;
  for (auto entry = written_.rbegin(); entry != written_.rend(); ++entry) {  // Newest first.
    const CellName& cell = entry->first;
    uint32_t& count = seen[{cell.row, cell.family, cell.qualifier}];
    if (++count <= versions_.at(cell.family)) visible.insert(*entry);
  }
  return visible;
}

bool SalvageWorld::WasWritten(const CellName& cell, const std::string& value) const {
  const auto found = ever_.find(cell);
  return found != ever_.end() && found->second == value;
}

uint64_t SalvageWorld::RegionOf(const std::string& row) const {
  if (!engine.is_open()) return 0;
  for (const TableInfo& table : const_cast<TestEngine&>(engine)->Info().tables) {
    for (const RegionInfo& region : table.regions) {
      if (row >= region.start_key && (region.end_key.empty() || row < region.end_key)) {
        return region.id;
      }
    }
  }
  return 0;
}

FileContents SalvageWorld::Files() const {
  FileContents files;
  auto& disk = const_cast<SimulatedDisk&>(engine.disk);
  for (const std::string& name : *(*disk.OpenDirectory("db", false))->List()) {
    files[name] = *disk.Content("db", name);
  }
  return files;
}

CellValues CellsOf(SimulatedDisk* disk, const std::string& path) {
  CopiedDatabase database(disk, path, /*read_only=*/true);
  BOOST_REQUIRE_MESSAGE(database.status().ok(), database.status().ToString());
  BOOST_TEST(database.Findings() == "");
  return CellsOf(&*database);
}

CellValues CellsOf(engine::Engine* engine) {
  CellValues cells;
  ReadOptions all;
  all.versions = 100;
  Result<Cursor> cursor = engine->Scan(all, "t", {});
  if (!cursor.has_value()) return cells;  // The table's edit is lost.
  while (cursor->Next()) {
    for (const Cell& cell : cursor->row().cells()) {
      const bool is_new =
          cells
              .emplace(CellName{std::string(cursor->row().key()), std::string(cell.family),
                                std::string(cell.qualifier), cell.timestamp},
                       cell.value)
              .second;
      BOOST_TEST(is_new, "doubled");
    }
  }
  BOOST_TEST(cursor->status().ToString() == "OK");
  return cells;
}

format::Catalog CatalogOf(SimulatedDisk* disk, const std::string& path) {
  const auto directory = *disk->OpenDirectory(path, false);
  const auto root_file = *directory->Open("ROOT", base::OpenMode::kReadOnly);
  const format::RootFile root = *format::ReadRoot(root_file.get());
  const std::string name = engine::ManifestName(root.record.manifest.number);
  const auto manifest = *directory->Open(name, base::OpenMode::kReadOnly);
  return format::ReadManifest(manifest.get(), root)->catalog;
}

std::unique_ptr<SimulatedDisk> DiskWith(const FileContents& files) {
  auto disk = std::make_unique<SimulatedDisk>(1, nullptr);
  for (const auto& [name, content] : files) disk->SetContent("db", name, content);
  return disk;
}

Result<engine::SalvageReport> SalvageOn(SimulatedDisk* disk, bool include_orphans,
                                        bool past_holes) {
  ManualClock clock;
  InlineExecutor executor(clock);
  const auto random = base::NewSeededRandom(3);
  engine::SalvageOptions options;
  options.source = "db";
  options.destination = "copy";
  options.include_orphans = include_orphans;
  options.past_holes = past_holes;
  engine::Tuning tuning = SmallTuning();
  tuning.memstore_bytes = 1 << 20;
  tuning.memstores_total_bytes = 16 << 20;
  return engine::Salvage(
      options, tuning,
      {.file_system = disk, .clock = &clock, .random = random.get(), .executor = &executor},
      nullptr);
}

std::vector<std::string> Judge(const SalvageWorld& world, const engine::SalvageReport& report,
                               SimulatedDisk* disk) {
  std::vector<std::string> wrong;
  for (const Finding& finding : report.verified.findings) wrong.push_back(finding.text);
  const CellValues visible = world.Visible(), found = CellsOf(disk, "copy");
  for (const auto& [cell, value] : found) {
    if (!world.WasWritten(cell, value)) wrong.push_back("never written: " + Text(cell));
    if (visible.contains(cell) || IsUncertain(report, cell)) continue;
    wrong.push_back("back again, and not told: " + Text(cell));
  }
  for (const auto& [cell, value] : visible) {
    if (found.contains(cell) || FindLost(world, report, cell) != nullptr) continue;
    const uint64_t sequence = world.SequenceOf(cell.timestamp);
    const bool in_hole =
        std::any_of(report.holes.begin(), report.holes.end(),
                    [&](const engine::LogHole& hole) { return sequence > hole.after_sequence; });
    if (!in_hole) wrong.push_back("missing, and in no lost range: " + Text(cell));
  }
  return wrong;
}

}  // namespace tandem::test

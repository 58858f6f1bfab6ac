// What the new record has comes from the catalog alone: by step 3 its regions have all files.
#include "engine/jobs/snapshot_editor.h"

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/storage/catalog_memory.h"
#include "engine/storage/snapshot_files.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// Snapshots may fill the catalog up to half of what it may take, so that they never keep a table
// from growing.
constexpr uint64_t kCatalogBytesMax = format::kCatalogMemoryMax / 2;

Status CheckNew(const std::string& name, const format::Catalog& catalog) {
  if (!format::IsValidName(name)) {
    return Status::InvalidArgument("snapshot name " + base::Quote(name) + ": expected 1 to " +
                                   std::to_string(kNameBytesMax) +
                                   " bytes without control characters");
  }
  if (catalog.snapshots.contains(name)) {
    return Status::AlreadyExists("snapshot " + base::Quote(name) + " exists already");
  }
  if (catalog.snapshots.size() < kNamedSnapshotsMax) return {};
  return Status::InvalidArgument("the database has " + std::to_string(kNamedSnapshotsMax) +
                                 " named snapshots, the limit; drop one first");
}

Status CheckFits(const format::SnapshotRecord& snapshot, const format::Catalog& catalog) {
  if (catalog.memory_bytes + format::MemoryOf(snapshot) <= kCatalogBytesMax) return {};
  return Status::Unsupported(
      "snapshot " + base::Quote(snapshot.name) + " of " + std::to_string(snapshot.regions.size()) +
      " regions: with it the catalog would pass " + std::to_string(kCatalogBytesMax >> 20) +
      " MiB of memory; drop other snapshots first");
}

// The regions of the named tables, or of all, by table and start key. Entries of global indexes are
// no part of a snapshot: the rows are.
Result<Regions> RegionsOf(const RegionSet& set, const std::vector<std::string>& tables) {
  if (tables.empty()) {
    Regions all;
    for (const auto& table : set.tables()) {
      if (table->record->entries_of.has_value()) continue;
      all.insert(all.end(), table->regions.begin(), table->regions.end());
    }
    return all;
  }
  std::map<format::TableId, std::shared_ptr<const Table>> found;
  for (const std::string& name : tables) {
    std::shared_ptr<const Table> table = set.Find(name);
    if (table == nullptr) return TableNotFound(name);
    found[table->record->id] = std::move(table);
  }
  Regions regions;
  for (const auto& [id, table] : found) {
    regions.insert(regions.end(), table->regions.begin(), table->regions.end());
  }
  return regions;
}

std::list<StoreFiles::HeldFiles> HeldFilesOf(const format::SnapshotRecord& snapshot) {
  std::list<StoreFiles::HeldFiles> files(1);
  for (const format::FileNumber number : FilesOf(snapshot)) files.front()[number] = false;
  return files;
}

// The files of the snapshot that nothing else refers to.
std::vector<format::FileNumber> FilesOnlyOf(const format::SnapshotRecord& snapshot,
                                            const format::Catalog& catalog) {
  const std::set<format::FileNumber> of_tables = FilesOfTables(catalog);
  std::vector<format::FileNumber> files;
  for (const format::FileNumber number : FilesOfNoOther(snapshot, catalog)) {
    if (!of_tables.contains(number)) files.push_back(number);
  }
  return files;
}

}  // namespace

Status SnapshotNotFound(std::string_view name) {
  return Status::NotFound("snapshot " + base::Quote(name) + " does not exist");
}

Status SnapshotEditor::Create(const std::string& name, const std::vector<std::string>& tables) {
  RETURN_IF_ERROR(CheckNew(name, deps_.storage->catalog()));
  const auto find = [&] { return RegionsOf(*deps_.work->regions, tables); };
  return RunFlushed(*deps_.work, find,
                    [&](const Regions& regions) { return CreateAlone(name, regions); });
}

Status SnapshotEditor::CreateAlone(const std::string& name, const Regions& regions) {
  std::set<format::TableId> tables;
  for (const auto& region : regions) tables.insert(region->table_id());
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) -> Status {
    RETURN_IF_ERROR(CheckNew(name, catalog));
    format::SnapshotRecord snapshot;
    snapshot.name = name;
    snapshot.sequence = deps_.work->queue->last_sequence();
    snapshot.now_micros = deps_.time->Now();
    snapshot.created_micros = deps_.clock->WallMicros();
    for (const format::TableId id : tables) snapshot.tables.push_back(catalog.tables.at(id));
    for (const auto& [id, region] : catalog.regions) {
      if (tables.contains(region.table)) snapshot.regions.push_back(region);
    }
    RETURN_IF_ERROR(CheckFits(snapshot, catalog));
    edit->add_snapshots.push_back(std::move(snapshot));
    return {};
  };
  change.publish = [] {};  // Readers look for it in the catalog.
  return deps_.work->files.editor->Commit(change);
}

Status SnapshotEditor::Drop(std::string_view name) {
  const format::SnapshotRecord* dropped = nullptr;
  std::vector<format::FileNumber> files;
  std::list<StoreFiles::HeldFiles> held;
  std::optional<StoreFiles::Hold> hold;
  StoreFiles* const store_files = deps_.work->files.files;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) -> Status {
    RETURN_IF_ERROR(deps_.work->files.health->CheckWritable());
    const auto found = catalog.snapshots.find(std::string(name));
    if (found == catalog.snapshots.end()) return SnapshotNotFound(name);
    dropped = &found->second;
    held = HeldFilesOf(*dropped);
    files = FilesOnlyOf(*dropped, catalog);
    edit->remove_snapshots.emplace_back(name);
    edit->remove_files = files;
    return {};
  };
  change.publish = [&] {
    hold = store_files->BeginHold(std::move(held));
    if (deps_.open->Dropped(*dropped, *hold)) hold.reset();
  };
  RETURN_IF_ERROR(deps_.work->files.editor->Commit(change));
  for (const format::FileNumber number : files) store_files->RetireOrDiscard(number);
  if (hold.has_value()) store_files->EndHold(*hold);
  return {};
}

}  // namespace tandem::engine

// No mutex is held while files are opened: of two threads that open a region at the same time, one
// version stays.
#include "engine/region/named_snapshots.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {

OpenNamedSnapshot::OpenNamedSnapshot(const format::Catalog& catalog, const std::string& name,
                                     StoreFiles* files, const RegionSet* regions)
    : entry_(catalog.snapshots.Share(name)),
      record_(entry_->second),
      file_records_(catalog.files),
      files_(files),
      regions_(regions) {}

std::shared_ptr<const Table> OpenNamedSnapshot::Find(std::string_view name) {
  const auto record = std::find_if(record_.tables.begin(), record_.tables.end(),
                                   [name](const auto& table) { return table.name == name; });
  if (record == record_.tables.end()) return nullptr;
  {
    base::MutexLock lock(mutex_);
    const auto found = tables_.find(name);
    if (found != tables_.end()) return found->second;
  }
  std::vector<format::RegionRecord> regions;
  for (const format::RegionRecord& region : record_.regions) {
    if (region.table == record->id) regions.push_back(region);
  }
  const RegionSet::Addition made = regions_->Prepare(*record, std::move(regions));
  base::MutexLock lock(mutex_);
  return tables_.emplace(name, made.by_id.begin()->second).first->second;
}

Result<std::shared_ptr<const RegionVersion>> OpenNamedSnapshot::VersionOf(const Region& region) {
  {
    base::MutexLock lock(mutex_);
    const auto found = versions_.find(region.id());
    if (found != versions_.end()) return found->second;
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const RegionVersion> opened, Open(region));
  base::MutexLock lock(mutex_);
  return versions_.emplace(region.id(), opened).first->second;
}

// What is known of the overlaps of these files holds of the same files here.
Result<std::shared_ptr<const RegionVersion>> OpenNamedSnapshot::Open(const Region& region) const {
  const auto record = std::lower_bound(
      record_.regions.begin(), record_.regions.end(), region.id(),
      [](const format::RegionRecord& each, format::RegionId id) { return each.id < id; });
  auto version = std::make_shared<RegionVersion>(WithoutMemstores(*region.version()));
  for (const format::FileReference& reference : record->files) {
    ASSIGN_OR_RETURN(std::shared_ptr<LiveFile> file,
                     files_->OpenOnce(file_records_.at(reference.file)));
    version->files.push_back({.file = std::move(file),
                              .low = reference.ordinal_low,
                              .high = reference.ordinal_high,
                              .run = reference.run});
  }
  const std::shared_ptr<const Table> present = regions_->Find(region.table_id());
  if (present != nullptr) {
    version->overlaps = WithoutOthers(present->RegionOf(region.start_key()).version()->overlaps,
                                      FileNumbers(*version));
  }
  return std::shared_ptr<const RegionVersion>(std::move(version));
}

void OpenNamedSnapshot::Release() {
  std::map<std::string, std::shared_ptr<const Table>, std::less<>> tables;
  std::map<format::RegionId, std::shared_ptr<const RegionVersion>> versions;
  base::MutexLock lock(mutex_);
  tables.swap(tables_);
  versions.swap(versions_);
}

std::shared_ptr<const NamedSnapshots::Pin> NamedSnapshots::Open(const format::Catalog& catalog,
                                                                const std::string& name) {
  const auto made = std::make_shared<OpenNamedSnapshot>(catalog, name, files_, regions_);
  const auto pin = std::make_shared<Pin>(shared_from_this());
  base::MutexLock lock(mutex_);
  auto found = std::find_if(open_.begin(), open_.end(), [&made](const Listed& listed) {
    return listed.snapshot->Is(made->record());
  });
  if (found == open_.end()) found = open_.insert(found, {.snapshot = made});
  ++found->pins;
  pin->snapshot_ = found->snapshot;
  return pin;
}

NamedSnapshots::Pin::~Pin() {
  if (snapshot_ != nullptr) snapshots_->Release(*snapshot_);
}

bool NamedSnapshots::Dropped(const format::SnapshotRecord& record, StoreFiles::Hold hold) {
  base::MutexLock lock(mutex_);
  for (Listed& listed : open_) {
    if (!listed.snapshot->Is(record)) continue;
    listed.hold = hold;
    return true;
  }
  return false;
}

// What is released after End was released by it.
void NamedSnapshots::Release(const OpenNamedSnapshot& snapshot) {
  const GatePass pass(releases_);
  if (!pass.inside()) return;
  std::list<Listed> released;
  {
    base::MutexLock lock(mutex_);
    const auto listed = std::find_if(open_.begin(), open_.end(), [&snapshot](const Listed& each) {
      return each.snapshot.get() == &snapshot;
    });
    if (--listed->pins > 0) return;
    released.splice(released.end(), open_, listed);
  }
  Close(released.front());
}

void NamedSnapshots::Close(const Listed& listed) {
  listed.snapshot->Release();
  if (listed.hold.has_value()) files_->EndHold(*listed.hold);
}

void NamedSnapshots::End() {
  releases_.Close();
  std::list<Listed> open;
  {
    base::MutexLock lock(mutex_);
    open.swap(open_);
  }
  for (const Listed& listed : open) Close(listed);
}

}  // namespace tandem::engine

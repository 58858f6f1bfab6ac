// No mutex is held while files are opened: of two threads that open a region at the same time, one
// version stays.
#include "engine/region/named_snapshots.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {

OpenNamedSnapshot::OpenNamedSnapshot(const format::Catalog& catalog,
                                     const format::SnapshotRecord& record, StoreFiles* files,
                                     const RegionSet* regions)
    : record_(record), file_records_(catalog.files), files_(files), regions_(regions) {}

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

NamedSnapshots::Pin::~Pin() {
  if (entry_ != nullptr) snapshots_->Release(entry_);
}

std::shared_ptr<const NamedSnapshots::Pin> NamedSnapshots::Open(
    const format::Catalog& catalog, const format::SnapshotRecord& record) {
  const auto pin = std::make_shared<Pin>(shared_from_this());
  const auto made = std::make_shared<Entry>(catalog, record, files_, regions_);
  base::MutexLock lock(mutex_);
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const auto& entry) { return entry->Is(record); });
  if (found == entries_.end()) found = entries_.insert(found, made);
  ++(*found)->pins;
  pin->entry_ = *found;
  return pin;
}

void NamedSnapshots::Dropped(std::string_view name, std::vector<format::FileNumber>* files) {
  base::MutexLock lock(mutex_);
  for (const auto& entry : entries_) {
    if (entry->is_dropped || entry->snapshot.record().name != name) continue;
    entry->is_dropped = true;
    entry->unnamed.swap(*files);
    return;
  }
}

void NamedSnapshots::Release(const std::shared_ptr<Entry>& entry) {
  const GatePass pass(releases_);
  {
    base::MutexLock lock(mutex_);
    if (--entry->pins > 0) return;
    entries_.remove(entry);
  }
  if (pass.inside()) Close(*entry);
}

void NamedSnapshots::Close(Entry& entry) {
  entry.snapshot.Release();
  for (const format::FileNumber number : entry.unnamed) files_->RetireOrDiscard(number);
}

void NamedSnapshots::End() {
  releases_.Close();
  std::list<std::shared_ptr<Entry>> entries;
  {
    base::MutexLock lock(mutex_);
    entries.swap(entries_);
  }
  for (const auto& entry : entries) Close(*entry);
}

}  // namespace tandem::engine

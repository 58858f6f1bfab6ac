// The calls of the API on named snapshots.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/storage/snapshot_files.h"
#include "engine/verify/catalog.h"
#include "engine/verify/findings.h"
#include "engine/verify/view.h"

namespace tandem::engine {
namespace {

uint64_t BytesOf(const format::Catalog& catalog, const std::set<format::FileNumber>& files) {
  uint64_t bytes = 0;
  for (const format::FileNumber number : files) bytes += catalog.files.at(number).size_bytes;
  return bytes;
}

NamedSnapshotInfo Describe(const format::SnapshotRecord& snapshot, const format::Catalog& catalog,
                           const std::set<format::FileNumber>& of_tables) {
  NamedSnapshotInfo info;
  info.name = snapshot.name;
  info.sequence = snapshot.sequence.value;
  info.created_micros = snapshot.created_micros;
  for (const format::TableRecord& table : snapshot.tables) info.tables.push_back(OptionsOf(table));
  info.regions = snapshot.regions.size();
  std::set<format::FileNumber> files = FilesOf(snapshot), own = FilesOfNoOther(snapshot, catalog);
  for (const format::FileNumber file : files) info.files.push_back(file.value);
  info.bytes = BytesOf(catalog, files);
  const auto is_of_table = [&of_tables](format::FileNumber file) {
    return of_tables.contains(file);
  };
  std::erase_if(files, is_of_table);
  std::erase_if(own, is_of_table);
  info.kept_bytes = BytesOf(catalog, files);
  info.own_bytes = BytesOf(catalog, own);
  return info;
}

// Whether the table has files at the snapshot that are not in `files`.
bool HasOthers(const format::SnapshotRecord& snapshot, format::TableId table,
               const std::set<format::FileNumber>& files) {
  return std::any_of(
      snapshot.regions.begin(), snapshot.regions.end(), [&](const format::RegionRecord& region) {
        return region.table == table &&
               std::any_of(region.files.begin(), region.files.end(),
                           [&](const auto& reference) { return !files.contains(reference.file); });
      });
}

}  // namespace

std::vector<NamedSnapshotInfo> EngineImpl::DescribeSnapshots() {
  const format::Catalog catalog = database_.opened.storage->catalog();
  if (catalog.snapshots.empty()) return {};
  const std::set<format::FileNumber> of_tables = FilesOfTables(catalog);
  const int64_t now_micros = time_.Read().now_micros;
  std::vector<NamedSnapshotInfo> infos;
  for (const auto& [name, snapshot] : catalog.snapshots) {
    infos.push_back(Describe(snapshot, catalog, of_tables));
    infos.back().age_micros = now_micros - snapshot.now_micros;
  }
  return infos;
}

// Of a snapshot's tables those that have a file which was not verified yet. Its rows are not read
// in all ways once more: that would read the tables again for each snapshot.
Status EngineImpl::VerifySnapshots(VerifyRun* run) {
  const format::Catalog catalog = database_.opened.storage->catalog();
  for (const auto& [name, listed] : catalog.snapshots) {
    const Result<Snapshot> opened = OpenNamed(name);
    if (!opened.has_value() && opened.error().code() == StatusCode::kNotFound) continue;
    RETURN_IF_ERROR(opened.status());
    // Meanwhile the name may have gone to another one.
    const format::SnapshotRecord& snapshot = opened->state().point.named->snapshot().record();
    std::set<std::string> tables;
    for (const format::TableRecord& table : snapshot.tables) {
      if (HasOthers(snapshot, table.id, run->verified)) tables.insert(table.name);
    }
    for (const std::string& table : tables) {
      const Result<TableView> view = ViewOf({.snapshot = &*opened}, table);
      if (!view.has_value()) {
        format::Findings findings("snapshot " + base::Quote(name), run->report);
        RETURN_IF_ERROR(findings.AddError(view.error()));
        continue;
      }
      RETURN_IF_ERROR(VerifyFilesOf(*view, database_.opened.storage.get(), run));
      RETURN_IF_ERROR(VerifyView(*view, run));
    }
  }
  return {};
}

Result<std::vector<NamedSnapshotInfo>> EngineImpl::ListSnapshots() {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return DescribeSnapshots();
}

Status EngineImpl::CreateSnapshot(const std::string& name, const std::vector<std::string>& tables) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(health_.CheckWritable());
  return snapshot_editor_->Create(name, tables);
}

Status EngineImpl::DropSnapshot(std::string_view name) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(health_.CheckWritable());
  return snapshot_editor_->Drop(name);
}

Result<Snapshot> EngineImpl::OpenSnapshot(std::string_view name) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return OpenNamed(std::string(name));
}

// A drop finds what was opened before it. One that came before, or that made room for another
// snapshot of the name, shows in the catalog.
Result<Snapshot> EngineImpl::OpenNamed(const std::string& name) {
  while (true) {
    const format::Catalog catalog = database_.opened.storage->catalog();
    const auto found = catalog.snapshots.find(name);
    if (found == catalog.snapshots.end()) return SnapshotNotFound(name);
    SnapshotPoint point;
    point.named = named_snapshots_->Open(catalog, name);
    const format::Catalog after = database_.opened.storage->catalog();
    const auto still = after.snapshots.find(name);
    if (still == after.snapshots.end() || &*still != &*found) continue;
    return Snapshot(handles_->NewSnapshot(std::move(point)));
  }
}

}  // namespace tandem::engine

// The calls of the API on named snapshots.
#include "base/status_macros.h"
#include "engine/engine_impl.h"
#include "engine/storage/snapshot_files.h"

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
  for (const format::TableRecord& table : snapshot.tables) info.tables.push_back(table.name);
  info.regions = snapshot.regions.size();
  std::set<format::FileNumber> files = FilesOf(snapshot), own = FilesOfNoOther(snapshot, catalog);
  info.files = files.size();
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

}  // namespace

std::vector<NamedSnapshotInfo> EngineImpl::DescribeSnapshots() const {
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

Result<std::vector<NamedSnapshotInfo>> EngineImpl::ListSnapshots() {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return DescribeSnapshots();
}

Status EngineImpl::CreateSnapshot(const std::string& name,
                                  const std::vector<std::string>& tables) {
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

// A drop finds what was opened before it. One that came before, or that made room for another
// snapshot of the name, shows in the catalog.
Result<Snapshot> EngineImpl::OpenSnapshot(std::string_view view) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  const std::string name(view);
  while (true) {
    const format::Catalog catalog = database_.opened.storage->catalog();
    const auto found = catalog.snapshots.find(name);
    if (found == catalog.snapshots.end()) return SnapshotNotFound(name);
    SnapshotPoint point;
    point.named = named_snapshots_->Open(catalog, found->second);
    const format::Catalog after = database_.opened.storage->catalog();
    const auto still = after.snapshots.find(name);
    if (still == after.snapshots.end() || &*still != &*found) continue;
    return Snapshot(handles_->NewSnapshot(std::move(point)));
  }
}

}  // namespace tandem::engine

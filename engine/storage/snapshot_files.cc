// Files are compared by how often they are referred to: the halves of a split region share files.
#include "engine/storage/snapshot_files.h"

#include <map>

namespace tandem::format {
namespace {

std::map<FileNumber, uint64_t> References(const SnapshotRecord& snapshot) {
  std::map<FileNumber, uint64_t> references;
  for (const RegionRecord& region : snapshot.regions) {
    for (const FileReference& reference : region.files) ++references[reference.file];
  }
  return references;
}

}  // namespace

std::set<FileNumber> FilesOf(const SnapshotRecord& snapshot) {
  std::set<FileNumber> files;
  for (const auto& [number, count] : References(snapshot)) files.insert(number);
  return files;
}

std::set<FileNumber> FilesOfNoOther(const SnapshotRecord& snapshot, const Catalog& catalog) {
  std::set<FileNumber> files;
  for (const auto& [number, count] : References(snapshot)) {
    if (catalog.snapshot_files.at(number) == count) files.insert(number);
  }
  return files;
}

std::set<FileNumber> FilesOfTables(const Catalog& catalog) {
  std::set<FileNumber> files;
  for (const auto& [id, region] : catalog.regions) {
    for (const FileReference& reference : region.files) files.insert(reference.file);
  }
  return files;
}

}  // namespace tandem::format

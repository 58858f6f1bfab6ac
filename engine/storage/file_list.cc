// The files of a local store with their sizes, for reports. What the catalog says of a store file
// is its size: the open checked it.
#include <algorithm>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/local.h"

namespace tandem::engine {
namespace {

using format::Catalog;
using format::FileNumber;
using Role = ListedFile::Role;

// The role of a file as its name and the catalog have it.
ListedFile Describe(const std::string& name, const Catalog& catalog, FileNumber manifest) {
  ListedFile stored{.role = Role::kForeign, .name = name};
  if (name == kRootName) stored.role = Role::kRoot;
  const std::optional<LocalFile> parsed = ParseFileName(name);
  if (!parsed.has_value()) return stored;
  stored.number = parsed->number;
  stored.role = Role::kUnnamed;
  const auto record = catalog.files.find(parsed->number);
  if (parsed->kind == LocalFileKind::kManifest && parsed->number == manifest) {
    stored.role = Role::kManifest;
  } else if (parsed->kind == LocalFileKind::kSegment && HasSegment(catalog, parsed->number)) {
    stored.role = Role::kSegment;
  } else if (parsed->kind == LocalFileKind::kStore && record != catalog.files.end()) {
    stored.role = Role::kStore;
    stored.size_bytes = record->second.size_bytes;
  }
  return stored;
}

// One that was deleted meanwhile is left out.
Result<std::vector<ListedFile>> ListOf(base::Directory* directory, const Catalog& catalog,
                                       FileNumber manifest) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, directory->List());
  std::vector<ListedFile> files;
  for (const std::string& name : names) {
    ListedFile stored = Describe(name, catalog, manifest);
    if (stored.role != Role::kStore) {
      const auto file = directory->Open(name, base::OpenMode::kReadOnly);
      if (!file && file.error().code() == StatusCode::kNotFound) continue;
      // What is no regular file, or not ours to read, counts as empty.
      if (!file && stored.role == Role::kForeign) continue;
      if (!file) return file.error();
      ASSIGN_OR_RETURN(stored.size_bytes, (*file)->Size());
    }
    stored.used_bytes = stored.size_bytes;
    files.push_back(std::move(stored));
  }
  std::sort(files.begin(), files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
  return files;
}

bool IsSegmentName(const std::string& name) {
  const std::optional<LocalFile> parsed = ParseFileName(name);
  return parsed.has_value() && parsed->kind == LocalFileKind::kSegment;
}

}  // namespace

// Sealed segments have their exact length, so only the last one has space left.
Result<std::vector<ListedFile>> LocalStorage::ListFiles() {
  std::shared_ptr<const Catalog> catalog;
  FileNumber manifest;
  std::vector<FileNumber> held;
  {
    Turn turn(this);
    catalog = manifest_.catalog();
    manifest = manifest_.number();
    held = pending_deletes_;
  }
  ASSIGN_OR_RETURN(std::vector<ListedFile> files, ListOf(directory_.get(), *catalog, manifest));
  const format::LogMark end = log_.written();
  for (ListedFile& file : files) {
    if (file.role == Role::kSegment && file.number == end.segment) {
      file.used_bytes = std::min(file.size_bytes, end.length_bytes);
    }
    if (file.role != Role::kUnnamed) continue;
    if (std::ranges::find(held, file.number) != held.end()) {
      file.role = Role::kHeld;
    } else if (IsSegmentName(file.name)) {
      file.role = Role::kPrepared;
    }
  }
  return files;
}

Result<std::vector<ListedFile>> ReadOnlyStorage::ListFiles() {
  ASSIGN_OR_RETURN(std::vector<ListedFile> files, ListOf(directory_.get(), files_.manifest.catalog,
                                                         files_.root.record.manifest.number));
  for (ListedFile& file : files) {
    for (const format::BoundFile& segment : segments_) {
      if (file.role != Role::kSegment || segment.number != file.number) continue;
      file.used_bytes = std::min(file.size_bytes, segment.length_bytes);
    }
  }
  return files;
}

}  // namespace tandem::engine

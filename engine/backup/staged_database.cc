// See staged_database.h for the order.
#include "engine/backup/staged_database.h"

#include <algorithm>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/manifest.h"
#include "engine/storage/storage.h"
#include "engine/verify/file_hash.h"

namespace tandem::engine {
namespace {

// Why no database can be made at a path that exists.
Status Occupied(base::FileSystem* file_system, const std::string& path) {
  const std::string exists = "'" + path + "' exists already";
  const auto directory = file_system->OpenDirectory(path, /*create=*/false);
  if (!directory) return Status::AlreadyExists(exists + "; name a directory that does not exist");
  const auto root = (*directory)->Open(kRootName, base::OpenMode::kReadOnly);
  if (root) return Status::AlreadyExists(exists + " and holds a database; name another directory");
  const auto files = ListLocalFiles(directory->get());
  const auto names = (*directory)->List();
  const bool all_ours = files && names && files->size() == names->size();
  if (!all_ours) return Status::AlreadyExists(exists + "; name a directory that does not exist");
  return Status::AlreadyExists(exists + ", without a ROOT: " +
                               (files->empty() ? "it is empty" : "a copy that was not finished") +
                               "; remove it ('rm -r') and try again");
}

}  // namespace

Result<format::Hash128> CopyFile(base::File* from, uint64_t size_bytes, base::File* to) {
  const auto write = [to](uint64_t offset, std::string_view bytes) {
    return to->Write(offset, bytes);
  };
  ASSIGN_OR_RETURN(const format::Hash128 hash, format::HashFile(from, size_bytes, write));
  RETURN_IF_ERROR(to->DataSync());
  return hash;
}

Result<std::unique_ptr<base::Directory>> CreateCopyDirectory(base::FileSystem* file_system,
                                                             const std::string& path) {
  Result<std::unique_ptr<base::Directory>> directory = file_system->CreateDirectory(path);
  const bool exists = !directory && directory.error().code() == StatusCode::kAlreadyExists;
  return exists ? Occupied(file_system, path) : std::move(directory);
}

Result<std::unique_ptr<StagedDatabase>> StagedDatabase::Begin(base::FileSystem* file_system,
                                                              const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<base::Directory> directory,
                   CreateCopyDirectory(file_system, path));
  std::unique_ptr<StagedDatabase> draft(
      new StagedDatabase(file_system, path, std::move(directory)));
  RETURN_IF_ERROR(draft->directory_->Lock());
  return draft;
}

StagedDatabase::~StagedDatabase() {
  if (finished_) return;
  // ROOT is the last name made and the first removed, so that what is left never opens.
  std::reverse(names_.begin(), names_.end());
  for (const std::string& name : names_) {
    directory_->Remove(name).Ignore("the next attempt says that something is left");
  }
  directory_.reset();
  file_system_->RemoveDirectory(path_).Ignore("the next attempt says that something is left");
}

Result<format::Hash128> StagedDatabase::AddCopy(const std::string& name, base::File* from,
                                                uint64_t size_bytes) {
  Expect(name);
  ASSIGN_OR_RETURN(const std::unique_ptr<base::File> file, directory_->Create(name));
  return CopyFile(from, size_bytes, file.get());
}

Result<format::BoundFile> StagedDatabase::WriteManifest(
    const format::Catalog& catalog, format::FileNumber number,
    const std::vector<format::BoundFile>& segments, base::RandomSource* random) {
  format::BoundFile identity;
  identity.number = number;
  identity.id = NewRandomId(random);
  format::LogMark log;
  if (!segments.empty()) log = {segments.back().number, segments.back().length_bytes};
  const std::string name = ManifestName(number);
  Expect(name);
  ASSIGN_OR_RETURN(std::unique_ptr<base::File> file, directory_->Create(name));
  ASSIGN_OR_RETURN(const std::unique_ptr<format::ManifestWriter> manifest,
                   format::ManifestWriter::Create(std::move(file), identity, catalog, log));
  return manifest->end();
}

Status StagedDatabase::Finish(const format::Catalog& catalog,
                              const std::vector<format::BoundFile>& segments,
                              base::RandomSource* random) {
  const format::FileNumber number(catalog.counters.next_file_number);
  format::Catalog numbered = catalog;
  numbered.counters.next_file_number = number.value + 1;
  format::RootFile root;
  root.database = catalog.database;
  root.record.generation = 1;
  root.record.closed = true;
  root.record.epoch = catalog.epoch;
  root.record.next_file_number = numbered.counters.next_file_number;
  ASSIGN_OR_RETURN(root.record.manifest, WriteManifest(numbered, number, segments, random));
  // Each segment vouches for the one before it, so the newest ones vouch for all.
  const size_t bound = std::min(segments.size(), format::kRootSegmentsMax);
  root.record.segments.assign(segments.end() - static_cast<ptrdiff_t>(bound), segments.end());
  RETURN_IF_ERROR(directory_->Sync());
  Expect(kRootName);
  ASSIGN_OR_RETURN(const std::unique_ptr<base::File> file, directory_->Create(kRootName));
  RETURN_IF_ERROR(format::CreateRoot(file.get(), root));
  RETURN_IF_ERROR(directory_->Sync());
  finished_ = true;
  return {};
}

}  // namespace tandem::engine

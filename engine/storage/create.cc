// Creates a database, in an order in which the trace of any crash can be told from a damaged
// database:
// 1. Space is allocated for ROOT; it is written with manifest number 0 ("being created") in both
//    slots, synced, and its name synced. Until then the directory holds no other file of the
//    engine.
// 2. manifest-1 with the empty catalog is written and synced, and its name synced.
// 3. ROOT names manifest-1. The database exists.
// A crash in 1 leaves no ROOT or an unreadable one, alone. A crash in 2 or 3 leaves ROOT "being
// created" and at most a new manifest-1. Both are removed, the manifest first, and creation starts
// again at 1. ROOT is not kept, because the sync in 1 may have failed in an earlier process, and
// then what is read of it may not be on the disk. Anything else that is not a valid database is
// damage.
#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/manifest.h"
#include "engine/storage/storage.h"

namespace tandem::engine {
namespace {

constexpr format::FileNumber kFirstManifest{1};
constexpr size_t kMagicBytes = 8;
// A manifest with the empty catalog and nothing after it is smaller.
constexpr uint64_t kNewManifestBytesMax = 256;

Result<std::unique_ptr<base::File>> CreateNewRoot(base::Directory* directory,
                                                  base::RandomSource* random) {
  format::RootFile root;
  root.database = NewRandomId(random);
  root.record.generation = 1;
  ASSIGN_OR_RETURN(std::unique_ptr<base::File> file, directory->Create(kRootName));
  RETURN_IF_ERROR(format::CreateRoot(file.get(), root));
  RETURN_IF_ERROR(directory->Sync());
  return file;
}

Status FinishCreation(base::Directory* directory, base::RandomSource* random,
                      base::File* root_file) {
  ASSIGN_OR_RETURN(format::RootFile root, format::ReadRoot(root_file));
  format::Catalog catalog;
  catalog.database = root.database;
  catalog.counters.next_file_number = kFirstManifest.value + 1;
  format::BoundFile identity;
  identity.number = kFirstManifest;
  identity.id = NewRandomId(random);
  ASSIGN_OR_RETURN(std::unique_ptr<base::File> file,
                   directory->Create(ManifestName(kFirstManifest)));
  ASSIGN_OR_RETURN(const std::unique_ptr<format::ManifestWriter> manifest,
                   format::ManifestWriter::Create(std::move(file), identity, catalog, {}));
  RETURN_IF_ERROR(directory->Sync());
  ++root.record.generation;
  root.record.manifest = manifest->end();
  root.record.next_file_number = catalog.counters.next_file_number;
  return format::WriteRoot(root_file, &root, /*both=*/true);
}

// Removes what a crash in step 2 or 3 left, after checking that nothing else is there.
Status RemoveLeftovers(base::Directory* directory, const std::vector<LocalFile>& files) {
  for (const LocalFile& leftover : files) {
    ASSIGN_OR_RETURN(std::unique_ptr<base::File> file,
                     directory->Open(leftover.name, base::OpenMode::kReadOnly));
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    if (leftover.kind != LocalFileKind::kManifest || leftover.number != kFirstManifest ||
        size > kNewManifestBytesMax) {
      return Status::Corruption("ROOT says that the database is being created, beside " +
                                leftover.name);
    }
  }
  for (const LocalFile& leftover : files) RETURN_IF_ERROR(directory->Remove(leftover.name));
  return files.empty() ? Status() : directory->Sync();
}

Status CreateDatabase(base::Directory* directory, base::RandomSource* random) {
  ASSIGN_OR_RETURN(const std::unique_ptr<base::File> root, CreateNewRoot(directory, random));
  return FinishCreation(directory, random, root.get());
}

}  // namespace

Result<bool> IsHalfMadeRoot(base::Directory* directory, base::File* root_file) {
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, ListLocalFiles(directory));
  ASSIGN_OR_RETURN(const uint64_t size, root_file->Size());
  std::string bytes(kMagicBytes, '\0');
  ASSIGN_OR_RETURN(const size_t count, root_file->Read(0, bytes));
  bytes.resize(count);
  const bool zeros = bytes.find_first_not_of('\0') == std::string::npos;
  const bool magic = std::string_view("\x89TANDEM\n").starts_with(bytes);
  return files.empty() && size <= format::kRootFileBytes && (zeros || magic);
}

Status CreateDatabaseIfAbsent(base::Directory* directory, base::RandomSource* random) {
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, ListLocalFiles(directory));
  Result<std::unique_ptr<base::File>> file = directory->Open(kRootName, base::OpenMode::kReadWrite);
  if (!file && file.error().code() == StatusCode::kNotFound) {
    if (files.empty()) return CreateDatabase(directory, random);
    return RootIsMissing(files);
  }
  if (!file) return file.error();

  const Result<format::RootFile> root = format::ReadRoot(file->get());
  if (root && root->record.manifest.number.value != 0) return {};
  if (root) {
    RETURN_IF_ERROR(RemoveLeftovers(directory, files));
  } else {
    if (root.error().code() != StatusCode::kCorruption) return root.error();
    ASSIGN_OR_RETURN(const bool half_made, IsHalfMadeRoot(directory, file->get()));
    if (!half_made) return root.error();
  }
  RETURN_IF_ERROR(directory->Remove(kRootName));
  RETURN_IF_ERROR(directory->Sync());
  return CreateDatabase(directory, random);
}

}  // namespace tandem::engine

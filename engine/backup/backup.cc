// How a backup is made:
// 1. What a crash left of an earlier backup is cleaned up, and unfinished-N is made durable.
// 2. Files that no record names yet are copied, hashed and synced, then their names are synced.
// 3. The record backup-N is written and synced, then its name: the backup exists.
// 4. unfinished-N is removed, and so are files that no record names.
// A file that exists though no record names it was left by a crash in 2: it is used if its hash is
// right, otherwise copied again. A failure in 2 or 3 removes what this run made.
#include "engine/backup/backup.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/backup/checkpoint.h"
#include "engine/backup/directory.h"
#include "engine/backup/staged_database.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "engine/verify/file_hash.h"
#include "format/corruption.h"

namespace tandem::engine {
namespace {

BackupInfo InfoOf(const format::BackupRecord& record) {
  BackupInfo info;
  info.number = record.number;
  info.created_micros = record.created_micros;
  info.last_sequence = record.catalog.counters.last_sequence;
  for (const BackupFile& file : FilesOf(record)) {
    ++info.files;
    info.bytes += file.size_bytes;
  }
  return info;
}

class BackupWriter {
 public:
  BackupWriter(const PinnedStore& pinned, const BackupTools& tools, BackupDirectory* backups)
      : pinned_(pinned), tools_(tools), backups_(*backups) {}
  Result<BackupInfo> Run();

 private:
  Status CheckOwner() const;
  Status CopyAll(BackupInfo* info);
  Status CopyOne(const BackupFile& file, bool is_trusted, BackupInfo* info);
  Result<bool> IsThere(const BackupFile& file, bool is_trusted);
  Status WriteRecord();
  void Withdraw();
  Status RemoveDurably(const std::vector<std::string>& names);
  base::Directory& directory() { return *backups_.directory(); }

  const PinnedStore& pinned_;
  const BackupTools& tools_;
  BackupDirectory& backups_;
  format::BackupRecord record_;
  std::vector<std::string> made_;
};

// The record with the hashes of the segments, which the catalog does not know.
Result<format::BackupRecord> RecordOf(const PinnedStore& pinned) {
  format::BackupRecord record;
  record.catalog = pinned.catalog;
  for (const format::BoundFile& end : pinned.segments) {
    ASSIGN_OR_RETURN(const auto file, pinned.files->OpenSegment(end.number));
    ASSIGN_OR_RETURN(const format::Hash128 hash, format::HashFile(file.get(), end.length_bytes));
    record.segments.push_back({end, hash});
  }
  return record;
}

// One directory holds backups of one database.
Status BackupWriter::CheckOwner() const {
  for (const auto& [number, record] : backups_.records()) {
    if (record.catalog.database == pinned_.catalog.database) continue;
    return Status::InvalidArgument(BackupRecordName(number) +
                                   " is a backup of another database; name another directory");
  }
  return {};
}

Result<BackupInfo> BackupWriter::Run() {
  RETURN_IF_ERROR(CheckOwner());
  ASSIGN_OR_RETURN(record_, RecordOf(pinned_));
  record_.number = backups_.next_number();
  record_.created_micros = tools_.clock->WallMicros();
  RETURN_IF_ERROR(backups_.CleanUpUnfinished());
  BackupInfo info = InfoOf(record_);
  Status status = CopyAll(&info);
  if (status.ok()) status = WriteRecord();
  if (!status.ok()) {
    Withdraw();
    return status;
  }
  const std::string mark = UnfinishedName(record_.number);
  backups_.Add(std::move(record_));
  RETURN_IF_ERROR(directory().Remove(mark));
  RETURN_IF_ERROR(directory().Sync());
  backups_.RemoveUnreferenced().Ignore(
      "files that nothing names do no harm; the next backup tries again");
  return info;
}

// Steps 1 and 2.
Status BackupWriter::CopyAll(BackupInfo* info) {
  const std::string mark = UnfinishedName(record_.number);
  made_.push_back(mark);
  RETURN_IF_ERROR(directory().Create(mark).status());
  RETURN_IF_ERROR(directory().Sync());
  const std::set<std::string> trusted = backups_.ReferencedFiles();
  for (const BackupFile& file : FilesOf(record_)) {
    RETURN_IF_ERROR(CopyOne(file, trusted.contains(file.name()), info));
  }
  return directory().Sync();
}

Status BackupWriter::CopyOne(const BackupFile& file, bool is_trusted, BackupInfo* info) {
  ASSIGN_OR_RETURN(const bool is_there, IsThere(file, is_trusted));
  if (is_there) return {};
  const std::string name = file.name();
  const std::string source_name =
      file.is_segment ? SegmentName(file.number) : StoreFileName(file.number);
  ASSIGN_OR_RETURN(const auto source, file.is_segment ? pinned_.files->OpenSegment(file.number)
                                                      : pinned_.files->OpenStoreFile(file.number));
  made_.push_back(name);
  ASSIGN_OR_RETURN(const auto copy, directory().Create(name));
  ASSIGN_OR_RETURN(const format::Hash128 found,
                   CopyFile(source.get(), file.size_bytes, copy.get()));
  ++info->copied_files;
  info->copied_bytes += file.size_bytes;
  return CheckHash(source_name, file.hash, found);
}

// Whether the directory has the file. One that a record names is trusted if its size is right; any
// other is removed unless its hash is right.
Result<bool> BackupWriter::IsThere(const BackupFile& file, bool is_trusted) {
  const std::string name = file.name();
  if (!backups_.HasFile(name)) return false;
  {
    ASSIGN_OR_RETURN(const auto there, directory().Open(name, base::OpenMode::kReadWrite));
    ASSIGN_OR_RETURN(const uint64_t size, there->Size());
    if (size == file.size_bytes) {
      if (is_trusted) return true;
      ASSIGN_OR_RETURN(const format::Hash128 found, format::HashFile(there.get(), size));
      // What a process wrote before it died is visible before it is durable.
      if (found == file.hash) {
        RETURN_IF_ERROR(there->DataSync());
        return true;
      }
    }
  }
  RETURN_IF_ERROR(directory().Remove(name));
  return false;
}

// Step 3.
Status BackupWriter::WriteRecord() {
  const std::string name = BackupRecordName(record_.number);
  made_.push_back(name);
  ASSIGN_OR_RETURN(const auto file, directory().Create(name));
  RETURN_IF_ERROR(format::WriteBackupRecord(file.get(), NewRandomId(tools_.random), record_));
  return directory().Sync();
}

// Removes the record first, durably, and the mark last, so that a crash in between leaves either a
// whole backup or the mark of an unfinished one.
void BackupWriter::Withdraw() {
  const std::string mark = UnfinishedName(record_.number);
  if (!RemoveDurably({BackupRecordName(record_.number)}).ok()) return;
  std::erase(made_, mark);
  if (!RemoveDurably(made_).ok()) return;
  RemoveDurably({mark}).Ignore("the next backup cleans it up");
}

Status BackupWriter::RemoveDurably(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Status status = directory().Remove(name);
    if (!status.ok() && status.code() != StatusCode::kNotFound) return status;
  }
  return directory().Sync();
}

// Opens and locks the directory; creates it if it does not exist.
Result<std::unique_ptr<base::Directory>> OpenForBackup(const PinnedStore& pinned,
                                                       base::FileSystem* file_system,
                                                       const std::string& path) {
  Result<std::unique_ptr<base::Directory>> directory = file_system->CreateDirectory(path);
  const bool is_new = directory.has_value();
  if (!is_new && directory.error().code() == StatusCode::kAlreadyExists) {
    directory = file_system->OpenDirectory(path, /*create=*/false);
  }
  RETURN_IF_ERROR(directory.status());
  ASSIGN_OR_RETURN(const bool inside, pinned.files->Contain(directory->get()));
  if (inside) {
    directory->reset();
    if (is_new) file_system->RemoveDirectory(path).Ignore("the error to come says where it is");
    return Status::InvalidArgument("'" + path +
                                   "' lies in the database's own directory; name one outside");
  }
  RETURN_IF_ERROR((*directory)->Lock());
  return std::move(*directory);
}

}  // namespace

Result<BackupInfo> WriteBackup(const PinnedStore& pinned, const BackupTools& tools,
                               const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<base::Directory> directory,
                   OpenForBackup(pinned, tools.file_system, path));
  ASSIGN_OR_RETURN(BackupDirectory backups, BackupDirectory::Read(std::move(directory), path));
  return BackupWriter(pinned, tools, &backups).Run();
}

Result<std::vector<BackupInfo>> ListBackups(base::FileSystem* file_system,
                                            const std::string& path) {
  ASSIGN_OR_RETURN(auto directory, file_system->OpenDirectory(path, /*create=*/false));
  ASSIGN_OR_RETURN(const BackupDirectory backups,
                   BackupDirectory::Read(std::move(directory), path));
  if (backups.records().empty() && backups.damaged().empty()) {
    return Status::NotFound("'" + path + "' holds no backup");
  }
  std::vector<BackupInfo> infos;
  for (const auto& [number, record] : backups.records()) infos.push_back(InfoOf(record));
  return infos;
}

Result<uint64_t> RemoveOldBackups(base::FileSystem* file_system, const std::string& path,
                                  uint64_t keep) {
  if (keep == 0) return Status::InvalidArgument("0 backups to keep: expected 1 or more");
  ASSIGN_OR_RETURN(auto directory, file_system->OpenDirectory(path, /*create=*/false));
  RETURN_IF_ERROR(directory->Lock());
  ASSIGN_OR_RETURN(BackupDirectory backups, BackupDirectory::Read(std::move(directory), path));
  if (!backups.damaged().empty()) {
    const Status& damage = backups.damaged().begin()->second;
    return Status(damage.code(), std::string(damage.message()) +
                                     "; nothing was removed, since nobody knows which files it "
                                     "names: remove the record first");
  }
  RETURN_IF_ERROR(backups.CleanUpUnfinished());
  uint64_t removed = 0;
  for (; backups.records().size() > keep; ++removed) {
    RETURN_IF_ERROR(backups.RemoveRecord(backups.records().begin()->first));
  }
  RETURN_IF_ERROR(backups.RemoveUnreferenced());
  return removed;
}

}  // namespace tandem::engine

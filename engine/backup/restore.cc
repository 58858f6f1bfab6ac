// Reading backups: every file is compared with its record (engine/backup/recorded_files.h).
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "engine/backup/backup.h"
#include "engine/backup/checkpoint.h"
#include "engine/backup/directory.h"
#include "engine/backup/recorded_files.h"
#include "engine/backup/staged_database.h"
#include "engine/storage/files.h"
#include "engine/verify/findings.h"

namespace tandem::engine {

Result<VerifyReport> VerifyBackups(base::FileSystem* file_system, const std::string& path) {
  ASSIGN_OR_RETURN(auto directory, file_system->OpenDirectory(path, /*create=*/false));
  ASSIGN_OR_RETURN(BackupDirectory backups, BackupDirectory::Read(std::move(directory), path));
  if (backups.records().empty() && backups.damaged().empty()) {
    return Status::NotFound("'" + path + "' holds no backup");
  }
  VerifyReport report;
  for (const auto& [number, status] : backups.damaged()) {
    report.findings.push_back(format::NewFinding(status));
  }
  std::set<std::string> verified;
  for (const auto& [number, record] : backups.records()) {
    for (const BackupFile& file : FilesOf(record)) {
      const std::string name = file.name();
      if (!verified.insert(name).second) continue;
      ++report.files;
      report.bytes += file.size_bytes;
      format::Findings findings(name, &report);
      const Status status = VerifyBackupFile(backups.directory(), file);
      if (!status.ok()) RETURN_IF_ERROR(findings.AddError(status));
    }
  }
  return report;
}

Status RestoreBackup(const BackupTools& tools, const std::string& path,
                     const std::string& destination, uint64_t number) {
  ASSIGN_OR_RETURN(auto directory, tools.file_system->OpenDirectory(path, /*create=*/false));
  ASSIGN_OR_RETURN(BackupDirectory backups, BackupDirectory::Read(std::move(directory), path));
  ASSIGN_OR_RETURN(const format::BackupRecord record, ChosenBackup(backups, path, number));
  ASSIGN_OR_RETURN(const std::unique_ptr<StagedDatabase> draft,
                   StagedDatabase::Begin(tools.file_system, destination));
  ASSIGN_OR_RETURN(const bool inside, draft->directory()->IsWithin(*backups.directory()));
  if (inside) {
    return Status::InvalidArgument("'" + destination + "' lies in the directory of backups");
  }
  std::vector<format::BoundFile> segments;
  for (const format::BackupSegment& segment : record.segments) segments.push_back(segment.end);
  for (const BackupFile& file : FilesOf(record)) {
    ASSIGN_OR_RETURN(const auto source, OpenBackupFile(backups.directory(), file));
    ASSIGN_OR_RETURN(
        const format::Hash128 found,
        draft->AddCopy(file.is_segment ? SegmentName(file.number) : StoreFileName(file.number),
                       source.get(), file.size_bytes));
    const Status status = CheckHash(file.name(), file.hash, found);
    if (!status.ok()) return DescribeDamage(backups.directory(), file, status);
  }
  return draft->Finish(record.catalog, segments, tools.random);
}

}  // namespace tandem::engine

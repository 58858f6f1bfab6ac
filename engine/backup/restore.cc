// Reading backups: every file is compared with its record; if its hash is wrong, the file's own
// checksums show where.
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "engine/backup/backup.h"
#include "engine/backup/checkpoint.h"
#include "engine/backup/directory.h"
#include "engine/backup/staged_database.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "engine/verify/blocks.h"
#include "engine/verify/file_hash.h"
#include "engine/verify/findings.h"
#include "format/corruption.h"
#include "format/frame_chain.h"
#include "store_file/store_file.h"
#include "wal/log.h"

namespace tandem::engine {
namespace {

// Opens a file that the record names. A missing file is damage of the backup.
Result<std::unique_ptr<base::File>> OpenBackupFile(base::Directory* directory,
                                                   const BackupFile& file) {
  const std::string name = file.name();
  auto opened = directory->Open(name, base::OpenMode::kReadOnly);
  if (!opened && opened.error().code() == StatusCode::kNotFound) {
    return Status::Corruption(name + ": the backup names this file, but it does not exist");
  }
  RETURN_IF_ERROR(opened.status());
  ASSIGN_OR_RETURN(const uint64_t size, (*opened)->Size());
  if (size == file.size_bytes) return opened;
  return format::CorruptionAt(name, std::min(size, file.size_bytes),
                              format::Mismatch("bytes of file", file.size_bytes, size));
}

// What the file's own checksums find first; OK when they find nothing.
Status LocateInStore(std::unique_ptr<base::File> opened, const BackupFile& file) {
  const std::string name = opened->name();
  const format::ExpectedFile expected{
      .number = file.number, .size_bytes = file.size_bytes, .id = file.id, .database = {}};
  ASSIGN_OR_RETURN(const auto store, format::StoreFile::Open(std::move(opened), expected, nullptr));
  VerifyReport report;
  {
    format::Findings findings(name, &report);
    RETURN_IF_ERROR(format::VerifyBlocks(*store, &findings));
  }
  if (report.findings.empty()) return {};
  return Status::Corruption(report.findings.front().text);
}

Status LocateInSegment(base::File* opened, const BackupFile& file) {
  ASSIGN_OR_RETURN(const wal::SegmentHeader header, wal::ReadSegmentHeader(opened));
  format::FrameChain chain;
  chain.last_checksum = header.checksum;
  chain.last_sequence = header.spec.predecessor.last_sequence;
  format::FrameReader reader(opened, file.id, wal::kSegmentHeaderBytes, file.size_bytes);
  ASSIGN_OR_RETURN(const uint64_t end, format::FollowChain(
                                           &reader, opened->name(),
                                           [](const format::Frame&) { return Status(); }, &chain));
  if (end == file.size_bytes) return {};
  return format::CorruptionAt(opened->name(), end, reader.reason());
}

// Describes a file whose hash is wrong.
Status Damage(base::Directory* directory, const BackupFile& file, const Status& mismatch) {
  auto opened = directory->Open(file.name(), base::OpenMode::kReadOnly);
  if (!opened) return mismatch;
  const Status located = file.is_segment ? LocateInSegment(opened->get(), file)
                                         : LocateInStore(std::move(*opened), file);
  if (located.code() != StatusCode::kCorruption) return mismatch;
  return Status::Corruption(std::string(mismatch.message()) + "; " +
                            std::string(located.message()));
}

Status VerifyOne(base::Directory* directory, const BackupFile& file) {
  ASSIGN_OR_RETURN(const auto opened, OpenBackupFile(directory, file));
  ASSIGN_OR_RETURN(const format::Hash128 found, format::HashFile(opened.get(), file.size_bytes));
  const Status status = CheckHash(file.name(), file.hash, found);
  return status.ok() ? status : Damage(directory, file, status);
}

// The record of backup `number`; 0: of the newest. If the newest is damaged, that is an error; it
// is not skipped.
Result<format::BackupRecord> Chosen(const BackupDirectory& backups, const std::string& path,
                                    uint64_t number) {
  const auto& records = backups.records();
  const auto& damaged = backups.damaged();
  if (records.empty() && damaged.empty()) return Status::NotFound("'" + path + "' holds no backup");
  if (number == 0) {
    if (!records.empty()) number = records.rbegin()->first;
    if (!damaged.empty()) number = std::max(number, damaged.rbegin()->first);
  }
  const auto bad = damaged.find(number);
  if (bad != damaged.end()) return bad->second;
  const auto found = records.find(number);
  if (found != records.end()) return found->second;
  std::string message = "'" + path + "' holds no backup " + std::to_string(number);
  if (!records.empty()) {
    message += "; there are " + std::to_string(records.size()) + ", from " +
               std::to_string(records.begin()->first) + " to " +
               std::to_string(records.rbegin()->first);
  }
  return Status::NotFound(message);
}

}  // namespace

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
      const Status status = VerifyOne(backups.directory(), file);
      if (!status.ok()) RETURN_IF_ERROR(findings.AddError(status));
    }
  }
  return report;
}

Status RestoreBackup(const BackupTools& tools, const std::string& path,
                     const std::string& destination, uint64_t number) {
  ASSIGN_OR_RETURN(auto directory, tools.file_system->OpenDirectory(path, /*create=*/false));
  ASSIGN_OR_RETURN(BackupDirectory backups, BackupDirectory::Read(std::move(directory), path));
  ASSIGN_OR_RETURN(const format::BackupRecord record, Chosen(backups, path, number));
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
    if (!status.ok()) return Damage(backups.directory(), file, status);
  }
  return draft->Finish(record.catalog, segments, tools.random);
}

}  // namespace tandem::engine

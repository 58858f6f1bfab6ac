// If the hash of a file is wrong, the file's own checksums show where.
#include "engine/backup/recorded_files.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/backup/checkpoint.h"
#include "engine/verify/blocks.h"
#include "engine/verify/file_hash.h"
#include "engine/verify/findings.h"
#include "format/corruption.h"
#include "format/frame_chain.h"
#include "store_file/store_file.h"
#include "wal/log.h"

namespace tandem::engine {
namespace {

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

}  // namespace

Status LocateDamage(std::unique_ptr<base::File> opened, const format::ExpectedFile& expected) {
  const std::string name = opened->name();
  ASSIGN_OR_RETURN(const auto store, format::StoreFile::Open(std::move(opened), expected, nullptr));
  VerifyReport report;
  {
    format::Findings findings(name, &report);
    RETURN_IF_ERROR(format::VerifyBlocks(*store, &findings));
  }
  if (report.findings.empty()) return {};
  return Status::Corruption(report.findings.front().text);
}

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

Status DescribeDamage(base::Directory* directory, const BackupFile& file, const Status& mismatch) {
  auto opened = directory->Open(file.name(), base::OpenMode::kReadOnly);
  if (!opened) return mismatch;
  const format::ExpectedFile expected{
      .number = file.number, .size_bytes = file.size_bytes, .id = file.id, .database = {}};
  const Status located = file.is_segment ? LocateInSegment(opened->get(), file)
                                         : LocateDamage(std::move(*opened), expected);
  if (located.code() != StatusCode::kCorruption) return mismatch;
  return Status::Corruption(std::string(mismatch.message()) + "; " +
                            std::string(located.message()));
}

Status VerifyBackupFile(base::Directory* directory, const BackupFile& file) {
  ASSIGN_OR_RETURN(const auto opened, OpenBackupFile(directory, file));
  ASSIGN_OR_RETURN(const format::Hash128 found, format::HashFile(opened.get(), file.size_bytes));
  const Status status = CheckHash(file.name(), file.hash, found);
  return status.ok() ? status : DescribeDamage(directory, file, status);
}

Result<format::BackupRecord> ChosenBackup(const BackupDirectory& backups, const std::string& path,
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

}  // namespace tandem::engine

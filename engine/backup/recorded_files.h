// The files of one backup, each compared with its record when it is used.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "engine/backup/directory.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The record of backup `number`; 0: of the newest. If the newest is damaged, that is an error; it
/// is not skipped. Errors: kNotFound naming `path` (no such backup), kCorruption, kUnsupported.
Result<format::BackupRecord> ChosenBackup(const BackupDirectory& backups, const std::string& path,
                                          uint64_t number);
/// Opens a file that a record names. Errors: kCorruption (it is missing, or has another size).
Result<std::unique_ptr<base::File>> OpenBackupFile(base::Directory* directory,
                                                   const BackupFile& file);
/// Compares its hash with the record. Errors: kCorruption naming file, offset, expected and found;
/// kIoError.
Status VerifyBackupFile(base::Directory* directory, const BackupFile& file);
/// What the checksums of a store file, whose hash is wrong, find first; OK when they find nothing.
Status LocateDamage(std::unique_ptr<base::File> opened, const format::ExpectedFile& expected);
/// `mismatch`, the error of a file whose hash is wrong, with what its own checksums find first.
Status DescribeDamage(base::Directory* directory, const BackupFile& file, const Status& mismatch);

}  // namespace tandem::engine

// Backups. A backup directory holds any number of backups of one database, each as of one point in
// time; a file that several of them share is stored once. Database::Backup adds a backup. The calls
// here need only the directory.
//
// The directory holds store files and log segments, named by number, random id and hash, and a
// record of each backup, "backup-N". A call trusts nothing that it reads there before a checksum
// agrees, opens only names that it makes itself, and follows no link.
//
// Threads: any. One Database::Backup or RemoveOldBackups works on a directory at a time; others are
// refused (kBusy). Calls that read may run meanwhile, except on a backup that is being removed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/database.h"
#include "tandem/status.h"

#pragma GCC visibility push(default)

namespace tandem {

/// The backups of the directory `path` that can be read, oldest first. A record that cannot be is
/// left out here; VerifyBackups reports it. Errors: kNotFound (no directory, or no backup in it),
/// kIoError.
Result<std::vector<BackupInfo>> ListBackups(const std::string& path);

/// Reads every file that a backup names and compares it with its record: size and hash. Each
/// difference is a finding with file, offset, expected and found. VerifyReport::rows, cells and
/// index_entries stay 0. Errors: kNotFound, kIoError.
Result<VerifyReport> VerifyBackups(const std::string& path);

/// Restores backup `number` (0: the newest) to the new directory `destination`. Every byte is
/// verified before the database exists; on failure all that was created is removed. The restored
/// database keeps the database's id, so checks cannot tell the two apart, and it can be backed up
/// to the same directory. Errors: kNotFound (no such backup),
/// kAlreadyExists, kInvalidArgument (inside the backup directory), kCorruption naming file, offset,
/// expected and found, kUnsupported, kIoError, kNoSpace.
Status RestoreBackup(const std::string& path, const std::string& destination, uint64_t number = 0);

/// Removes all backups but the newest `keep`, then the files that no backup needs, and returns the
/// number of backups removed. Errors: kInvalidArgument (keep is 0), kCorruption (a record cannot be
/// read, so the files that it needs are unknown; nothing is removed), kNotFound, kBusy, kIoError.
Result<uint64_t> RemoveOldBackups(const std::string& path, uint64_t keep);

}  // namespace tandem

#pragma GCC visibility pop

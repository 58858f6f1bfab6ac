// Backups: a directory that holds any number of copies of one database, each as of one moment, and
// every file of them once. Database::Backup adds one; the calls here work on the directory alone.
//
// In the directory stand store files and log segments, named by number, random id and hash, and a
// record of each backup, "backup-N". A call believes nothing that it reads there before it agrees
// with a checksum, opens no name that it did not make up itself, and follows no link.
//
// Threads: any. One Database::Backup or RemoveOldBackups at a time works on a directory, others are
// refused (kBusy); reading calls run beside it, but not those that read what it removes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/database.h"
#include "tandem/status.h"

#pragma GCC visibility push(default)

namespace tandem {

/// The backups of the directory `path` that can be read, oldest first. A record that cannot be is
/// left out here; VerifyBackups tells of it. Errors: kNotFound (no directory, or no backup in it),
/// kIoError.
Result<std::vector<BackupInfo>> ListBackups(const std::string& path);

/// Reads every file that a backup names and compares it with its record: size and hash. What is
/// wrong is a finding with file, offset, expected and found. VerifyReport::rows, cells and
/// index_entries stay 0. Errors: kNotFound, kIoError.
Result<VerifyReport> VerifyBackups(const std::string& path);

/// Makes `destination`, which must not exist, the database as backup `number` has it (0: the
/// newest). Every byte is verified before the database comes to be; whatever fails, what was made
/// is removed. The restored database is the same one to every check (it keeps the database's id),
/// so it can be backed up to the same directory. Errors: kNotFound (no such backup),
/// kAlreadyExists, kInvalidArgument (inside the backup directory), kCorruption naming file, offset,
/// expected and found, kUnsupported, kIoError, kNoSpace.
Status RestoreBackup(const std::string& path, const std::string& destination, uint64_t number = 0);

/// Removes all backups but the newest `keep`, then the files that no backup names, and returns how
/// many backups went. Errors: kInvalidArgument (keep is 0), kCorruption (a record cannot be read,
/// so that nobody knows which files it names; nothing is removed), kNotFound, kBusy, kIoError.
Result<uint64_t> RemoveOldBackups(const std::string& path, uint64_t keep);

}  // namespace tandem

#pragma GCC visibility pop

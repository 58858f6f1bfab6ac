// Backups: incremental, verified copies of a store in a directory of their own. The calls of
// tandem/backup.h over a given file system.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "engine/storage/pinned_store.h"
#include "tandem/backup.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What backups are made with.
struct BackupTools {
  base::FileSystem* file_system = nullptr;
  base::RandomSource* random = nullptr;
  base::Clock* clock = nullptr;
};

/// Adds a backup of `pinned`. See Database::Backup.
Result<BackupInfo> WriteBackup(const PinnedStore& pinned, const BackupTools& tools,
                               const std::string& path);
Result<std::vector<BackupInfo>> ListBackups(base::FileSystem* file_system, const std::string& path);
Result<uint64_t> RemoveOldBackups(base::FileSystem* file_system, const std::string& path,
                                  uint64_t keep);
// In restore.cc.
Result<VerifyReport> VerifyBackups(base::FileSystem* file_system, const std::string& path);
Status RestoreBackup(const BackupTools& tools, const std::string& path,
                     const std::string& destination, uint64_t number);

}  // namespace tandem::engine

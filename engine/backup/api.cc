// The calls of tandem/backup.h: they work on files of the system, without an engine.
#include "base/clock.h"
#include "base/file_system.h"
#include "base/guarded.h"
#include "base/random.h"
#include "engine/backup/backup.h"

namespace tandem {

Result<std::vector<BackupInfo>> ListBackups(const std::string& path) {
  return engine::Guarded([&] {
    const auto file_system = base::NewPosixFileSystem();
    return engine::ListBackups(file_system.get(), path);
  });
}

Result<VerifyReport> VerifyBackups(const std::string& path) {
  return engine::Guarded([&] {
    const auto file_system = base::NewPosixFileSystem();
    return engine::VerifyBackups(file_system.get(), path);
  });
}

Status RestoreBackup(const std::string& path, const std::string& destination, uint64_t number) {
  return engine::Guarded([&] {
    const auto file_system = base::NewPosixFileSystem();
    const auto random = base::NewSystemRandom();
    const auto clock = base::NewSystemClock();
    return engine::RestoreBackup(
        {.file_system = file_system.get(), .random = random.get(), .clock = clock.get()}, path,
        destination, number);
  });
}

Result<uint64_t> RemoveOldBackups(const std::string& path, uint64_t keep) {
  return engine::Guarded([&] {
    const auto file_system = base::NewPosixFileSystem();
    return engine::RemoveOldBackups(file_system.get(), path, keep);
  });
}

}  // namespace tandem

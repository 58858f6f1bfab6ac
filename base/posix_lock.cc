// flock on the directory, and the search for its holder in the kernel's table of locks.
#include "base/posix_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <memory>

namespace tandem::base {
namespace {

struct LockEntry {
  char type[16];
  char access[16];
  int pid;
  unsigned device_major;
  unsigned device_minor;
  uint64_t inode;
};

// A line reads "1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF"; one that waits for a lock has
// "->" after the number and is not matched.
bool ParseLockLine(const char* line, LockEntry& entry) {
  return std::sscanf(line, "%*d: %15s %*15s %15s %d %x:%x:%" SCNu64, entry.type, entry.access,
                     &entry.pid, &entry.device_major, &entry.device_minor, &entry.inode) == 6;
}

// The process that holds the exclusive flock of the directory, 0 where it cannot be told. Some file
// systems report another device here than stat does; then a single lock with the inode's number is
// taken for it.
pid_t FindHolder(int directory_fd) {
  struct stat attributes {};
  if (fstat(directory_fd, &attributes) != 0) return 0;
  std::unique_ptr<FILE, int (*)(FILE*)> table(std::fopen("/proc/locks", "re"), &std::fclose);
  if (table == nullptr) return 0;

  pid_t by_inode = 0;
  int by_inode_count = 0;
  char line[256];
  while (std::fgets(line, sizeof(line), table.get()) != nullptr) {
    LockEntry entry{};
    if (!ParseLockLine(line, entry) || entry.inode != attributes.st_ino) continue;
    if (std::string_view(entry.type) != "FLOCK" || std::string_view(entry.access) != "WRITE") {
      continue;
    }
    if (makedev(entry.device_major, entry.device_minor) == attributes.st_dev) return entry.pid;
    by_inode = entry.pid;
    ++by_inode_count;
  }
  return by_inode_count == 1 ? by_inode : 0;
}

Status Busy(int directory_fd, const std::string& path) {
  const pid_t holder = FindHolder(directory_fd);
  std::string who = "another process";
  if (holder > 0)
    who = (holder == getpid() ? "this process, " : "process ") + std::to_string(holder);
  return Status::Busy("directory '" + path + "' is locked by " + who);
}

}  // namespace

bool DirectoryLock::is_held() const { return descriptor_.is_open() && holder_ == getpid(); }

Status DirectoryLock::Acquire(int directory_fd, const std::string& path) {
  if (is_held()) return Status();
  Descriptor descriptor(OpenAt(directory_fd, ".", O_RDONLY | O_DIRECTORY));
  if (!descriptor.is_open()) return PosixError("lock", path, errno);
  int error = 0;
  for (int attempt = 0; flock(descriptor.fd(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
    error = errno;
    if (error == EWOULDBLOCK) return Busy(directory_fd, path);
    if (error != EINTR || attempt == kFruitlessAttemptsMax) return PosixError("lock", path, error);
  }
  descriptor_ = std::move(descriptor);
  holder_ = getpid();
  return Status();
}

void DirectoryLock::Release() {
  // Explicitly, because a child that inherited the descriptor would keep the lock alive.
  if (is_held()) flock(descriptor_.fd(), LOCK_UN);
  holder_ = 0;
}

}  // namespace tandem::base

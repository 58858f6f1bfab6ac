// flock and byte-range locks. Their holders are found in the kernel's lock table, /proc/locks.
#include "base/posix_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"

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

// A line reads "1: FLOCK ADVISORY WRITE 1234 fe:01:5678 0 EOF". A waiter's line has "->" after the
// number and is not matched.
bool ParseLockLine(const char* line, LockEntry& entry) {
  return std::sscanf(line, "%*d: %15s %*15s %15s %d %x:%x:%" SCNu64, entry.type, entry.access,
                     &entry.pid, &entry.device_major, &entry.device_minor, &entry.inode) == 6;
}

struct Holders {
  std::vector<int64_t> by_device, by_inode;  // Processes.
};

// The processes that have a flock of `access` ("READ", "WRITE") on the open file. Some file systems
// report a different device in the table than in stat; then only the inode number can be compared.
Holders FindHolders(int fd, std::string_view access) {
  Holders holders;
  struct stat attributes {};
  if (fstat(fd, &attributes) != 0) return holders;
  std::unique_ptr<FILE, int (*)(FILE*)> table(std::fopen("/proc/locks", "re"), &std::fclose);
  if (table == nullptr) return holders;

  char line[256];
  while (std::fgets(line, sizeof(line), table.get()) != nullptr) {
    LockEntry entry{};
    if (!ParseLockLine(line, entry) || entry.inode != attributes.st_ino) continue;
    if (std::string_view(entry.type) != "FLOCK" || entry.access != access) continue;
    const bool is_same = makedev(entry.device_major, entry.device_minor) == attributes.st_dev;
    (is_same ? holders.by_device : holders.by_inode).push_back(entry.pid);
  }
  return holders;
}

// The process that holds the exclusive flock of the directory; 0 if unknown.
pid_t FindHolder(int directory_fd) {
  const Holders holders = FindHolders(directory_fd, "WRITE");
  if (!holders.by_device.empty()) return static_cast<pid_t>(holders.by_device.front());
  return holders.by_inode.size() == 1 ? static_cast<pid_t>(holders.by_inode.front()) : 0;
}

Status Busy(int directory_fd, const std::string& path) {
  const pid_t holder = FindHolder(directory_fd);
  std::string who = "another process";
  if (holder > 0)
    who = (holder == getpid() ? "this process, " : "process ") + std::to_string(holder);
  return Status::Busy("directory '" + path + "' is locked by " + who);
}

// File number N, capped at kNumbersMax, is byte kNumbersFrom + N of the file that carries shared
// locks.
constexpr off_t kNumbersFrom = off_t{1} << 62;
constexpr uint64_t kNumbersMax = (uint64_t{1} << 62) - 1;

struct flock RangeOf(short type, uint64_t first, off_t count) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = kNumbersFrom + static_cast<off_t>(std::min(first, kNumbersMax));
  range.l_len = count;
  return range;
}

// Returns 0 or the errno.
int LockCall(int fd, int command, struct flock* range) {
  for (int attempt = 0; fcntl(fd, command, range) != 0; ++attempt) {
    if (errno != EINTR || attempt == kFruitlessAttemptsMax) return errno;
  }
  return 0;
}

bool IsNoLockHere(int error) {
  return error == EINVAL || error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP;
}

class PosixSharedLock final : public SharedLock {
 public:
  PosixSharedLock(Descriptor file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}

  // Locks the lower byte before it unlocks the higher one.
  Status Lower(uint64_t bound) override {
    const uint64_t last = bound == 0 ? 0 : bound - 1;
    if (last >= last_) return {};
    RETURN_IF_ERROR(Set(F_RDLCK, last));
    const uint64_t before = std::exchange(last_, last);
    return Set(F_UNLCK, before);
  }
  Status Set(short type, uint64_t number) {
    struct flock range = RangeOf(type, number, 1);
    const int error = LockCall(file_.fd(), F_OFD_SETLK, &range);
    if (error == 0) return {};
    const Status status = PosixError("lock", name_, error);
    return IsNoLockHere(error) ? Status::Unsupported(std::string(status.message())) : status;
  }
  Status SetAll() { return Set(F_RDLCK, last_); }

 private:
  const Descriptor file_;
  const std::string name_;
  uint64_t last_ = kNumbersMax;
};

}  // namespace

Result<std::unique_ptr<SharedLock>> TakeSharedLock(Descriptor file, const std::string& name) {
  const int fd = file.fd();
  auto lock = std::make_unique<PosixSharedLock>(std::move(file), name);
  RETURN_IF_ERROR(lock->SetAll());
  // Only for its line in the lock table: without it the lock holds but its holder is unknown.
  static_cast<void>(flock(fd, LOCK_SH | LOCK_NB));
  return std::unique_ptr<SharedLock>(std::move(lock));
}

Result<bool> IsCoveredByLock(int fd, const std::string& name, uint64_t number) {
  struct flock range = RangeOf(F_WRLCK, number, 0);  // To the largest offset.
  const int error = LockCall(fd, F_OFD_GETLK, &range);
  if (error == 0) return range.l_type != F_UNLCK;
  if (IsNoLockHere(error)) return false;
  return PosixError("ask for the locks of", name, error);
}

std::vector<int64_t> FindSharedHolders(int fd) {
  Holders holders = FindHolders(fd, "READ");
  std::vector<int64_t> found = std::move(holders.by_device);
  if (found.empty()) found = std::move(holders.by_inode);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool DirectoryLock::is_held() const { return descriptor_.is_open() && holder_ == getpid(); }

Status DirectoryLock::Acquire(int directory_fd, const std::string& path) {
  if (is_held()) return {};
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
  return {};
}

void DirectoryLock::Release() {
  // Explicitly, because a child that inherited the descriptor would keep the lock alive.
  if (is_held()) flock(descriptor_.fd(), LOCK_UN);
  holder_ = 0;
}

}  // namespace tandem::base

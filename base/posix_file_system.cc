// Directories over POSIX calls, and a queue that runs each request when it is submitted. Every name
// is opened relative to the directory's descriptor without following links.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <deque>

#include "base/file_system.h"
#include "base/posix_file.h"
#include "base/posix_lock.h"
#include "base/status_macros.h"

namespace tandem::base {
namespace {

constexpr mode_t kDirectoryMode = 0700;

Status SyncDescriptor(int fd, const std::string& path) {
  for (int attempt = 0; fsync(fd) != 0; ++attempt) {
    const int error = errno;
    if (!IsTransient(error) || attempt == kFruitlessAttemptsMax) {
      return PosixError("sync the directory", path, error);
    }
  }
  return {};
}

class PosixDirectory final : public Directory {
 public:
  PosixDirectory(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Result<std::unique_ptr<File>> Create(const std::string& name) override;
  Result<std::unique_ptr<File>> Open(const std::string& name, OpenMode mode) override;
  Status Remove(const std::string& name) override;
  Status Link(Directory& from, const std::string& name, const std::string& new_name) override;
  Result<bool> IsWithin(Directory& other) override;
  Result<std::vector<std::string>> List() override;
  Status Sync() override { return SyncDescriptor(fd(), path_); }
  Status Lock() override { return lock_.Acquire(fd(), path_); }
  bool HoldsLock() const override { return lock_.is_held(); }
  Result<std::unique_ptr<SharedLock>> LockShared(const std::string& name) override;
  Result<bool> IsLockedShared(const std::string& name, uint64_t number) override;
  std::vector<int64_t> SharedLockHolders(const std::string& name) override;
  Result<uint64_t> FreeSpace() override;

 private:
  int fd() const { return descriptor_.fd(); }
  Descriptor OpenToAsk(const std::string& name) const;
  bool IsRegular(const dirent& entry) const;

  Descriptor descriptor_;
  std::string path_;
  DirectoryLock lock_;
};

Result<std::unique_ptr<File>> PosixDirectory::Create(const std::string& name) {
  RETURN_IF_ERROR(CheckFileName(name));
  Descriptor file(OpenAt(fd(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW));
  if (!file.is_open()) return PosixError("create", name, errno);
  return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(file), name));
}

Result<std::unique_ptr<File>> PosixDirectory::Open(const std::string& name, OpenMode mode) {
  RETURN_IF_ERROR(CheckFileName(name));
  // Without O_NONBLOCK the open of a named pipe would wait for its other end.
  const int access = mode == OpenMode::kReadOnly ? O_RDONLY : O_RDWR;
  Descriptor file(OpenAt(fd(), name.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return PosixError("open", name, errno);
  struct stat attributes {};
  if (fstat(file.fd(), &attributes) != 0) return PosixError("open", name, errno);
  if (!S_ISREG(attributes.st_mode)) {
    return Status::IoError("cannot open '" + name + "': it is not a regular file");
  }
  // With O_NONBLOCK, rings would return EAGAIN instead of waiting.
  if (fcntl(file.fd(), F_SETFL, 0) != 0) return PosixError("open", name, errno);
  return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(file), name));
}

Status PosixDirectory::Remove(const std::string& name) {
  RETURN_IF_ERROR(CheckFileName(name));
  return unlinkat(fd(), name.c_str(), 0) == 0 ? Status() : PosixError("remove", name, errno);
}

// Whether linkat refused this pair of directories rather than this file; a copy may still succeed.
bool IsNoPlaceForLinks(int error) {
  return error == EXDEV || error == EPERM || error == EACCES || error == EMLINK ||
         error == EOPNOTSUPP || error == ENOSYS || error == EROFS;
}

Status PosixDirectory::Link(Directory& from, const std::string& name, const std::string& new_name) {
  RETURN_IF_ERROR(CheckFileName(name));
  RETURN_IF_ERROR(CheckFileName(new_name));
  const auto* source = dynamic_cast<const PosixDirectory*>(&from);
  if (source == nullptr) return Directory::Link(from, name, new_name);
  struct stat attributes {};
  if (fstatat(source->fd(), name.c_str(), &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
    return PosixError("link", name, errno);
  }
  if (!S_ISREG(attributes.st_mode)) {
    return Status::IoError("cannot link '" + name + "': it is not a regular file");
  }
  if (linkat(source->fd(), name.c_str(), fd(), new_name.c_str(), 0) == 0) return {};
  const int error = errno;
  const Status status = PosixError("link", name, error);
  return IsNoPlaceForLinks(error) ? Status::Unsupported(std::string(status.message())) : status;
}

// Walks up until it finds `other` or reaches the root, which is its own parent.
Result<bool> PosixDirectory::IsWithin(Directory& other) {
  const auto* above = dynamic_cast<const PosixDirectory*>(&other);
  if (above == nullptr) return false;
  struct stat sought {
  }, here{};
  if (fstat(above->fd(), &sought) != 0) return PosixError("look at", above->path_, errno);
  Descriptor at(OpenAt(fd(), ".", O_RDONLY | O_DIRECTORY));
  while (true) {
    if (!at.is_open() || fstat(at.fd(), &here) != 0) return PosixError("look above", path_, errno);
    if (here.st_dev == sought.st_dev && here.st_ino == sought.st_ino) return true;
    Descriptor parent(OpenAt(at.fd(), "..", O_RDONLY | O_DIRECTORY));
    struct stat next {};
    // This process could not have opened a directory above one whose parent it may not read.
    if (!parent.is_open() && errno == EACCES) return false;
    if (!parent.is_open() || fstat(parent.fd(), &next) != 0) {
      return PosixError("look above", path_, errno);
    }
    if (next.st_dev == here.st_dev && next.st_ino == here.st_ino) return false;
    at = std::move(parent);
  }
}

bool PosixDirectory::IsRegular(const dirent& entry) const {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_REG;
  struct stat attributes {};
  return fstatat(fd(), entry.d_name, &attributes, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(attributes.st_mode);
}

Result<std::vector<std::string>> PosixDirectory::List() {
  // Its own descriptor, because the read position belongs to the descriptor.
  const int list_fd = OpenAt(fd(), ".", O_RDONLY | O_DIRECTORY);
  if (list_fd < 0) return PosixError("list", path_, errno);
  std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(list_fd), &closedir);
  if (stream == nullptr) {
    const int error = errno;
    close(list_fd);
    return PosixError("list", path_, error);
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr) break;
    if (IsRegular(*entry)) names.emplace_back(entry->d_name);
  }
  if (errno != 0) return PosixError("list", path_, errno);
  return names;
}

Descriptor PosixDirectory::OpenToAsk(const std::string& name) const {
  return Descriptor(OpenAt(fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
}

Result<std::unique_ptr<SharedLock>> PosixDirectory::LockShared(const std::string& name) {
  RETURN_IF_ERROR(CheckFileName(name));
  Descriptor file = OpenToAsk(name);
  if (!file.is_open()) return PosixError("lock", name, errno);
  return TakeSharedLock(std::move(file), name);
}

Result<bool> PosixDirectory::IsLockedShared(const std::string& name, uint64_t number) {
  const Descriptor file = OpenToAsk(name);
  if (!file.is_open()) return PosixError("ask for the locks of", name, errno);
  return IsCoveredByLock(file.fd(), name, number);
}

std::vector<int64_t> PosixDirectory::SharedLockHolders(const std::string& name) {
  const Descriptor file = OpenToAsk(name);
  if (!file.is_open()) return {};
  return FindSharedHolders(file.fd());
}

Result<uint64_t> PosixDirectory::FreeSpace() {
  struct statvfs space {};
  if (fstatvfs(fd(), &space) != 0) return PosixError("get the free space of", path_, errno);
  if (space.f_blocks == 0) {
    return Status::Unsupported("the file system of '" + path_ + "' does not say what is free");
  }
  return uint64_t{space.f_bavail} * space.f_frsize;
}

// Runs requests as they are submitted and returns them in the same order.
class PosixQueue final : public IoQueue {
 public:
  void Submit(std::span<IoRequest* const> requests) override {
    for (IoRequest* request : requests) {
      RunRequest(*request);
      done_.push_back(request);
    }
  }

  IoRequest* Wait() override {
    if (done_.empty()) return nullptr;
    IoRequest* request = done_.front();
    done_.pop_front();
    return request;
  }

 private:
  std::deque<IoRequest*> done_;
};

// Makes the name of the directory durable. The parent of an existing directory is synced too,
// because an earlier process may have died between creating the directory and syncing it. In that
// case a parent that we may not read is ignored.
Status SyncParent(int directory_fd, const std::string& path, bool is_new) {
  Descriptor parent(OpenAt(directory_fd, "..", O_RDONLY | O_DIRECTORY));
  if (parent.is_open()) return SyncDescriptor(parent.fd(), path + "/..");
  return is_new ? PosixError("open the parent of", path, errno) : Status();
}

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<Directory>> OpenDirectory(const std::string& path, bool create) override {
    const bool is_new = create && mkdir(path.c_str(), kDirectoryMode) == 0;
    if (create && !is_new && errno != EEXIST) return PosixError("create directory", path, errno);
    Descriptor directory(OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY));
    if (!directory.is_open()) return PosixError("open directory", path, errno);
    if (create) RETURN_IF_ERROR(SyncParent(directory.fd(), path, is_new));
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(std::move(directory), path));
  }

  Result<std::unique_ptr<Directory>> CreateDirectory(const std::string& path) override {
    if (mkdir(path.c_str(), kDirectoryMode) != 0) {
      return PosixError("create directory", path, errno);
    }
    // O_NOFOLLOW, in case somebody has replaced it with a link since.
    Descriptor directory(OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (!directory.is_open()) return PosixError("open directory", path, errno);
    RETURN_IF_ERROR(SyncParent(directory.fd(), path, true));
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(std::move(directory), path));
  }

  Status RemoveDirectory(const std::string& path) override {
    return rmdir(path.c_str()) == 0 ? Status() : PosixError("remove directory", path, errno);
  }

  std::unique_ptr<IoQueue> NewQueue(uint32_t) override { return std::make_unique<PosixQueue>(); }
  std::string_view name() const override { return "posix"; }
};

}  // namespace

// If the system does not report a limit, assumes a conservative one.
uint64_t OpenFilesLimit() {
  constexpr uint64_t kCareful = 256;
  struct rlimit limit {};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : kCareful;
}

std::unique_ptr<FileSystem> NewPosixFileSystem() { return std::make_unique<PosixFileSystem>(); }

}  // namespace tandem::base

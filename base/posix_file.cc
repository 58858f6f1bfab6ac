// One file over pread, pwrite, fdatasync, sync_file_range, ftruncate, fallocate, mincore and
// posix_fadvise.
#include "base/posix_file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

namespace tandem::base {
namespace {

constexpr mode_t kFileMode = 0600;

// Repeats a call that transfers nothing (sync, truncate, ...) while it is interrupted. Returns 0 or
// the errno.
template <typename Call>
int Repeat(Call call) {
  for (int attempt = 0;; ++attempt) {
    if (call() == 0) return 0;
    const int error = errno;
    if (!IsTransient(error) || attempt == kFruitlessAttemptsMax) return error;
    sched_yield();
  }
}

// Repeats `call(done)`, which transfers bytes from `done` on, until `size` bytes are done or it
// returns 0. Returns 0 or the errno; `done` is the number of bytes transferred in either case.
template <typename Call>
int Transfer(size_t size, size_t& done, Call call) {
  int fruitless = 0;
  while (done < size) {
    const ssize_t count = call(done);
    if (count > 0) {
      done += static_cast<size_t>(count);
      fruitless = 0;
      continue;
    }
    if (count == 0) return 0;
    const int error = errno;
    if (!IsTransient(error) || ++fruitless > kFruitlessAttemptsMax) return error;
    sched_yield();
  }
  return 0;
}

// Whether the file system, or the kernel, does not have the call.
bool IsUnknownHere(int error) { return error == EOPNOTSUPP || error == ENOSYS; }

StatusCode CodeOf(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return StatusCode::kNoSpace;
    case ENOENT:
      return StatusCode::kNotFound;
    case EEXIST:
      return StatusCode::kAlreadyExists;
    case EMFILE:
    case ENFILE:
    case EINTR:
    case EAGAIN:
      return StatusCode::kUnavailable;
    case ENOMEM:
      return StatusCode::kOutOfMemory;
    default:
      return StatusCode::kIoError;
  }
}

}  // namespace

bool IsTransient(int error) { return error == EINTR || error == EAGAIN; }

Status PosixError(std::string_view action, std::string_view name, int error) {
  std::string message = "cannot ";
  message.append(action).append(" '").append(name).append("': ");
  message += std::generic_category().message(error);
  return Status(CodeOf(error), std::move(message));
}

std::string ActionAt(std::string_view verb, uint64_t offset) {
  return std::string(verb) + " at offset " + std::to_string(offset) + " of";
}

int OpenAt(int directory_fd, const char* name, int flags) {
  int fd;
  int attempt = 0;
  do {
    fd = openat(directory_fd, name, flags | O_CLOEXEC, kFileMode);
  } while (fd < 0 && errno == EINTR && ++attempt < kFruitlessAttemptsMax);
  return fd;
}

Descriptor::~Descriptor() {
  if (is_open()) close(fd_);
}

Result<size_t> PosixFile::Read(uint64_t offset, std::span<char> buffer) {
  size_t done = 0;
  const int error = Transfer(buffer.size(), done, [&](size_t from) {
    return pread(fd(), buffer.data() + from, buffer.size() - from,
                 static_cast<off_t>(offset + from));
  });
  if (error != 0) return PosixError(ActionAt("read", offset + done), name_, error);
  return done;
}

Status PosixFile::Write(uint64_t offset, std::string_view data) {
  size_t done = 0;
  const int error = Transfer(data.size(), done, [&](size_t from) {
    return pwrite(fd(), data.data() + from, data.size() - from, static_cast<off_t>(offset + from));
  });
  if (error != 0) return PosixError(ActionAt("write", offset + done), name_, error);
  if (done < data.size()) return PosixError(ActionAt("write", offset + done), name_, EIO);
  return {};
}

Status PosixFile::DataSync() {
  const int error = Repeat([&] { return fdatasync(fd()); });
  return error == 0 ? Status() : PosixError("sync", name_, error);
}

// No flag to wait: a wait would consume the error that fdatasync has to see.
Status PosixFile::StartWriteBack(uint64_t offset, uint64_t size_bytes) {
  const int error = Repeat([&] {
    return sync_file_range(fd(), static_cast<off_t>(offset), static_cast<off_t>(size_bytes),
                           SYNC_FILE_RANGE_WRITE);
  });
  if (error == 0 || IsUnknownHere(error)) return {};
  return PosixError("begin to write back", name_, error);
}

Result<uint64_t> PosixFile::Size() {
  struct stat attributes {};
  if (fstat(fd(), &attributes) != 0) return PosixError("get the size of", name_, errno);
  return static_cast<uint64_t>(attributes.st_size);
}

Status PosixFile::Truncate(uint64_t size_bytes) {
  const int error = Repeat([&] { return ftruncate(fd(), static_cast<off_t>(size_bytes)); });
  return error == 0 ? Status() : PosixError("truncate", name_, error);
}

Status PosixFile::Preallocate(uint64_t size_bytes) {
  if (size_bytes == 0) return {};
  const int error = Repeat(
      [&] { return fallocate(fd(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size_bytes)); });
  if (error == 0 || IsUnknownHere(error)) return {};
  return PosixError("reserve space for", name_, error);
}

// ftruncate would make a file shorter that a write has made longer meanwhile.
Status PosixFile::Extend(uint64_t size_bytes) {
  const int error = Repeat([&] { return fallocate(fd(), 0, 0, static_cast<off_t>(size_bytes)); });
  if (error == 0) return Status();
  if (IsUnknownHere(error)) return Status::Unsupported("the file system cannot extend " + name_);
  return PosixError("extend", name_, error);
}

// A mapping is the way to ask about pages by number; its pages are not touched. (To a process that
// may not write the file, all of them seem to be there.)
std::vector<bool> PosixFile::CachedPages(uint64_t offset, uint64_t size_bytes) {
  static const bool pages_are_ours = sysconf(_SC_PAGESIZE) == long{kCachePageBytes};
  if (!pages_are_ours || size_bytes == 0) return {};
  const size_t count = (size_bytes + kCachePageBytes - 1) / kCachePageBytes;
  const auto found = std::make_unique_for_overwrite<unsigned char[]>(count);
  std::vector<bool> pages(count);
  void* const mapped =
      mmap(nullptr, size_bytes, PROT_NONE, MAP_SHARED, fd(), static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return {};
  const int error = Repeat([&] { return mincore(mapped, size_bytes, found.get()); });
  munmap(mapped, size_bytes);
  if (error != 0) return {};
  for (size_t i = 0; i < count; ++i) pages[i] = (found[i] & 1) != 0;
  return pages;
}

void PosixFile::DropCached(uint64_t offset, uint64_t size_bytes) {
  if (size_bytes == 0) return;  // That would mean the rest of the file.
  (void)posix_fadvise(fd(), static_cast<off_t>(offset), static_cast<off_t>(size_bytes),
                      POSIX_FADV_DONTNEED);
}

Status PosixFile::AwaitWriteBack(uint64_t offset, uint64_t size_bytes) {
  const int error = Repeat([&] {
    return sync_file_range(fd(), static_cast<off_t>(offset), static_cast<off_t>(size_bytes),
                           SYNC_FILE_RANGE_WAIT_BEFORE);
  });
  if (error == 0 || IsUnknownHere(error)) return {};
  return PosixError("write back", name_, error);
}

}  // namespace tandem::base

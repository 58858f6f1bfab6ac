// See emulated_calls.h.
#include "test/reliability/emulated_calls.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace tandem::reliability {
namespace {

thread_local EmulatedCalls* calls_of_thread = nullptr;

int ErrnoOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kNoSpace:
      return ENOSPC;
    case StatusCode::kNotFound:
      return ENOENT;
    case StatusCode::kAlreadyExists:
      return EEXIST;
    case StatusCode::kBusy:
      return EWOULDBLOCK;
    default:
      return EIO;
  }
}

int Fail(int error) {
  errno = error;
  return -1;
}

int Answer(const Status& status) { return status.ok() ? 0 : Fail(ErrnoOf(status)); }

// What a transfer of `size` bytes moves.
size_t LengthOf(size_t size, bool is_short) { return is_short && size > 1 ? size / 2 : size; }

}  // namespace

const char* EmulatedCallName(EmulatedCall call) {
  constexpr const char* kNames[] = {"mkdir",    "open",        "create", "open of a directory",
                                    "read",     "write",       "sync",   "directory sync",
                                    "truncate", "preallocate", "extend", "remove",
                                    "list",     "attributes",  "lock"};
  return kNames[static_cast<size_t>(call)];
}

EmulatedCalls::EmulatedCalls(test::SimulatedDisk* disk) : disk_(*disk) {
  CHECK(calls_of_thread == nullptr);
  calls_of_thread = this;
}

EmulatedCalls::~EmulatedCalls() { calls_of_thread = nullptr; }

EmulatedCalls* EmulatedCalls::OfThisThread() { return calls_of_thread; }

EmulatedCalls::Verdict EmulatedCalls::Judge(EmulatedCall call) {
  ++call_count_;
  Verdict verdict;
  for (auto fault = faults_.begin(); fault != faults_.end();) {
    const bool concerns =
        fault->calls.empty() || std::count(fault->calls.begin(), fault->calls.end(), call) > 0;
    if (!concerns || fault->at > 1) {
      if (concerns) --fault->at;
      ++fault;
      continue;
    }
    has_struck_ = true;
    if (fault->error != 0) verdict.error = fault->error;
    verdict.is_short = verdict.is_short || fault->error == 0;
    fault = fault->sticky ? fault + 1 : faults_.erase(fault);
  }
  return verdict;
}

int EmulatedCalls::Add(Handle handle) {
  handles_.emplace(next_fd_, std::move(handle));
  return next_fd_++;
}

EmulatedCalls::Handle* EmulatedCalls::Find(int fd) {
  const auto found = handles_.find(fd);
  CHECK(found != handles_.end());  // No descriptor is used after it was closed.
  return &found->second;
}

int EmulatedCalls::MakeDirectory(const char* path) {
  if (const int error = Judge(EmulatedCall::kMakeDirectory).error; error != 0) return Fail(error);
  if (disk_.OpenDirectory(path, false).has_value()) return Fail(EEXIST);
  return Answer(disk_.OpenDirectory(path, true).status());
}

int EmulatedCalls::OpenAt(int directory_fd, const char* name, int flags) {
  const bool is_directory = (flags & O_DIRECTORY) != 0;
  const EmulatedCall call = is_directory             ? EmulatedCall::kOpenDirectory
                            : (flags & O_CREAT) != 0 ? EmulatedCall::kCreate
                                                     : EmulatedCall::kOpen;
  if (const int error = Judge(call).error; error != 0) return Fail(error);
  if (directory_fd == AT_FDCWD) return OpenPath(name);
  Handle* const directory = Find(directory_fd);
  if (!is_directory) return OpenFile(directory, name, flags);
  // The parent of a database is no directory of the disk: whatever is in it is durable.
  if (std::strcmp(name, "..") == 0) return Add({.path = directory->path + "/.."});
  return OpenPath(directory->path);
}

int EmulatedCalls::OpenPath(const std::string& path) {
  auto directory = disk_.OpenDirectory(path, false);
  if (!directory.has_value()) return Answer(directory.error());
  return Add({.directory = *std::move(directory), .path = path});
}

int EmulatedCalls::OpenFile(Handle* directory, const char* name, int flags) {
  const bool is_read_only = (flags & O_ACCMODE) == O_RDONLY;
  auto file = (flags & O_CREAT) != 0
                  ? directory->directory->Create(name)
                  : directory->directory->Open(name, is_read_only ? base::OpenMode::kReadOnly
                                                                  : base::OpenMode::kReadWrite);
  if (!file.has_value()) return Answer(file.error());
  return Add({.file = *std::move(file)});
}

int EmulatedCalls::Close(int fd) {
  CHECK(handles_.erase(fd) == 1);  // Nothing is closed twice.
  return 0;
}

ssize_t EmulatedCalls::Read(int fd, uint64_t offset, std::span<char> buffer) {
  const Verdict verdict = Judge(EmulatedCall::kRead);
  if (verdict.error != 0) return Fail(verdict.error);
  const auto count =
      Find(fd)->file->Read(offset, buffer.first(LengthOf(buffer.size(), verdict.is_short)));
  return count.has_value() ? static_cast<ssize_t>(*count) : Fail(ErrnoOf(count.error()));
}

ssize_t EmulatedCalls::Write(int fd, uint64_t offset, std::string_view data) {
  const Verdict verdict = Judge(EmulatedCall::kWrite);
  if (verdict.error != 0) return Fail(verdict.error);
  const std::string_view part = data.substr(0, LengthOf(data.size(), verdict.is_short));
  const Status status = Find(fd)->file->Write(offset, part);
  return status.ok() ? static_cast<ssize_t>(part.size()) : Fail(ErrnoOf(status));
}

int EmulatedCalls::Sync(int fd) {
  Handle* const handle = Find(fd);
  const bool is_file = handle->file != nullptr;
  const int error = Judge(is_file ? EmulatedCall::kSync : EmulatedCall::kDirectorySync).error;
  const bool is_of_disk = error == EIO || error == ENOSPC;
  if (error != 0 && !is_of_disk) return Fail(error);
  if (!is_file && handle->directory == nullptr) return error == 0 ? 0 : Fail(error);
  if (error != 0) {
    disk_.control().InjectFault(
        {.status = error == ENOSPC ? Status::NoSpace("injected") : Status::IoError("injected")});
  }
  return Answer(is_file ? handle->file->DataSync() : handle->directory->Sync());
}

int EmulatedCalls::Truncate(int fd, uint64_t size_bytes) {
  if (const int error = Judge(EmulatedCall::kTruncate).error; error != 0) return Fail(error);
  return Answer(Find(fd)->file->Truncate(size_bytes));
}

int EmulatedCalls::Preallocate(int fd, uint64_t size_bytes) {
  if (const int error = Judge(EmulatedCall::kPreallocate).error; error != 0) return Fail(error);
  return Answer(Find(fd)->file->Preallocate(size_bytes));
}

int EmulatedCalls::Extend(int fd, uint64_t size_bytes) {
  if (const int error = Judge(EmulatedCall::kExtend).error; error != 0) return Fail(error);
  return Answer(Find(fd)->file->Extend(size_bytes));
}

int EmulatedCalls::Attributes(int fd, struct stat* attributes) {
  if (const int error = Judge(EmulatedCall::kAttributes).error; error != 0) return Fail(error);
  *attributes = {};
  const Handle* const handle = Find(fd);
  attributes->st_mode = handle->file != nullptr ? S_IFREG | 0600 : S_IFDIR | 0700;
  // All directories have one parent, which is its own.
  attributes->st_ino =
      handle->path.ends_with("..") ? 0 : std::hash<std::string>()(handle->path) | 1;
  if (handle->file == nullptr) return 0;
  const auto size = handle->file->Size();
  if (!size.has_value()) return Answer(size.error());
  attributes->st_size = static_cast<off_t>(*size);
  return 0;
}

int EmulatedCalls::Space(int fd, struct statvfs* figures) {
  if (const int error = Judge(EmulatedCall::kAttributes).error; error != 0) return Fail(error);
  const auto free = Find(fd)->directory->FreeSpace();
  if (!free.has_value()) return Answer(free.error());
  *figures = {};
  figures->f_frsize = 1;
  figures->f_blocks = *free + 1;  // A disk of no blocks says nothing.
  figures->f_bavail = *free;
  return 0;
}

int EmulatedCalls::Remove(int directory_fd, const char* name) {
  if (const int error = Judge(EmulatedCall::kRemove).error; error != 0) return Fail(error);
  return Answer(Find(directory_fd)->directory->Remove(name));
}

int EmulatedCalls::Lock(int fd) {
  if (const int error = Judge(EmulatedCall::kLock).error; error != 0) return Fail(error);
  return Answer(Find(fd)->directory->Lock());
}

DIR* EmulatedCalls::List(int fd) {
  const int error = Judge(EmulatedCall::kList).error;
  auto names = error == 0 ? Find(fd)->directory->List() : Status::IoError("injected");
  if (!names.has_value()) {
    errno = error != 0 ? error : ErrnoOf(names.error());
    return nullptr;
  }
  auto listing = std::make_unique<Listing>();
  listing->fd = fd;
  listing->names = *std::move(names);
  DIR* const stream = reinterpret_cast<DIR*>(listing.get());
  listings_.emplace(stream, std::move(listing));
  return stream;
}

dirent* EmulatedCalls::NextEntry(DIR* stream) {
  if (const int error = Judge(EmulatedCall::kList).error; error != 0) {
    errno = error;
    return nullptr;
  }
  Listing& listing = *listings_.at(stream);
  if (listing.next == listing.names.size()) return nullptr;
  const std::string& name = listing.names[listing.next++];
  CHECK(name.size() < sizeof(listing.entry.d_name));
  std::memcpy(listing.entry.d_name, name.c_str(), name.size() + 1);
  listing.entry.d_type = DT_REG;
  return &listing.entry;
}

int EmulatedCalls::EndList(DIR* stream) {
  const int fd = listings_.at(stream)->fd;
  listings_.erase(stream);
  return Close(fd);
}

}  // namespace tandem::reliability

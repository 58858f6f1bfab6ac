// The system calls of the POSIX back end, answered by a simulated disk. While one exists, whatever
// base/ asks of the kernel on its thread goes to it instead, so that the code which repeats and
// continues calls runs on a disk that fails and loses its power:
//
//   SimulatedDisk disk;
//   EmulatedCalls calls(&disk);
//   calls.Inject({.calls = {EmulatedCall::kSync}, .at = 3, .error = EINTR});
//   const auto files = base::NewPosixFileSystem();
//
// Programs with it are linked so that the calls come here first (WRAPPED_CALLS in test/test.mk);
// all other threads use the kernel.
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::reliability {

enum class EmulatedCall : uint8_t {
  kMakeDirectory,
  kOpen,
  kCreate,
  kOpenDirectory,
  kRead,
  kWrite,
  kSync,
  kDirectorySync,
  kTruncate,
  kPreallocate,
  kExtend,
  kRemove,
  kList,
  kAttributes,
  kLock,
};

/// "write", "directory sync", ...
const char* EmulatedCallName(EmulatedCall call);

/// A call that goes wrong.
struct CallFault {
  std::vector<EmulatedCall> calls{};  ///< That count and can fail; empty means all.
  uint64_t at = 1;                    ///< The at-th of them from now fails; 1 is the next.
  bool sticky = false;                ///< All of them after it fail too.
  /// Its errno; 0: it transfers half of what was asked, at least a byte. Of a sync that fails with
  /// EIO or ENOSPC the disk learns; all other errors leave no trace on it.
  int error = EIO;
};

/// Threads: one. At most one exists on a thread.
class EmulatedCalls {
 public:
  /// `disk` outlives it.
  explicit EmulatedCalls(test::SimulatedDisk* disk);
  ~EmulatedCalls();
  EmulatedCalls(const EmulatedCalls&) = delete;
  EmulatedCalls& operator=(const EmulatedCalls&) = delete;
  /// nullptr where there is none.
  static EmulatedCalls* OfThisThread();

  void Inject(CallFault fault) { faults_.push_back(std::move(fault)); }
  void ClearFaults() { faults_.clear(); }
  bool has_struck() const { return has_struck_; }
  uint64_t call_count() const { return call_count_; }
  /// Descriptors that nobody has closed.
  size_t open_count() const { return handles_.size(); }

  /// Whether it gave this descriptor out.
  static bool Owns(int fd) { return fd >= kFirstDescriptor; }
  bool Owns(DIR* stream) const { return listings_.contains(stream); }

  // As the system's: -1 (or nullptr) with errno set where they fail.
  int MakeDirectory(const char* path);
  int OpenAt(int directory_fd, const char* name, int flags);
  int Close(int fd);
  ssize_t Read(int fd, uint64_t offset, std::span<char> buffer);
  ssize_t Write(int fd, uint64_t offset, std::string_view data);
  int Sync(int fd);
  int Truncate(int fd, uint64_t size_bytes);
  int Preallocate(int fd, uint64_t size_bytes);
  int Extend(int fd, uint64_t size_bytes);
  int Attributes(int fd, struct stat* attributes);
  int Space(int fd, struct statvfs* figures);
  int Remove(int directory_fd, const char* name);
  int Lock(int fd);
  DIR* List(int fd);
  dirent* NextEntry(DIR* stream);
  int EndList(DIR* stream);

 private:
  static constexpr int kFirstDescriptor = 1 << 28;
  struct Handle {
    std::unique_ptr<base::File> file{};            ///< Of a file.
    std::unique_ptr<base::Directory> directory{};  ///< Of a directory that the disk has.
    std::string path{};                            ///< Of a directory.
  };
  struct Listing {
    int fd = -1;
    std::vector<std::string> names;
    size_t next = 0;
    dirent entry{};
  };
  struct Verdict {
    int error = 0;
    bool is_short = false;
  };

  Verdict Judge(EmulatedCall call);
  int OpenFile(Handle* directory, const char* name, int flags);
  int OpenPath(const std::string& path);
  int Add(Handle handle);
  Handle* Find(int fd);

  test::SimulatedDisk& disk_;
  std::vector<CallFault> faults_;
  bool has_struck_ = false;
  uint64_t call_count_ = 0;
  int next_fd_ = kFirstDescriptor;
  std::map<int, Handle> handles_;
  std::map<DIR*, std::unique_ptr<Listing>> listings_;
};

}  // namespace tandem::reliability

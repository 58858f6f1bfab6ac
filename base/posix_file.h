// Files over POSIX calls, and the code that the POSIX and io_uring back ends share: ownership of
// descriptors, error messages, and which errors are retried.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"

namespace tandem::base {

/// How often an operation that is interrupted or refused for now is retried without progress. There
/// is a limit so that a disk that always answers this way causes an error, not a hang.
inline constexpr int kFruitlessAttemptsMax = 1000;

/// Whether the operation should be retried after `error` (an errno).
bool IsTransient(int error);

/// The Status for an errno: kNoSpace for a full disk or quota, kNotFound and kAlreadyExists for
/// names, kUnavailable and kOutOfMemory for temporary errors (passing.h), kIoError for the rest.
/// The message is "cannot <action> '<name>': <the system's text>".
Status PosixError(std::string_view action, std::string_view name, int error);

/// "read at offset 4096": the action of an error in the middle of a file.
std::string ActionAt(std::string_view verb, uint64_t offset);

/// openat() with O_CLOEXEC and mode 0600, retried when interrupted. Returns a descriptor, or -1
/// with errno set.
int OpenAt(int directory_fd, const char* name, int flags);

/// Owns a file descriptor and closes it. Closing syncs nothing.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string name)
      : descriptor_(std::move(descriptor)), name_(std::move(name)) {}

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override;
  Status Write(uint64_t offset, std::string_view data) override;
  Status DataSync() override;
  Status StartWriteBack(uint64_t offset, uint64_t size_bytes) override;
  Result<uint64_t> Size() override;
  Status Truncate(uint64_t size_bytes) override;
  Status Preallocate(uint64_t size_bytes) override;
  Status Extend(uint64_t size_bytes) override;
  std::vector<bool> CachedPages(uint64_t offset, uint64_t size_bytes) override;
  void DropCached(uint64_t offset, uint64_t size_bytes) override;
  Status AwaitWriteBack(uint64_t offset, uint64_t size_bytes) override;
  const std::string& name() const override { return name_; }

  int fd() const { return descriptor_.fd(); }

 private:
  Descriptor descriptor_;
  std::string name_;
};

}  // namespace tandem::base

// Files over POSIX calls, and what the POSIX and the io_uring back end share: the descriptor's
// owner, error texts, and which errors ask for a repetition.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_system.h"

namespace tandem::base {

/// How often an operation is repeated that was interrupted or refused for now and made no progress
/// in between. A limit at all, because a disk that always answers so must give an error, not a
/// hang.
inline constexpr int kFruitlessAttemptsMax = 1000;

/// Whether `error` (an errno) asks to repeat the operation.
bool IsTransient(int error);

/// The Status for an errno: kNoSpace for a full disk or quota, kNotFound and kAlreadyExists for
/// names, kUnavailable and kOutOfMemory for what may pass (passing.h), kIoError for the rest. The
/// message is "cannot <action> '<name>': <the system's text>".
Status PosixError(std::string_view action, std::string_view name, int error);

/// "read at offset 4096": the action of an error in the middle of a file.
std::string ActionAt(std::string_view verb, uint64_t offset);

/// openat() for this process alone, mode 0600, repeated while it is interrupted. Returns a
/// descriptor, or -1 with errno set.
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
  Result<uint64_t> Size() override;
  Status Truncate(uint64_t size_bytes) override;
  Status Preallocate(uint64_t size_bytes) override;
  const std::string& name() const override { return name_; }

  int fd() const { return descriptor_.fd(); }

 private:
  Descriptor descriptor_;
  std::string name_;
};

}  // namespace tandem::base

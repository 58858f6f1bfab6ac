// Input of the program: files and standard input, read front to back through one buffer in which a
// whole record fits, so that readers return views instead of copies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tandem/limits.h"
#include "tandem/status.h"

namespace tandem::tools {

struct CloseFile {
  void operator()(std::FILE* file) const;
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

/// Opens a file for reading. Errors: kNotFound, kIoError.
Result<OwnedFile> OpenInput(const std::string& path);
/// The whole content of a file. Errors: kNotFound, kIoError; kInvalidArgument when it is larger
/// than `size_bytes_max`.
Result<std::string> ReadWholeFile(const std::string& path, size_t size_bytes_max);

/// The largest record that a reader takes; a larger one is malformed. The largest value fits, each
/// byte of it as an escape of four.
inline constexpr size_t kRecordBytesMax =
    std::max<size_t>(16 * 1024 * 1024, 4 * kValueBytesMax + 1024 * 1024);

/// A window that slides over a stream. Threads: one at a time.
class InputBuffer {
 public:
  /// `file` outlives the buffer, which is its only reader; `name` is for messages. `read_bytes` are
  /// asked for at a time.
  InputBuffer(std::FILE* file, std::string name, size_t read_bytes = 256 * 1024);

  /// What was read and not yet consumed. Lifetime: until the next Fill.
  std::span<char> window() { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Reads more after the window; false at the end of the stream. One byte after the window may
  /// always be written. Errors: kIoError, kCancelled when a signal ended the read.
  Result<bool> Fill();
  /// Drops the first `count` bytes of the window.
  void Consume(size_t count);

  const std::string& name() const { return name_; }
  uint64_t consumed_bytes() const { return consumed_bytes_; }
  /// What a regular file held when the buffer was made, from its place on; otherwise 0.
  uint64_t total_bytes() const { return total_bytes_; }

 private:
  void MakeRoom();

  std::FILE* file_;
  std::string name_;
  size_t read_bytes_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0, end_ = 0;
  uint64_t consumed_bytes_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace tandem::tools

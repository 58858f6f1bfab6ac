// Input over stdio. The buffer keeps what was not consumed, moves it to its front when room is
// needed, and doubles when a record does not fit.
#include "tools/tandem/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

Status SystemError(const std::string& name, int error) {
  const std::string message = Format("{}: {}", name, std::strerror(error));
  return error == ENOENT ? Status::NotFound(message) : Status::IoError(message);
}

}  // namespace

void CloseFile::operator()(std::FILE* file) const { std::fclose(file); }

Result<OwnedFile> OpenInput(const std::string& path) {
  OwnedFile file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return SystemError(path, errno);
  struct stat status {};
  if (fstat(fileno(file.get()), &status) == 0 && S_ISDIR(status.st_mode)) {
    return SystemError(path, EISDIR);
  }
  return file;
}

Result<std::string> ReadWholeFile(const std::string& path, size_t size_bytes_max) {
  ASSIGN_OR_RETURN(OwnedFile file, OpenInput(path));
  InputBuffer buffer(file.get(), path);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, buffer.Fill());
    if (buffer.window().size() > size_bytes_max) {
      return Status::InvalidArgument(
          Format("{}: more than {} bytes, the most that is allowed here", path, size_bytes_max));
    }
    if (!more) return std::string(buffer.window().begin(), buffer.window().end());
  }
}

InputBuffer::InputBuffer(std::FILE* file, std::string name, size_t read_bytes)
    : file_(file), name_(std::move(name)), read_bytes_(read_bytes) {
  struct stat status {};
  const int descriptor = fileno(file);
  if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  // Of standard input somebody may have read a part.
  const off_t offset = lseek(descriptor, 0, SEEK_CUR);
  if (offset < status.st_size) total_bytes_ = static_cast<uint64_t>(status.st_size - offset);
}

Result<bool> InputBuffer::Fill() {
  MakeRoom();
  char* const to = buffer_.get() + end_;
  ssize_t count = 0;
  if (fileno(file_) >= 0) {
    // What a pipe holds now: fread would wait until the buffer is full.
    count = read(fileno(file_), to, read_bytes_);
  } else {
    count = static_cast<ssize_t>(std::fread(to, 1, read_bytes_, file_));
  }
  if (count < 0 && errno == EINTR) return Status::Cancelled(name_ + ": interrupted");
  if (count < 0) return SystemError(name_, errno);
  end_ += static_cast<size_t>(count);
  return count > 0;
}

void InputBuffer::Consume(size_t count) {
  begin_ += count;
  consumed_bytes_ += count;
}

void InputBuffer::MakeRoom() {
  const size_t kept = end_ - begin_;
  if (capacity_ - end_ > read_bytes_ && capacity_ > 0) return;
  if (kept + read_bytes_ + 1 > capacity_ / 2) {
    const size_t capacity = 2 * (kept + read_bytes_ + 1);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (kept > 0) std::memcpy(larger.get(), buffer_.get() + begin_, kept);
    buffer_ = std::move(larger);
    capacity_ = capacity;
  } else {
    std::memmove(buffer_.get(), buffer_.get() + begin_, kept);
  }
  begin_ = 0;
  end_ = kept;
}

}  // namespace tandem::tools

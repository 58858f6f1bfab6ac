// Output over stdio.
#include "tools/tandem/output_file.h"

#include <cerrno>
#include <cstring>

#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

Status SystemError(const std::string& name, int error) {
  std::string message = Format("{}: {}", name, std::strerror(error));
  if (error == ENOENT) return Status::NotFound(std::move(message));
  if (error == ENOSPC) return Status::NoSpace(std::move(message));
  return Status::IoError(std::move(message));
}

}  // namespace

Result<OutputFile> OutputFile::Open(const std::string& path, const Context& context) {
  if (path == "-") return OutputFile("standard output", nullptr, context.out);
  OwnedFile file(std::fopen(path.c_str(), "wbe"));
  if (file == nullptr) return SystemError(path, errno);
  std::FILE* const stream = file.get();
  return OutputFile(path, std::move(file), stream);
}

Result<OutputFile> OutputFile::Append(const std::string& path, const Context& context) {
  if (path.empty()) return OutputFile("standard error", nullptr, context.err);
  OwnedFile file(std::fopen(path.c_str(), "abe"));
  if (file == nullptr) return SystemError(path, errno);
  std::FILE* const stream = file.get();
  return OutputFile(path, std::move(file), stream);
}

Status OutputFile::Close() {
  const bool failed_before = std::ferror(stream_) != 0;
  if (std::fflush(stream_) != 0) return SystemError(name_, errno);
  if (failed_before) return Status::IoError(name_ + ": write failed");
  owned_.reset();
  return {};
}

}  // namespace tandem::tools

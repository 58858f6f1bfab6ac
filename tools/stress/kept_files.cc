// See kept_files.h.
#include "tools/stress/kept_files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/status_macros.h"

namespace tandem::stress {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

Status ErrnoError(const std::string& path) {
  const std::string message = path + ": " + std::strerror(errno);
  return errno == ENOENT ? Status::NotFound(message) : Status::IoError(message);
}

}  // namespace

Status KeepFiles(test::SimulatedDisk* disk, const std::string& path, const std::string& to) {
  disk->control().ClearFaults();
  disk->control().PowerOn();
  const auto directory = disk->OpenDirectory(path, false);
  if (!directory.has_value()) return {};  // It was never made: there is nothing to keep.
  ASSIGN_OR_RETURN(const auto names, (*directory)->List());
  std::error_code error;
  std::filesystem::create_directories(to, error);
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const std::string content, disk->Content(path, name));
    RETURN_IF_ERROR(WriteText(to + "/" + name, content));
  }
  return {};
}

Result<std::string> ReadText(const std::string& path) {
  const OwnedFile file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return ErrnoError(path);
  std::string text;
  char buffer[1 << 16];
  while (const size_t count = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    text.append(buffer, count);
  }
  if (std::ferror(file.get()) != 0) return ErrnoError(path);
  return text;
}

Status WriteText(const std::string& path, std::string_view text) {
  const OwnedFile file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return ErrnoError(path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  return written && std::fflush(file.get()) == 0 ? Status() : ErrnoError(path);
}

Status MakeEmptyDirectory(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    if (std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error)) {
      return {};
    }
    return Status::AlreadyExists(
        path +
        ": exists and is not an empty directory; remove it, name another or, "
        "after a run of threads or kills, add --keep-going");
  }
  std::filesystem::create_directories(path, error);
  return error ? Status::IoError(path + ": " + error.message()) : Status();
}

Status CopyTree(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive, error);
  return error ? Status::IoError(to + ": " + error.message()) : Status();
}

Status RemoveTree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return error ? Status::IoError(path + ": " + error.message()) : Status();
}

}  // namespace tandem::stress

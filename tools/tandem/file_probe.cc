// A path is cut into a directory and a name, as the file system seam takes them.
#include "tools/tandem/file_probe.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/status_macros.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

constexpr size_t kKindOffset = 8;

}  // namespace

Result<ProbedFile> ProbeFile(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  // "/ROOT" lies in "/", "ROOT" in ".".
  const std::string directory =
      slash == std::string::npos ? std::string(".") : path.substr(0, std::max<size_t>(slash, 1));
  if (name.empty() || IsDirectory(path)) {
    return Status::InvalidArgument(path + ": expected one file of a database, found a directory");
  }
  ProbedFile probed;
  probed.file_system = base::NewPosixFileSystem();
  ASSIGN_OR_RETURN(probed.directory, probed.file_system->OpenDirectory(directory, false));
  auto file = probed.directory->Open(name, base::OpenMode::kReadOnly);
  if (!file.has_value()) {
    return Status(file.error().code(), Format("{}: {}", path, file.error().message()));
  }
  probed.file = std::move(*file);
  ASSIGN_OR_RETURN(probed.size_bytes, probed.file->Size());
  char bytes[format::kFileHeaderBytes] = {};
  ASSIGN_OR_RETURN(const size_t count, probed.file->Read(0, bytes));
  const auto kind = static_cast<format::FileKind>(bytes[kKindOffset]);
  ASSIGN_OR_RETURN(probed.header, format::DecodeFileHeader({bytes, count}, kind, path));
  return probed;
}

bool IsDirectory(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool IsRegularFile(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::string_view FileKindName(format::FileKind kind) {
  switch (kind) {
    case format::FileKind::kRoot:
      return "ROOT";
    case format::FileKind::kManifest:
      return "manifest";
    case format::FileKind::kLog:
      return "log segment";
    case format::FileKind::kStore:
      return "store file";
    case format::FileKind::kDead:
      return "dead bitmaps";
    case format::FileKind::kBackup:
      return "record of a backup";
  }
  return "unknown";
}

}  // namespace tandem::tools

// Opening one file of a database by its path, with nothing around it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "format/file_header.h"
#include "tandem/status.h"

namespace tandem::tools {

/// A file whose header was read and is sound.
struct ProbedFile {
  std::unique_ptr<base::FileSystem> file_system;
  std::unique_ptr<base::Directory> directory;
  std::unique_ptr<base::File> file;
  format::FileHeader header;
  uint64_t size_bytes = 0;
};

/// Opens `path` and recognises its kind by magic and kind byte. Errors: kNotFound, kIoError;
/// kCorruption when it is no file of a database or its header is damaged; kUnsupported.
Result<ProbedFile> ProbeFile(const std::string& path);
bool IsDirectory(const std::string& path);
bool IsRegularFile(const std::string& path);

/// "ROOT", "manifest", "log segment", "store file".
std::string_view FileKindName(format::FileKind kind);

}  // namespace tandem::tools

// Where a verb writes its data: standard output, or a file that the user names.
#pragma once

#include <cstdio>
#include <string>

#include "tandem/status.h"
#include "tools/tandem/context.h"
#include "tools/tandem/input.h"

namespace tandem::tools {

/// Threads: one at a time.
class OutputFile {
 public:
  /// "-" is standard output; a file that exists is written over. Errors: kNotFound (no such
  /// directory), kIoError.
  static Result<OutputFile> Open(const std::string& path, const Context& context);

  /// The same, but a file that exists is written on. Empty: standard error.
  static Result<OutputFile> Append(const std::string& path, const Context& context);

  std::FILE* stream() const { return stream_; }
  /// Hands everything to the operating system. Errors: kIoError, kNoSpace, also for writes before.
  Status Close();

 private:
  OutputFile(std::string name, OwnedFile owned, std::FILE* stream)
      : name_(std::move(name)), owned_(std::move(owned)), stream_(stream) {}

  std::string name_;
  OwnedFile owned_;  ///< None: standard output.
  std::FILE* stream_;
};

}  // namespace tandem::tools

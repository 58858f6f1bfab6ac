// Debian's package list as a stream: what the demo imports.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "tandem/status.h"
#include "tools/tandem/context.h"

namespace tandem::tools {

/// A list of packages in the deb822 format, open for reading.
class PackageList {
 public:
  /// `apt-cache dumpavail`; where apt knows no packages, after `apt-get update` (by root),
  /// otherwise the packages that are installed. Says on stderr what takes long. Errors: kNotFound.
  static Result<PackageList> Open(const Context& context);

  std::FILE* file() const { return file_.get(); }
  /// Where it comes from, for messages.
  const std::string& name() const { return name_; }

 private:
  struct Close {
    bool is_command;
    void operator()(std::FILE* file) const;
  };
  using Stream = std::unique_ptr<std::FILE, Close>;
  PackageList(Stream file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  static Stream Run(const char* command);
  /// Whether a stream holds anything.
  static bool HasContent(std::FILE* file);

  Stream file_;
  std::string name_;
};

}  // namespace tandem::tools

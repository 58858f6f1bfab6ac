// Debian's package list as a stream: what the demo imports.
#pragma once

#include <cstdio>
#include <memory>

#include "tandem/status.h"
#include "tools/tandem/context.h"
#include "tools/tandem/input.h"

namespace tandem::tools {

/// A list of packages in the deb822 format, open for reading.
class PackageList {
 public:
  /// `apt-cache dumpavail`; where apt knows no packages, after `apt-get update` (by root),
  /// otherwise the packages that are installed. Says on stderr what takes long. Errors: kNotFound.
  static Result<PackageList> Open(const Context& context);

  /// Its name says where it comes from.
  InputBuffer* input() const { return input_.get(); }

 private:
  struct Close {
    bool is_command;
    void operator()(std::FILE* file) const;
  };
  using Stream = std::unique_ptr<std::FILE, Close>;
  explicit PackageList(Stream file, const char* name);
  static PackageList OfCommand(const char* command, const char* name);
  /// Whether the stream is there and holds anything; that part is read.
  bool HasContent();

  Stream file_;
  std::unique_ptr<InputBuffer> input_;
};

}  // namespace tandem::tools

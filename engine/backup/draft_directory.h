// A new directory in which an engine makes a database: removed with all that is in it unless the
// database is complete.
#pragma once

#include <string>

#include "base/file_system.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time. Requires: no engine has it open when it is destroyed.
class DraftDirectory {
 public:
  /// `file_system` outlives it.
  DraftDirectory(base::FileSystem* file_system, std::string path)
      : file_system_(file_system), path_(std::move(path)) {}
  ~DraftDirectory();
  DraftDirectory(const DraftDirectory&) = delete;
  DraftDirectory& operator=(const DraftDirectory&) = delete;

  /// Creates it. Errors: those of CreateCopyDirectory; kInvalidArgument (it is inside of
  /// `database`, a directory).
  Status Make(const std::string& database);
  void Keep() { made_ = false; }

 private:
  Status RemoveFiles();

  base::FileSystem* const file_system_;
  const std::string path_;
  bool made_ = false;
};

}  // namespace tandem::engine

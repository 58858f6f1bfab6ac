// Where a run of its own keeps its databases.
#pragma once

#include <string>

namespace tandem::bench {

/// Why a run cannot have this directory: it is no directory, or something is in it. Empty: it can,
/// as it is empty or does not exist, or `directory` is an empty string.
std::string ProblemOfDirectory(const std::string& directory);

/// A directory that goes away with its owner, unless it was there before; then what is in it does.
/// A process that fails leaves it.
class WorkDirectory {
 public:
  /// An empty `wanted`: one in the directory for temporary files. Ends the process when it cannot
  /// be made. Requires: there is no problem with `wanted`.
  WorkDirectory(const std::string& wanted, const std::string& command);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// Makes the empty directory `name` in it, in the place of one that is there. Returns its path.
  std::string Fresh(const std::string& name) const;

 private:
  std::string path_;
  bool was_there_ = false;
};

}  // namespace tandem::bench

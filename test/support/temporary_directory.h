// A directory on the real disk that goes away with its owner.
#pragma once

#include <string>

namespace tandem::test {

/// Made with a unique name, mode 0700, under `parent`; under $TMPDIR or /tmp when that is empty.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& parent = {});
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  /// Removes the directory and all in it.
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }
  /// The path of `name` in it.
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace tandem::test

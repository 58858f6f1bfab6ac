// See work_directory.h.
#include "tools/bench/work_directory.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "tools/bench/peer.h"

namespace tandem::bench {

std::string ProblemOfDirectory(const std::string& directory) {
  std::error_code error;
  if (directory.empty() || !std::filesystem::exists(directory, error)) return {};
  if (!std::filesystem::is_directory(directory, error)) return directory + " is no directory";
  if (!std::filesystem::is_empty(directory, error)) return directory + " is not empty";
  return {};
}

WorkDirectory::WorkDirectory(const std::string& wanted, const std::string& command)
    : path_(wanted) {
  if (path_.empty()) {
    path_ = std::filesystem::temp_directory_path() /
            ("tandem-bench-" + command + "-" + std::to_string(getpid()));
  }
  std::error_code error;
  was_there_ = std::filesystem::exists(path_, error);
  std::filesystem::create_directories(path_, error);
  if (error) Fail("cannot make the directory " + path_ + ": " + error.message());
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  if (!was_there_) {
    std::filesystem::remove_all(path_, ignored);
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored))
    std::filesystem::remove_all(entry.path(), ignored);
}

std::string WorkDirectory::Fresh(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) std::filesystem::create_directories(path, error);
  if (error) Fail("cannot make the directory " + path + ": " + error.message());
  return path;
}

}  // namespace tandem::bench

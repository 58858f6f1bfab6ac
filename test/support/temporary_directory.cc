// Temporary directories through mkdtemp.
#include "test/support/temporary_directory.h"

#include <cstdlib>
#include <filesystem>

#include "base/check.h"

namespace tandem::test {

TemporaryDirectory::TemporaryDirectory(const std::string& parent) {
  const char* common = std::getenv("TMPDIR");
  path_ = !parent.empty() ? parent : common == nullptr ? "/tmp" : common;
  path_ += "/tandem_test.XXXXXX";
  CHECK(mkdtemp(path_.data()) != nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tandem::test

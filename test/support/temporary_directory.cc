// Temporary directories through mkdtemp.
#include "test/support/temporary_directory.h"

#include <cstdlib>
#include <filesystem>

#include "base/check.h"

namespace tandem::test {

TemporaryDirectory::TemporaryDirectory() {
  const char* parent = std::getenv("TMPDIR");
  path_ = std::string(parent == nullptr ? "/tmp" : parent) + "/tandem_test.XXXXXX";
  CHECK(mkdtemp(path_.data()) != nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tandem::test

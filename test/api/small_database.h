// Opens a small database for a test.
#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include "tandem/tandem.h"

namespace tandem::test {

inline Options SmallOptions() {
  Options options;
  options.create_if_missing = true;
  options.memory_bytes = 16 << 20;
  options.io = IoBackend::kPosix;
  return options;
}

/// Fails the test where the database cannot be opened.
inline std::unique_ptr<Database> OpenSmall(const std::string& path,
                                           const Options& options = SmallOptions()) {
  auto opened = Database::Open(path, options);
  BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
  return *std::move(opened);
}

}  // namespace tandem::test

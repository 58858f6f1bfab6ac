// What other programs say, for tests that compare with them.
#pragma once

#include <cstdio>
#include <string>

namespace tandem::test {

/// What `command` prints; empty when it cannot be started.
inline std::string OutputOf(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    text.append(buffer, count);
  }
  pclose(pipe);
  return text;
}

}  // namespace tandem::test

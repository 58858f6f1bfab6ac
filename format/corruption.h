// How corruption is reported: file, offset, what was expected and what was found, always in the
// same words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/status.h"

namespace tandem::format {

/// kCorruption "FILE: offset OFFSET: WHAT".
inline Status CorruptionAt(std::string_view file, uint64_t offset, std::string_view what) {
  std::string message(file);
  message.append(": offset ").append(std::to_string(offset)).append(": ").append(what);
  return Status::Corruption(std::move(message));
}

/// "WHAT: expected EXPECTED, found FOUND".
inline std::string Mismatch(std::string_view what, uint64_t expected, uint64_t found) {
  std::string text(what);
  text.append(": expected ").append(std::to_string(expected));
  text.append(", found ").append(std::to_string(found));
  return text;
}

}  // namespace tandem::format

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

/// WHAT of a message that begins with this file and offset, for where they are named already. Any
/// other message as it is.
inline std::string WithoutPlace(std::string_view message, std::string_view file, uint64_t offset) {
  const std::string place(CorruptionAt(file, offset, "").message());
  return std::string(message.starts_with(place) ? message.substr(place.size()) : message);
}

/// "WHAT: expected EXPECTED, found FOUND".
inline std::string Mismatch(std::string_view what, uint64_t expected, uint64_t found) {
  std::string text(what);
  text.append(": expected ").append(std::to_string(expected));
  text.append(", found ").append(std::to_string(found));
  return text;
}

/// 16 hexadecimal digits, for 64-bit checksums and hashes. hash.h has the one for 128 bits.
inline std::string HashText(uint64_t hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(hash >> shift) & 15];
  return text;
}

/// Mismatch of checksums or hashes.
inline std::string HashMismatch(std::string_view what, uint64_t expected, uint64_t found) {
  std::string text(what);
  text.append(": expected ").append(HashText(expected));
  return text.append(", found ").append(HashText(found));
}

}  // namespace tandem::format

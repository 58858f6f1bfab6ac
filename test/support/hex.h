// Bytes as hex text, for golden tests: comments after '#' and white space do not count, so that a
// test can annotate what each byte is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem::test {

/// "6B 31": upper case, one blank between bytes.
inline std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char byte : bytes) {
    if (!text.empty()) text.push_back(' ');
    text.push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
    text.push_back(kDigits[static_cast<uint8_t>(byte) & 15]);
  }
  return text;
}

/// The same text without comments and with one blank between bytes, to compare with Hex.
inline std::string HexOf(std::string_view annotated) {
  std::string digits;
  bool comment = false;
  for (const char c : annotated) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (comment || c == ' ' || c == '\n') continue;
    if (digits.size() % 3 == 2) digits.push_back(' ');
    digits.push_back(c);
  }
  return digits;
}

}  // namespace tandem::test

// Bytes as hexadecimal text, for golden tests.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace tandem::test {

/// "0a ff": two digits a byte, a blank between.
inline std::string ToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    if (!text.empty()) text += ' ';
    text += kDigits[static_cast<uint8_t>(c) >> 4];
    text += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

/// The bytes of hexadecimal text; whatever is no digit separates.
inline std::string FromHex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
  }
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace tandem::test

// Bytes as hexadecimal text, for golden tests: comments after '#' and white space do not count, so
// that a test can annotate what each byte is.
#pragma once

#include <cctype>
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
    if (comment || std::isxdigit(static_cast<unsigned char>(c)) == 0) continue;
    if (digits.size() % 3 == 2) digits.push_back(' ');
    digits.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  }
  return digits;
}

/// The bytes of such text.
inline std::string FromHex(std::string_view annotated) {
  const std::string digits = HexOf(annotated);
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 3) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace tandem::test

// Bytes as hex text, for golden tests: comments after '#' and white space do not count, so that a
// test can annotate what each byte is.
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
    if (comment || c == ' ' || c == '\n') continue;
    if (digits.size() % 3 == 2) digits.push_back(' ');
    digits.push_back(c);
  }
  return digits;
}

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

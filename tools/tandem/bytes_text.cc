// Escapes, hex, base64 and the test for plain text.
#include "tools/tandem/bytes_text.h"

#include <algorithm>
#include <cstdint>

#include "base/status_macros.h"
#include "tandem/limits.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/input.h"

namespace tandem::tools {
namespace {

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kHexDigits = "0123456789abcdef";

int HexValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

/// The length of the printable character that `bytes` starts with; 0 when its first byte has to be
/// escaped. Follows the table of well-formed sequences of the Unicode standard (3.9, table 3-7).
size_t PrintableLength(std::string_view bytes) {
  const auto byte = [bytes](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const auto continues = [&](size_t i, uint8_t low, uint8_t high) {
    return i < bytes.size() && byte(i) >= low && byte(i) <= high;
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  if (first >= 0xc2 && first <= 0xdf) {
    return continues(1, first == 0xc2 ? 0xa0 : 0x80, 0xbf) ? 2 : 0;  // U+0080 to U+009F: controls.
  }
  if (first >= 0xe0 && first <= 0xef) {
    const uint8_t low = first == 0xe0 ? 0xa0 : 0x80;
    const uint8_t high = first == 0xed ? 0x9f : 0xbf;
    return continues(1, low, high) && continues(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const uint8_t low = first == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xf4 ? 0x8f : 0xbf;
    return continues(1, low, high) && continues(2, 0x80, 0xbf) && continues(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

void AppendEscape(char byte, std::string* out) {
  const auto value = static_cast<uint8_t>(byte);
  *out += "\\x";
  out->push_back(kHexDigits[value >> 4]);
  out->push_back(kHexDigits[value & 15]);
}

}  // namespace

Result<std::string> ParseBytes(std::string_view text) {
  if (text.starts_with("0x")) return DecodeHex(text.substr(2));
  if (text.starts_with("base64:")) return DecodeBase64(text.substr(7));
  if (text.starts_with("@")) {
    return ReadWholeFile(std::string(text.substr(1)), kRecordBytesMax);
  }
  return ParseEscaped(text);
}

Result<std::string> ParseEscaped(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (!text.substr(i).starts_with("\\x")) {
      bytes.push_back(text[i++]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
    const int low = i + 3 < text.size() ? HexValue(text[i + 3]) : -1;
    if (high < 0 || low < 0) {
      return Status::InvalidArgument(
          Format("'{}' at position {}: expected two hex digits after \\x, as in \\x0a",
                 EscapeBytes(text), i + 1));
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
    i += 4;
  }
  return bytes;
}

std::string EscapeBytes(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = bytes[0] == '\\' ? 0 : PrintableLength(bytes);
    if (length == 0) AppendEscape(bytes[0], &text);
    text.append(bytes.substr(0, length));
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

std::string KeyText(std::string_view bytes) {
  std::string text = EscapeBytes(bytes);
  if (!text.starts_with("0x") && !text.starts_with("base64:") && !text.starts_with("@"))
    return text;
  std::string first;
  AppendEscape(text[0], &first);
  return text.replace(0, 1, first);
}

bool IsPlainText(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = PrintableLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<uint8_t>(bytes[i + j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      text.push_back(j <= count ? kBase64Digits[group >> (18 - 6 * j) & 63] : '=');
    }
  }
  return text;
}

Result<std::string> DecodeBase64(std::string_view text) {
  const Status malformed = Status::InvalidArgument(Format("'{}' is not base64", EscapeBytes(text)));
  if (text.size() % 4 != 0) return malformed;
  std::string_view digits = text;
  while (digits.ends_with('=') && text.size() - digits.size() < 2) digits.remove_suffix(1);
  std::string bytes;
  uint32_t group = 0;
  int bits = 0;
  for (const char digit : digits) {
    const size_t value = kBase64Digits.find(digit);
    if (value == std::string_view::npos) return malformed;
    group = group << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(group >> bits));
    group &= (1u << bits) - 1;
  }
  if (group != 0) return malformed;
  return bytes;
}

std::string EncodeHex(std::string_view bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    digits.push_back(kHexDigits[static_cast<uint8_t>(byte) >> 4]);
    digits.push_back(kHexDigits[static_cast<uint8_t>(byte) & 15]);
  }
  return digits;
}

Result<std::string> DecodeHex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = HexValue(digits[i]), low = HexValue(digits[i + 1]);
    if (high < 0 || low < 0) break;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  if (bytes.empty() || 2 * bytes.size() != digits.size()) {
    return Status::InvalidArgument(
        Format("'0x{}': expected pairs of hex digits", EscapeBytes(digits)));
  }
  return bytes;
}

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
    if (text.empty()) parts.push_back(text);
  }
  return parts;
}

}  // namespace tandem::tools

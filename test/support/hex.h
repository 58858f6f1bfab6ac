// Bytes as hexadecimal text, for goldens.
#pragma once

#include <string>
#include <string_view>

namespace tandem::test {

/// "01 AB": two capital digits a byte, one space between.
inline std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (char c : bytes) {
    if (!text.empty()) text.push_back(' ');
    text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    text.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return text;
}

}  // namespace tandem::test

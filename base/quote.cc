// The tools parse these escapes.
#include "base/quote.h"

namespace tandem::base {
namespace {

constexpr size_t kBytesShownMax = 40;
constexpr char kHexDigits[] = "0123456789abcdef";

}  // namespace

std::string QuoteDoubling(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) quoted.append(c == quote ? 2 : 1, c);
  return quoted += quote;
}

std::string Quote(std::string_view bytes) {
  std::string text = "'";
  for (const char c : bytes.substr(0, kBytesShownMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '\'') {
      text.push_back(c);
    } else {
      text.append("\\x");
      text.push_back(kHexDigits[byte >> 4]);
      text.push_back(kHexDigits[byte & 15]);
    }
  }
  text.push_back('\'');
  if (bytes.size() > kBytesShownMax) {
    text.append("... (").append(std::to_string(bytes.size())).append(" bytes)");
  }
  return text;
}

}  // namespace tandem::base

// See split_text.h.
#include "tools/row_keys/split_text.h"

namespace tandem::row_keys {
namespace {

bool IsPlain(char byte) {
  constexpr std::string_view kSigns = "!#$%&()*+-./:;<=>?@[]^_{|}~";
  const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  return letter || (byte >= '0' && byte <= '9') || kSigns.find(byte) != kSigns.npos;
}

std::string Joined(std::span<const std::string> keys, std::string_view quote,
                   std::string_view separator) {
  std::string text;
  for (const std::string& key : keys) {
    if (!text.empty()) text += separator;
    text += quote;
    text += ShellText(key);
    text += quote;
  }
  return text;
}

}  // namespace

std::string ShellText(std::string_view key) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  // What Tandem's command line takes for another form of bytes begins with an escape.
  const bool other_form =
      key.starts_with("0x") || key.starts_with("base64:") || key.starts_with("@");
  std::string text;
  for (const char byte : key) {
    const auto value = static_cast<unsigned char>(byte);
    if (IsPlain(byte) && !(other_form && text.empty())) {
      text.push_back(byte);
    } else {
      text += {'\\', 'x', kHex[value >> 4], kHex[value & 15]};
    }
  }
  return text;
}

std::string SplitsFile(std::span<const std::string> keys) {
  return keys.empty() ? "" : Joined(keys, "", "\n") + "\n";
}

std::string SplitsForShell(std::span<const std::string> keys) {
  return "SPLITS => [" + Joined(keys, "'", ", ") + "]\n";
}

std::string SplitsForCreate(std::span<const std::string> keys) {
  return Joined(keys, "", ",") + "\n";
}

}  // namespace tandem::row_keys

// Formatting over {fmt}. Patterns are constants of this program, so a pattern that does not fit its
// arguments is a mistake of ours and ends the program.
#include "tools/tandem/format_text.h"

#include <fmt/args.h>

#include <array>
#include <ctime>
#include <string>

namespace tandem::tools {

std::string FormatArguments(std::string_view pattern,
                            std::initializer_list<FormatArgument> arguments) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const FormatArgument& argument : arguments) {
    std::visit([&store](const auto& value) { store.push_back(value); }, argument.value());
  }
  return fmt::vformat(fmt::string_view(pattern.data(), pattern.size()), store);
}

std::string FormatCount(uint64_t count) {
  const std::string digits = Format("{}", count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string FormatSize(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return Format("{} B", bytes);
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return Format("{:.1f} {}", size, kUnits[unit]);
}

std::string FormatShare(uint64_t part, uint64_t whole) {
  const double share =
      whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return Format("{:.1f} %", share);
}

std::string FormatTime(int64_t micros) {
  const std::time_t seconds = micros / 1'000'000;
  std::tm parts{};
  char text[32];
  if (gmtime_r(&seconds, &parts) == nullptr) return std::to_string(micros);
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts));
}

}  // namespace tandem::tools

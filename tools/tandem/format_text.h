// Formatting of text for people: the one place that knows the formatting library.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace tandem::tools {

/// One value that a pattern of Format refers to.
class FormatArgument {
 public:
  template <std::signed_integral T>
  FormatArgument(T value) : value_(static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T>
  FormatArgument(T value) : value_(static_cast<uint64_t>(value)) {}
  FormatArgument(double value) : value_(value) {}
  FormatArgument(std::string_view value) : value_(value) {}
  FormatArgument(const std::string& value) : value_(std::string_view(value)) {}
  FormatArgument(const char* value) : value_(std::string_view(value)) {}

  const std::variant<int64_t, uint64_t, double, std::string_view>& value() const { return value_; }

 private:
  std::variant<int64_t, uint64_t, double, std::string_view> value_;
};

/// Replaces each `{}` of `pattern`, with the rules of std::format, by the next argument.
/// Requires: the pattern fits the arguments.
std::string FormatArguments(std::string_view pattern,
                            std::initializer_list<FormatArgument> arguments);

template <typename... Arguments>
std::string Format(std::string_view pattern, const Arguments&... arguments) {
  return FormatArguments(pattern, {FormatArgument(arguments)...});
}

/// "63,666".
std::string FormatCount(uint64_t count);
/// "812 B", "3.4 KiB", "51.0 MiB".
std::string FormatSize(uint64_t bytes);
/// "2026-11-20T10:11:12Z".
std::string FormatTime(int64_t micros);
/// "12.3 %"; a whole of nothing is "0.0 %".
std::string FormatShare(uint64_t part, uint64_t whole);

}  // namespace tandem::tools

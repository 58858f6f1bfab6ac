// See the header.
#include "tools/simulation/program_functions.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "format/functions.h"

namespace tandem::test {
namespace {

using Made = std::optional<std::string>;

Made Even(std::string_view value) {
  if (value.empty() || static_cast<uint8_t>(value.back()) % 2 != 0) return std::nullopt;
  return std::string(value);
}

Made Digits(std::string_view value) {
  if (value.empty()) return std::nullopt;
  if (value.front() == 'x') throw std::invalid_argument("it begins with x");
  return std::to_string(std::ranges::count_if(value, [](char c) { return c >= '0' && c <= '9'; }));
}

Made Twice(std::string_view value) {
  std::string twice(value);
  return twice.append(value);
}

format::FunctionRegistry MadeWith(uint64_t version) {
  const auto made = [version](Made (*apply)(std::string_view)) {
    return std::make_shared<const RegisteredFunction>(
        RegisteredFunction{.version = version, .apply = apply});
  };
  return {{"digits", made(Digits)}, {"even", made(Even)}, {"twice", made(Twice)}};
}

}  // namespace

const format::FunctionRegistry& ProgramFunctions(uint64_t version) {
  static const format::FunctionRegistry kFirst = MadeWith(1), kSecond = MadeWith(2);
  CHECK(version == 1 || version == 2);
  return version == 1 ? kFirst : kSecond;
}

Functions Resolved(Functions functions) {
  if (format::HaveCalls(functions)) CHECK(format::PinCalls(ProgramFunctions(), functions).ok());
  return functions;
}

}  // namespace tandem::test

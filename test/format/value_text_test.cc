// The textual forms of typed values: what is accepted, what it means, and what is refused, as a
// table of cases.
#define BOOST_TEST_DYN_LINK
#include "format/value_text.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "test/support/script_runner.h"

namespace tandem::format {
namespace {

// All digits of a double.
std::string Text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int64_t value) { return std::to_string(value); }
std::string Text(uint64_t value) { return std::to_string(value); }

template <typename T>
std::string TextOr(const std::optional<T>& value) {
  return value.has_value() ? Text(*value) : "refused";
}

std::string Answer(const std::string& type, const std::string& text) {
  if (type == "int64") return TextOr(ParseInt64(text));
  if (type == "uint64") return TextOr(ParseUint64(text));
  if (type == "double") return TextOr(ParseDouble(text));
  if (type == "double_text") return DoubleText(std::strtod(text.c_str(), nullptr));
  if (type == "bool") return TextOr(ParseBool(text));
  if (type == "timestamp") return TextOr(ParseTimestamp(text));
  if (type == "utf8") return IsUtf8(text) ? "yes" : "refused";
  return "no type";
}

BOOST_AUTO_TEST_SUITE(ValueTextSuite)

BOOST_AUTO_TEST_CASE(TextsMeanWhatTheTableSays) {
  test::RunTable("test/format/tables/value_text.txt", [](const std::vector<std::string>& words) {
    BOOST_REQUIRE_EQUAL(words.size(), 2u);
    return Answer(words[0], test::Unescaped(words[1]));
  });
}

BOOST_AUTO_TEST_CASE(DoubleTextReadsBack) {
  BOOST_TEST(ParseDouble(DoubleText(1.0 / 3)).value() == 1.0 / 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format

// Text that the type accepts is encoded as an index encodes it. A number out of the type's range
// sorts before the first key, after the last one, or next to an infinity; its key is the first one
// after it.
#include "engine/predicate/literal.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "engine/predicate/bound.h"
#include "index/key.h"
#include "tandem/schema.h"

namespace tandem::engine {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kAfterAllKeys = "\x03";  // The tag of present values is 2.
constexpr std::string_view kInfinity("\x7f\xf0\0\0\0\0\0\0", 8);
constexpr std::string_view kLeastFinite("\xff\xef\xff\xff\xff\xff\xff\xff", 8);

bool IsInteger(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

Literal Value(const format::IndexColumnRecord& column, std::string_view text) {
  Literal literal;
  format::AppendIndexKey(column, text, &literal.key).Ignore("the text is a constant of the type");
  return literal;
}

Literal NoValue(std::string key) { return {std::move(key), false}; }

// An integer out of the type's range.
Literal FarInteger(format::IndexColumnRecord column, std::string_view text) {
  if (!text.starts_with('-')) return NoValue(std::string(kAfterAllKeys));
  const bool is_zero = text.find_first_not_of('0', 1) == std::string_view::npos;
  if (is_zero) return Value(column, "0");
  const bool is_unsigned = column.type == ColumnType::kUint64;
  return NoValue(Value(column, is_unsigned ? "0" : "-9223372036854775808").key);
}

// The power of ten of the first digit that is not 0. Requires: `text` is a decimal number that is
// not 0.
int64_t MagnitudeOf(std::string_view text) {
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  const size_t point = std::min(text.substr(0, e).find('.'), e);
  const size_t first = text.find_first_of("123456789");
  const auto places = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  if (e == text.size()) return places;
  std::string_view exponent = text.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int64_t power = 0;
  const auto result = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  constexpr int64_t kFar = int64_t{1} << 62;  // No text has as many digits.
  if (result.ec == std::errc::result_out_of_range) return exponent.starts_with('-') ? -kFar : kFar;
  return std::clamp(power, -kFar, kFar) + places;
}

// A decimal number that is too large for a double, or rounds to 0.
Literal FarDouble(format::IndexColumnRecord column, std::string_view text) {
  if (MagnitudeOf(text) <= 0) return Value(column, "0");
  column.type = ColumnType::kDoubleBe;
  return NoValue(Value(column, text.starts_with('-') ? kLeastFinite : kInfinity).key);
}

bool IsDecimalOutOfRange(std::string_view text) {
  double number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc::result_out_of_range && result.ptr == text.data() + text.size();
}

// A number may begin with '+'.
std::string_view WithoutPlus(std::string_view text) {
  const bool is_number =
      text.size() > 1 && (kDigits.find(text[1]) != std::string_view::npos || text[1] == '.');
  return text.starts_with('+') && is_number ? text.substr(1) : text;
}

}  // namespace

Result<Literal> ReadLiteral(const format::IndexColumnRecord& column, std::string_view text) {
  if (ComparesAsBytes(column.type)) return Literal{std::string(text)};
  const ColumnType type = TextType(column.type);
  if (type != ColumnType::kBool) text = WithoutPlus(text);
  Literal literal;
  format::IndexColumnRecord of_type;  // The column's name is for messages, and takes a copy.
  of_type.type = type;
  if (format::AppendKeyIfFits(of_type, text, &literal.key)) return literal;
  format::IndexColumnRecord ascending = column;
  ascending.type = type;
  ascending.descending = false;
  const Status status = format::CheckIndexValue(ascending, text);
  const bool is_integer = ascending.type == ColumnType::kInt64 ||
                          ascending.type == ColumnType::kUint64 ||
                          ascending.type == ColumnType::kTimestamp;
  if (is_integer && IsInteger(text)) return FarInteger(ascending, text);
  if (ascending.type == ColumnType::kDouble && IsDecimalOutOfRange(text)) {
    return FarDouble(ascending, text);
  }
  return Status::InvalidArgument(format::Described(column) + ": " + std::string(status.message()));
}

}  // namespace tandem::engine

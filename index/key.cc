// Encoding and decoding by type. A value is encoded as a uint64 that sorts like it, or as escaped
// bytes; the direction is applied last, to the appended bytes.
#include "index/key.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/ordered_bytes.h"
#include "format/value_text.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

constexpr char kAbsentTag = 1;
constexpr char kPresentTag = 2;

bool IsBytes(ColumnType type) { return type == ColumnType::kBytes || type == ColumnType::kText; }
bool IsBool(ColumnType type) { return type == ColumnType::kBool || type == ColumnType::kBoolBe; }

std::optional<uint64_t> OrderedDouble(double value) {
  if (value != value) return std::nullopt;
  const uint64_t bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return (bits & kSignBit) != 0 ? ~bits : bits ^ kSignBit;
}

double DoubleOf(uint64_t ordered) {
  return std::bit_cast<double>((ordered & kSignBit) != 0 ? ordered ^ kSignBit : ~ordered);
}

// The number that sorts like the value of a `_be` type; nullopt: the width is wrong, or it is a
// NaN.
std::optional<uint64_t> OrderedBinary(ColumnType type, std::string_view value) {
  if (type == ColumnType::kBoolBe) {
    if (value.size() != 1 || static_cast<uint8_t>(value[0]) > 1) return std::nullopt;
    return static_cast<uint8_t>(value[0]);
  }
  if (value.size() != kNumberBytes) return std::nullopt;
  const uint64_t bits = LoadBigEndian(value);
  if (type == ColumnType::kUint64Be) return bits;
  if (type == ColumnType::kDoubleBe) return OrderedDouble(std::bit_cast<double>(bits));
  return OrderedInt64(static_cast<int64_t>(bits));
}

// The number that sorts like the value; nullopt: the value does not fit the type.
std::optional<uint64_t> OrderedNumber(ColumnType type, std::string_view value) {
  if (value.size() > kIndexKeyBytesMax) return std::nullopt;  // Zeros in front, or behind.
  switch (type) {
    case ColumnType::kInt64: {
      const auto number = ParseInt64(value);
      return number.has_value() ? std::optional(OrderedInt64(*number)) : std::nullopt;
    }
    case ColumnType::kTimestamp: {
      const auto number = ParseTimestamp(value);
      return number.has_value() ? std::optional(OrderedInt64(*number)) : std::nullopt;
    }
    case ColumnType::kUint64:
      return ParseUint64(value);
    case ColumnType::kDouble: {
      const auto number = ParseDouble(value);
      return number.has_value() ? OrderedDouble(*number) : std::nullopt;
    }
    case ColumnType::kBool:
      return ParseBool(value);
    default:
      return OrderedBinary(type, value);
  }
}

char AbsentTagOf(const IndexColumnRecord& column) {
  return column.descending ? static_cast<char>(~kAbsentTag) : kAbsentTag;
}

Status DoesNotFit(const IndexColumnRecord& column, std::string_view value) {
  std::string message = "value " + base::Quote(value) + " of " + Described(column);
  return Status::InvalidArgument(
      message.append(" does not fit the index type ").append(ColumnTypeName(column.type)));
}

Status TooLong(const IndexColumnRecord& column, std::string_view value) {
  std::string message = "value " + base::Quote(value) + " of " + Described(column);
  message.append(" as ").append(ColumnTypeName(column.type)).append(" encodes to more than ");
  return Status::InvalidArgument(message + std::to_string(kIndexKeyBytesMax) +
                                 " bytes, the limit of an indexed value");
}

// Requires: the column is bytes or text.
bool IsTooLong(std::string_view value) {
  if (value.size() > kIndexKeyBytesMax) return true;
  const auto zeros = static_cast<size_t>(std::count(value.begin(), value.end(), '\0'));
  return sizeof(kPresentTag) + value.size() + zeros + kEscapedEndBytes > kIndexKeyBytesMax;
}

// Appends tag and value, ascending. False: it does not fit, and `*out` is unchanged.
bool AppendPresent(const IndexColumnRecord& column, std::string_view value, std::string* out) {
  if (IsBytes(column.type)) {
    if (IsTooLong(value) || (column.type == ColumnType::kText && !IsUtf8(value))) return false;
    out->push_back(kPresentTag);
    AppendEscaped(value, out);
    AppendEscapedEnd(out);
    return true;
  }
  const std::optional<uint64_t> number = OrderedNumber(column.type, value);
  if (!number.has_value()) return false;
  out->push_back(kPresentTag);
  if (IsBool(column.type)) {
    out->push_back(static_cast<char>(*number));
    return true;
  }
  AppendBigEndian(*number, out);
  return true;
}

std::optional<std::string> DecodeNumber(ColumnType type, PartReader* reader) {
  char bytes[kNumberBytes];
  for (char& byte : bytes) {
    const std::optional<char> next = reader->Next();
    if (!next.has_value()) return std::nullopt;
    byte = *next;
  }
  const uint64_t number = LoadBigEndian({bytes, kNumberBytes});
  if (type == ColumnType::kUint64 || type == ColumnType::kUint64Be) return std::to_string(number);
  if (type != ColumnType::kDouble && type != ColumnType::kDoubleBe) {
    return std::to_string(static_cast<int64_t>(number ^ kSignBit));
  }
  const double value = DoubleOf(number);
  if (OrderedDouble(value) != number) return std::nullopt;  // A NaN or -0.
  return DoubleText(value);
}

std::optional<std::string> DecodePresent(ColumnType type, PartReader* reader) {
  if (IsBytes(type)) {
    std::optional<std::string> bytes = DecodeEscaped(reader);
    const bool valid = bytes.has_value() && (type == ColumnType::kBytes || IsUtf8(*bytes));
    return valid ? bytes : std::nullopt;
  }
  if (!IsBool(type)) return DecodeNumber(type, reader);
  const std::optional<char> byte = reader->Next();
  if (byte == '\0') return "false";
  if (byte == '\1') return "true";
  return std::nullopt;
}

}  // namespace

std::string Described(const IndexColumnRecord& column) {
  if (column.functions.empty()) return "column '" + column.qualifier + "'";
  // The record has the family's number.
  return TextOf(column.functions, column.is_of_family() ? "..." : std::string(column.name()));
}

Status AppendIndexKey(const IndexColumnRecord& column, std::optional<std::string_view> value,
                      std::string* out) {
  const size_t start = out->size();
  if (!value.has_value()) {
    AppendAbsentKey(column, out);
    return {};
  }
  if (!AppendPresent(column, *value, out)) return CheckIndexValue(column, *value);
  if (column.descending) Invert(out, start);
  return {};
}

void AppendAbsentKey(const IndexColumnRecord& column, std::string* out) {
  out->push_back(AbsentTagOf(column));
}

bool StartsAbsent(const IndexColumnRecord& column, std::string_view key) {
  return key.front() == AbsentTagOf(column);
}

bool AppendKeyIfFits(const IndexColumnRecord& column, std::string_view value, std::string* out) {
  const size_t start = out->size();
  if (!AppendPresent(column, value, out)) return false;
  if (column.descending) Invert(out, start);
  return true;
}

bool FitsIndex(const IndexColumnRecord& column, std::string_view value) {
  if (!IsBytes(column.type)) return OrderedNumber(column.type, value).has_value();
  return !IsTooLong(value) && (column.type != ColumnType::kText || IsUtf8(value));
}

// Each byte may be a zero, which takes two.
bool AlwaysFitsIndex(size_t value_bytes) {
  return sizeof(kPresentTag) + 2 * value_bytes + kEscapedEndBytes <= kIndexKeyBytesMax;
}

Status CheckIndexValue(const IndexColumnRecord& column, std::string_view value) {
  if (FitsIndex(column, value)) return {};
  return IsBytes(column.type) && IsTooLong(value) ? TooLong(column, value)
                                                  : DoesNotFit(column, value);
}

Result<std::optional<std::string>> DecodeIndexKey(const IndexColumnRecord& column,
                                                  std::string_view* key) {
  PartReader reader(*key, column.descending);
  const std::optional<char> tag = reader.Next();
  std::optional<std::string> value;
  if (tag == kPresentTag) value = DecodePresent(column.type, &reader);
  if (tag != kAbsentTag && !value.has_value()) {
    return Status::Corruption("index key " + base::Quote(*key) + " is none of type " +
                              std::string(ColumnTypeName(column.type)));
  }
  key->remove_prefix(reader.offset());
  return value;
}

Result<std::optional<std::string>> DecodeEntry(const IndexRecord& index, std::string_view key) {
  std::optional<std::string> text;
  for (const IndexColumnRecord& column : index.columns) {
    ASSIGN_OR_RETURN(std::optional<std::string> value, DecodeIndexKey(column, &key));
    if (!index.is_of_several()) {
      text = std::move(value);
    } else if (!text.has_value()) {
      text = value.value_or("NULL");
    } else {
      text->append(", ").append(value.value_or("NULL"));
    }
  }
  if (key.empty()) return text;
  return Status::Corruption("an index key has " + std::to_string(key.size()) +
                            " bytes after its last column");
}

KeyRange PrefixRange(const IndexColumnRecord& column, std::string_view prefix) {
  std::string low(1, kPresentTag);
  AppendEscaped(prefix, &low);
  if (column.descending) Invert(&low, 0);
  return StartingWith(std::move(low));
}

KeyRange StartingWith(std::string key) {
  std::optional<std::string> high = Successor(key);
  return {std::move(key), std::move(high)};
}

KeyRange EqualRange(std::string key) {
  std::string high = key;
  high.push_back('\0');
  return {std::move(key), std::move(high)};
}

KeyRange PresentRange(const IndexColumnRecord& column) { return PrefixRange(column, ""); }

std::string BoundKey(const IndexColumnRecord& column, std::string_view value) {
  std::string key(1, kPresentTag);
  AppendEscaped(value, &key);
  AppendEscapedEnd(&key);
  if (column.descending) Invert(&key, 0);
  return key;
}

void InvertIndexKey(std::string* key) { Invert(key, 0); }

}  // namespace tandem::format

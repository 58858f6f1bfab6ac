// Values of the Be types (ColumnType::kInt64Be and the like): eight bytes, big-endian, as HBase's
// Bytes.toBytes writes them. The other types are decimal text: std::to_string, std::from_chars.
// A timestamp is an int64 in microseconds since 1970; a bool is one byte, 0 or 1.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

inline std::string EncodeUint64Be(uint64_t value) {
  std::string bytes(sizeof(value), '\0');
  for (size_t i = bytes.size(); i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value);
  return bytes;
}
inline std::string EncodeInt64Be(int64_t value) {
  return EncodeUint64Be(static_cast<uint64_t>(value));
}
inline std::string EncodeDoubleBe(double value) {
  return EncodeUint64Be(std::bit_cast<uint64_t>(value));
}
inline std::string EncodeBoolBe(bool value) { return std::string(1, value ? '\1' : '\0'); }

/// nullopt: `bytes` is not eight bytes long.
inline std::optional<uint64_t> DecodeUint64Be(std::string_view bytes) {
  uint64_t value = 0;
  if (bytes.size() != sizeof(value)) return std::nullopt;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}
inline std::optional<int64_t> DecodeInt64Be(std::string_view bytes) {
  const std::optional<uint64_t> value = DecodeUint64Be(bytes);
  if (!value) return std::nullopt;
  return static_cast<int64_t>(*value);
}
inline std::optional<double> DecodeDoubleBe(std::string_view bytes) {
  const std::optional<uint64_t> value = DecodeUint64Be(bytes);
  if (!value) return std::nullopt;
  return std::bit_cast<double>(*value);
}
/// nullopt: `bytes` is not one byte, 0 or 1.
inline std::optional<bool> DecodeBoolBe(std::string_view bytes) {
  if (bytes.size() != 1 || (bytes[0] != '\0' && bytes[0] != '\1')) return std::nullopt;
  return bytes[0] == '\1';
}

}  // namespace tandem

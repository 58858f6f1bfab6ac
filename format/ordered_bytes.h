// Encodings whose bytes sort like what they encode: what index keys (index/key.h) and row keys
// (format/row_key/field.h) are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::format {

inline constexpr uint64_t kSignBit = uint64_t{1} << 63;
inline constexpr size_t kNumberBytes = 8;
/// Bytes that AppendEscapedEnd appends.
inline constexpr size_t kEscapedEndBytes = 2;

inline uint64_t OrderedInt64(int64_t value) { return static_cast<uint64_t>(value) ^ kSignBit; }
/// Requires: kNumberBytes bytes.
inline uint64_t LoadBigEndian(std::string_view bytes) {
  uint64_t number;
  std::memcpy(&number, bytes.data(), kNumberBytes);
  return __builtin_bswap64(number);
}
inline void AppendBigEndian(uint64_t number, std::string* out) {
  const uint64_t big_endian = __builtin_bswap64(number);
  char bytes[kNumberBytes];
  std::memcpy(bytes, &big_endian, kNumberBytes);
  out->append(bytes, kNumberBytes);
}

/// Appends the bytes, 0x00 as 0x00 0xFF. With the end after them, no encoding is a prefix of
/// another one.
void AppendEscaped(std::string_view bytes, std::string* out);
/// Appends 0x00 0x01.
void AppendEscapedEnd(std::string* out);
/// Inverts all bytes from an offset on, which inverts their order.
void Invert(std::string* out, size_t from);
/// The smallest key greater than every key that starts with `key`; nullopt when there is none.
std::optional<std::string> Successor(std::string_view key);

/// Reads the bytes of an encoded key front to back, in their ascending form. Lifetime: the key
/// outlives it.
class PartReader {
 public:
  PartReader(std::string_view key, bool descending)
      : key_(key), mask_(descending ? '\xff' : '\0') {}

  std::optional<char> Next() {
    if (offset_ == key_.size()) return std::nullopt;
    return static_cast<char>(key_[offset_++] ^ mask_);
  }
  size_t offset() const { return offset_; }

 private:
  std::string_view key_;
  char mask_;
  size_t offset_ = 0;
};
/// What AppendEscaped and AppendEscapedEnd appended; nullopt: they did not.
std::optional<std::string> DecodeEscaped(PartReader* reader);

}  // namespace tandem::format

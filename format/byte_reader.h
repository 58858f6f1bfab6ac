// Bounds-checked decoding: bytes from disk are decoded only here. A read past the end or a
// malformed varint returns zero and makes the reader fail permanently, so a decoder can read all
// its fields and check ok() once.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tandem::format {

static_assert(std::endian::native == std::endian::little, "Tandem's files are little-endian.");

/// Lifetime: views that it returns point into the bytes it was given.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }
  std::string_view rest() const { return bytes_.substr(offset_); }
  /// True when nothing failed and every byte was read.
  bool done() const { return ok_ && offset_ == bytes_.size(); }

  uint8_t U8() { return Fixed<uint8_t>(); }
  uint16_t U16() { return Fixed<uint16_t>(); }
  uint32_t U32() { return Fixed<uint32_t>(); }
  uint64_t U64() { return Fixed<uint64_t>(); }
  int64_t I64() { return static_cast<int64_t>(Fixed<uint64_t>()); }

  /// A LEB128 varint in its shortest form, at most ten bytes.
  uint64_t Varint() {
    if (offset_ < bytes_.size() && static_cast<uint8_t>(bytes_[offset_]) < 0x80) {
      return static_cast<uint8_t>(bytes_[offset_++]);
    }
    return LongVarint();
  }
  /// A varint of at most `max`; a larger one fails.
  uint64_t VarintUpTo(uint64_t max) {
    const uint64_t value = Varint();
    if (value > max) return Fail();
    return value;
  }
  std::string_view Bytes(size_t count) {
    if (count > remaining()) {
      Fail();
      return {};
    }
    const std::string_view view = bytes_.substr(offset_, count);
    offset_ += count;
    return view;
  }
  /// A varint length and that many bytes.
  std::string_view LengthPrefixed() {
    const uint64_t length = Varint();
    if (length > remaining()) {
      Fail();
      return {};
    }
    return Bytes(length);
  }
  void Skip(size_t count) { (void)Bytes(count); }
  /// Marks the bytes as malformed; returns 0.
  uint64_t Fail() {
    ok_ = false;
    offset_ = bytes_.size();
    return 0;
  }

 private:
  template <typename T>
  T Fixed() {
    T value{};
    if (sizeof(T) > remaining()) {
      Fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }
  uint64_t LongVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && offset_ < bytes_.size(); shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(bytes_[offset_++]);
      if (shift == 63 && byte > 1) return Fail();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return (byte == 0 && shift > 0) ? Fail() : value;
    }
    return Fail();
  }

  std::string_view bytes_;
  size_t offset_ = 0;
  bool ok_ = true;
};

/// Reads T (an integer) at `offset` of `bytes`. Requires: offset + sizeof(T) <= bytes.size(); for
/// hot paths over arrays whose bounds were checked when the block was parsed.
template <typename T>
inline T LoadAt(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace tandem::format

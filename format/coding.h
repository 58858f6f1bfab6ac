// Encoding of the primitives that ByteReader decodes: little-endian integers, shortest-form
// varints.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tandem::format {

template <typename T>
inline void AppendFixed(std::string* out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out->append(bytes, sizeof(T));
}
inline void AppendU8(std::string* out, uint8_t value) { AppendFixed(out, value); }
inline void AppendU16(std::string* out, uint16_t value) { AppendFixed(out, value); }
inline void AppendU32(std::string* out, uint32_t value) { AppendFixed(out, value); }
inline void AppendU64(std::string* out, uint64_t value) { AppendFixed(out, value); }

/// Overwrites the bytes at `offset` with `value`.
template <typename T>
inline void StoreAt(std::string* out, size_t offset, T value) {
  std::memcpy(out->data() + offset, &value, sizeof(T));
}

inline void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}
inline void AppendLengthPrefixed(std::string* out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

/// Appends many pieces to a string with one check of its size. Appending them one by one costs
/// several times as much where they are short.
class TailWriter {
 public:
  /// Makes room for `bytes_max` bytes; what was not used is cut off at the end. `out` outlives it
  /// and is not touched meanwhile. Requires: no more is written.
  TailWriter(std::string* out, size_t bytes_max) : out_(out), begin_(out->size()) {
    out->resize(begin_ + bytes_max);
    next_ = out->data() + begin_;
  }
  ~TailWriter() { out_->resize(static_cast<size_t>(next_ - out_->data())); }
  TailWriter(const TailWriter&) = delete;
  TailWriter& operator=(const TailWriter&) = delete;

  void Bytes(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(next_, bytes.data(), bytes.size());
    next_ += bytes.size();
  }
  template <typename T>
  void Fixed(T value) {
    std::memcpy(next_, &value, sizeof(T));
    next_ += sizeof(T);
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) *next_++ = static_cast<char>(value | 0x80);
    *next_++ = static_cast<char>(value);
  }
  void LengthPrefixed(std::string_view bytes) {
    Varint(bytes.size());
    Bytes(bytes);
  }
  void Zeros(size_t count) {
    std::memset(next_, 0, count);
    next_ += count;
  }
  /// Of what was written.
  size_t size_bytes() const { return static_cast<size_t>(next_ - out_->data()) - begin_; }

 private:
  std::string* const out_;
  const size_t begin_;
  char* next_;
};
inline constexpr size_t kVarintBytesMax = 10;

/// Signed to unsigned so that small magnitudes stay small.
inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}
/// The first eight bytes as a big-endian number, zero-padded: compares like the bytes, up to ties.
inline uint64_t KeyHead(std::string_view bytes) {
  uint64_t head = 0;
  if (!bytes.empty()) std::memcpy(&head, bytes.data(), bytes.size() < 8 ? bytes.size() : 8);
  return __builtin_bswap64(head);
}

}  // namespace tandem::format

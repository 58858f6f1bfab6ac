// The hashes of the format, all XXH3 (xxHash): checksums of blocks and frames, keyed row hashes,
// whole-file hashes and digests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "format/types.h"

namespace tandem::format {

/// XXH3-64 with a seed.
uint64_t Hash64(std::string_view bytes, uint64_t seed = 0);
/// XXH3-128 without a seed.
Hash128 HashOf128(std::string_view bytes);
/// Sums modulo 2^128.
inline void AddTo(Hash128* sum, const Hash128& term) {
  sum->low += term.low;
  sum->high += term.high + (sum->low < term.low ? 1 : 0);
}
inline void SubtractFrom(Hash128* sum, const Hash128& term) {
  sum->high -= term.high + (sum->low < term.low ? 1 : 0);
  sum->low -= term.low;
}
/// 32 hex digits, the high half first.
std::string HashText(const Hash128& hash);
/// XXH3-64 of a row key, keyed with the table's secret (kHashSecretBytes).
uint64_t RowHash(std::string_view row_key, std::span<const char> secret);

/// The seed of a checksum: XXH3-64(file id) xor offset * 0x9E3779B97F4A7C15.
uint64_t ChecksumSeed(const FileId& file, uint64_t offset);

/// XXH3-64, seed 0, over bytes that come in pieces.
class StreamingHash64 {
 public:
  StreamingHash64();
  ~StreamingHash64();
  /// Starts again.
  void Reset();
  void Add(std::string_view bytes);
  uint64_t Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// XXH3-128 over bytes that come in pieces.
class StreamingHash128 {
 public:
  StreamingHash128();
  ~StreamingHash128();
  StreamingHash128(StreamingHash128&&) noexcept;
  StreamingHash128& operator=(StreamingHash128&&) noexcept;
  void Add(std::string_view bytes);
  Hash128 Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem::format

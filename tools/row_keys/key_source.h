// Where keys come from, one after the other.
#pragma once

#include <cstdint>
#include <string_view>

#include "tandem/status.h"

namespace tandem::row_keys {

struct WeightedKey {
  std::string_view key;  ///< 1 to kRowKeyBytesMax bytes.
  uint64_t weight = 1;
};

/// Threads: one at a time.
class KeySource {
 public:
  virtual ~KeySource() = default;
  /// The next key; false after the last. Lifetime: the key until the next call. Errors: those of
  /// what is read; kInvalidArgument for an empty or malformed key, with its place.
  virtual Result<bool> Next(WeightedKey* key) = 0;
  /// What was read or made so far, and about all that there is; 0: unknown.
  virtual uint64_t read_bytes() const { return 0; }
  virtual uint64_t total_bytes() const { return 0; }
};

}  // namespace tandem::row_keys

// How inputs become others, by what their bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "test/fuzz/target.h"

namespace tandem::fuzz {

inline constexpr size_t kEditBytes = 8;
inline constexpr size_t kEditsAt = 2;    ///< Behind the flags and the choice of the sample.
inline constexpr size_t kEditsMax = 16;  ///< More of them only destroy the same file again.

/// Changes the first `size` bytes of `buffer` in place and returns how many there are now. Plain
/// bytes are left to libFuzzer; of others half get right checksums, and lists of edits are changed
/// edit by edit.
size_t Mutate(Shape shape, std::span<uint8_t> buffer, size_t size, uint64_t seed);

}  // namespace tandem::fuzz

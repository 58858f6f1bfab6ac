// Split keys that need no sample: of keys that begin with a hash, or with the number of a
// partition.
#pragma once

#include <cstdint>
#include <string_view>

#include "tandem/status.h"
#include "tools/row_keys/split_plan.h"

namespace tandem::row_keys {

/// Keys that begin with `width` digits, all as likely. The bytes of `digits` rise.
struct HashSpace {
  std::string_view digits;  ///< Empty: every byte is a digit.
  uint64_t width = 8;
};

/// Errors: kInvalidArgument when there are fewer keys than regions, or more than 2^64 keys.
Result<SplitPlan> SplitEvenly(const HashSpace& space, uint64_t regions);

/// Keys that begin with a number, 0 to `partitions` - 1, and where `parts` > 1 with another, 0 to
/// `parts` - 1. Each pair is a region. Numbers are decimal digits, as many as the largest needs, or
/// `in_bytes` one byte up to 256 numbers, else two, big-endian. Requires: both are 1 to 65,536.
SplitPlan SplitByPartition(uint64_t partitions, uint64_t parts, bool in_bytes);

/// The decimal digits of 0 to `count` - 1. Requires: count > 0.
size_t DigitsOf(uint64_t count);
/// Appends `number` in `width` decimal digits, with zeros before it; more where it does not fit.
void AppendDecimal(uint64_t number, size_t width, std::string* out);

}  // namespace tandem::row_keys

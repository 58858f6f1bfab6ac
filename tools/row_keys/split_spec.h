// How a user asks for split keys:
//
//   auto:N              from a sample, N regions
//   hex:N[:WIDTH]       evenly over keys that begin with WIDTH hex digits 0-9a-f (8)
//   upper-hex:N[:WIDTH] the same with 0-9A-F
//   decimal:N[:WIDTH]   ... decimal digits        binary:N[:WIDTH]  ... bytes
//   partitions:N[:M]    keys that begin with a partition number, and a part of it
//   partition-bytes:N[:M]  the same where the numbers are bytes
//   @FILE               the keys that FILE has, one a line, in any order
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/split_keys.h"
#include "tandem/status.h"

namespace tandem::row_keys {

struct SplitSpec {
  std::string text;      ///< As it was typed.
  uint64_t sampled = 0;  ///< auto: regions; otherwise 0,
  SplitPlan plan;        ///< and the plan.
};

/// Errors: kInvalidArgument, with what is wrong; those of reading the file.
Result<SplitSpec> ParseSplitSpec(std::string_view text);

}  // namespace tandem::row_keys

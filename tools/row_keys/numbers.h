// Numbers in the small languages of this folder: `NAME:NUMBER:NUMBER`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tandem/status.h"

namespace tandem::row_keys {

/// A name and what comes after it, as typed.
struct Words {
  std::string_view text;  ///< The whole.
  std::string_view name;
  std::vector<std::string_view> parameters;
};
/// Splits at each ':'.
Words SplitWords(std::string_view text);

struct Range {
  uint64_t least = 0, most = 0;
};
/// The parameter at `place`. Errors: kInvalidArgument: none is there, it is no number, or out of
/// range; `what` says what it is.
Result<uint64_t> NumberAt(const Words& words, size_t place, std::string_view what, Range range);
/// The same for a fraction above 0 and up to `most`.
Result<double> FractionAt(const Words& words, size_t place, std::string_view what, double most);
/// Errors: kInvalidArgument when there are more parameters than `most`.
Status CheckParameters(const Words& words, size_t most);

}  // namespace tandem::row_keys

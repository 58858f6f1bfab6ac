// Random keys and values. They come from small sets on purpose, so that rows are written again,
// index entries become stale, and the edges of the encodings (empty, 0x00, 0xFF, equal prefixes,
// extreme integers) are common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/generator/dice.h"

namespace tandem::test {

/// What the values of a column are.
enum class ValueKind : uint8_t {
  kText,     ///< Words in UTF-8, few enough for long lists in an index.
  kInteger,  ///< Decimal int64, also as nobody writes it: "007", "-0".
  kBytes,    ///< Of any kind; some are hundreds of bytes long.
  kPlain,    ///< Numbers, and now and then up to 9,000 bytes: too long for an index.
  kLong,     ///< Up to 9,000 bytes.
};

std::string RandomValue(Dice* dice, ValueKind kind);
/// What no row can have in an indexed column of the kind, and yet has its place among the values.
std::string RandomOutsider(Dice* dice, ValueKind kind);

/// `count` distinct keys of 1 to some 60 bytes, in random order: short, long, with equal prefixes,
/// with 0x00 and 0xFF in them.
std::vector<std::string> NewKeys(Dice* dice, uint64_t count);

}  // namespace tandem::test

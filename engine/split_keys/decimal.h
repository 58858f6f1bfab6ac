// Decimal numbers as keys begin with them (PartitionSpace).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tandem::engine {

/// The decimal digits of 0 to `count` - 1. Requires: count > 0.
size_t DigitsOf(uint64_t count);
/// Appends `number` in `width` decimal digits, with zeros before it; more where it does not fit.
void AppendDecimal(uint64_t number, size_t width, std::string* out);

}  // namespace tandem::engine

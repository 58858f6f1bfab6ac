// What rows take, measured: the engine writes a sample of them to a disk in memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tandem/status.h"
#include "tools/emulator/region.h"
#include "tools/emulator/row_shape.h"

namespace tandem::emulator {

/// Keys of a sample: more are not needed.
inline constexpr size_t kMeasuredKeys = 65'536;

/// Costs of rows of this shape under these keys, as they come; a key may come again. Errors:
/// kInvalidArgument when there is no key, or the rows fit no table: an index of a column that there
/// is not, a value that does not fit the type of its index.
Result<RowCosts> MeasureCosts(const RowShape& shape, std::span<const std::string> keys);

}  // namespace tandem::emulator

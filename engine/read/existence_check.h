// Checks whether a row exists of which no decoded cell is visible. A row exists if any of its cells
// is visible, so its other families are read.
#pragma once

#include <vector>

#include "engine/read/row_locations.h"
#include "engine/source/read_context.h"

namespace tandem::engine {

/// Threads: one at a time.
class ExistenceCheck {
 public:
  ExistenceCheck(ReadContext* context, BlockMemo* blocks) : context_(context), blocks_(blocks) {}

  /// Whether the row has a visible cell in a family that is not decoded. Errors: kCorruption,
  /// kIoError.
  Result<bool> ExistsElsewhere(const RowLocations& locations);
  /// Whether it has any visible cell.
  Result<bool> Exists(const RowLocations& locations);

 private:
  Result<bool> ShowsCells(const RowLocations& locations, format::FamilyId family);

  ReadContext* context_;
  BlockMemo* blocks_;
  std::vector<format::Cell> cells_, visible_;
};

}  // namespace tandem::engine

// Places the values of cells that are about to be written. Values too long for a block of cells are
// written as overflow values, overflow values of another file are copied, and the cells get
// references to them.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "format/block/section_writer.h"
#include "format/cell/cell.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time.
class OverflowValueWriter {
 public:
  /// `out` has the data section open while cells are placed, and outlives this.
  explicit OverflowValueWriter(SectionWriter* out) : out_(out) {}

  /// Writes the overflow values and returns `cells` with references in their place: `cells` itself
  /// if none has one. Errors: kInvalidArgument (a value above kOverflowValueBytesMax), kCorruption,
  /// kIoError, kNoSpace. Lifetime: until the next call.
  Result<std::span<const Cell>> Place(std::span<const Cell> cells, Compression compression);

 private:
  Status PlaceValue(Compression compression, Cell* cell);

  SectionWriter* out_;
  std::vector<Cell> placed_;
  std::deque<std::string> references_;
};

}  // namespace tandem::format

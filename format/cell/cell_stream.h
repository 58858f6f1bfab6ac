// The cells of one row that need not fit in memory: from one source, in pieces, or from several
// sources, merged column by column.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/cell/cell.h"
#include "tandem/status.h"

namespace tandem::format {

/// The cells of a row in one source in the order of CellLess. Threads: one at a time.
class CellStream {
 public:
  virtual ~CellStream() = default;
  /// Moves to the next piece; false at the end. Errors: kCorruption, kIoError.
  virtual Result<bool> Next() = 0;
  /// The current piece, not empty. Lifetime: the span is valid until Next, the bytes of its cells
  /// as long as someone holds pin().
  std::span<const Cell> cells() const { return cells_; }
  const std::shared_ptr<const void>& pin() const { return pin_; }

 protected:
  std::vector<Cell> cells_;
  std::shared_ptr<const void> pin_;
};

/// Cells that are in memory already, sorted. Lifetime: `pin` (may be null) keeps their bytes.
std::unique_ptr<CellStream> NewCellStream(std::vector<Cell> cells, std::shared_ptr<const void> pin);

/// A row merged over its sources: family by family, column by column. Memory: one column's cells
/// and one piece of each source. Threads: one at a time.
class ColumnStream {
 public:
  explicit ColumnStream(std::vector<std::unique_ptr<CellStream>> sources);
  ~ColumnStream();

  /// Moves to the next column, over all families; false at the end. A family with only DeleteFamily
  /// markers is returned as one column without cells. Errors: as CellStream::Next.
  Result<bool> Next();

  FamilyId family() const;
  /// All DeleteFamily markers of the current family, sorted. Lifetime: until the family changes.
  std::span<const Cell> family_deletes() const;
  /// All other cells of the current column, sorted; empty only if the family has only markers.
  /// Lifetime: until Next.
  std::span<const Cell> cells() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::format

// Returning rows that cannot simply be projected: rows read in pieces, rows whose cells are not in
// memory, rows with overflow values. Where a row is cut depends only on its visible cells.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "engine/read/row_locations.h"
#include "engine/source/read_schema.h"
#include "format/cell/cell.h"
#include "tandem/row.h"

namespace tandem::engine {

/// The cells of a row that a read returns, in order, one at a time.
class ReturnedCells {
 public:
  virtual ~ReturnedCells() = default;
  /// nullptr at the end. Errors: kCorruption, kIoError. Lifetime of the cell: until the next call.
  virtual Result<const format::Cell*> Next() = 0;
  /// At least the bytes of all of them.
  virtual Result<uint64_t> StoredBytes() const = 0;
};

/// Cells that are already chosen. Lifetime: what they point to outlives the result.
std::unique_ptr<ReturnedCells> NewReturnedList(std::vector<format::Cell> cells);
/// The row over all its sources. Errors: kCorruption, kIoError. Lifetime: the schema outlives the
/// result.
Result<std::unique_ptr<ReturnedCells>> OpenReturned(const ReadSchema& schema,
                                                    const RowLocations& locations,
                                                    BlockMemo* blocks);

/// Threads: one at a time. Lifetime: the schema outlives it.
class RowPieces {
 public:
  explicit RowPieces(const ReadSchema& schema) : schema_(schema) {}

  /// Begins a row. Lifetime: `key` outlives the views of the row.
  void Begin(std::string_view key, std::unique_ptr<ReturnedCells> cells);
  /// The first or the next view of the row; a view without cells if nothing of the row is returned.
  /// With pieces it holds kRowPieceBytes of cells at most, or one cell. Requires: it is the first
  /// or the one before continues. Errors: kOverBudget (without pieces, a row of more than
  /// kWholeRowBytesMax), kCorruption, kIoError. Lifetime: until the next call.
  Result<RowView> Next();

 private:
  Status Take(const format::Cell& cell);
  Status TooLarge() const;

  const ReadSchema& schema_;
  std::string_view key_;
  std::unique_ptr<ReturnedCells> source_;
  const format::Cell* pending_ = nullptr;   // Taken from the source, not in a view yet.
  std::optional<base::Arena> bytes_;        // Of the current view.
  std::list<std::string> overflow_values_;  // Of the current view.
  std::vector<Cell> cells_;
};

}  // namespace tandem::engine

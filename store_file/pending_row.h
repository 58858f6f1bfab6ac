// What a store file's writer keeps of a row that comes in pieces: the cells of the family that is
// coming in, and the cells that the indexes will be asked about when the row ends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/cell/cell.h"
#include "format/cell/cell_buffer.h"
#include "format/schema.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `table` outlives it.
class RowPieces {
 public:
  explicit RowPieces(const TableRecord& table) : table_(&table) {}

  void Begin(std::string_view key);
  const std::string& key() const { return key_; }
  /// The family whose cells come in; nullopt before the first cell of the row.
  std::optional<FamilyId> family() const { return family_; }
  /// Begins a family; the cells of the one before are kept no longer. Errors: kCorruption when it
  /// does not come behind that one.
  Status BeginFamily(FamilyId family);

  /// Keeps cells of the present family. Errors: kCorruption when they do not rise (DeleteFamily
  /// markers may come in any order).
  Status Add(std::span<const Cell> cells);
  /// Of the cells of the present family that are kept (WidthOf).
  size_t width() const { return width_; }
  /// Those of them that are no DeleteFamily markers, sorted. Lifetime: as FamilyCells.
  std::span<const Cell> Columns();
  /// Keeps those no longer; cells to come have to follow them all the same.
  void DropColumns();
  /// The DeleteFamily markers of the present family so far, sorted. Lifetime: as FamilyCells.
  std::span<const Cell> FamilyDeletes();
  /// The cells of the present family so far, sorted. Lifetime: until the next call of anything.
  std::span<const Cell> FamilyCells();
  /// The cells of the row that concern indexes, sorted. Lifetime: as FamilyCells.
  std::span<const Cell> IndexedCells();

 private:
  Status CheckOrder(const Cell& cell);

  const TableRecord* table_;
  std::string key_;
  std::optional<FamilyId> family_;
  CellBuffer deletes_, cells_;  // Of the present family: its DeleteFamily markers, all others.
  size_t width_ = 0;            // Of both.
  CellBuffer indexed_;          // Of the row.
  std::vector<Cell> sorted_;

  // The last cell of the family that is no DeleteFamily marker; its column by value.
  std::optional<Cell> last_;
  std::string last_qualifier_;
};

}  // namespace tandem::format

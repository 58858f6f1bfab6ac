// What a store file's writer keeps of a row that comes in pieces: the cells of the current family,
// and the cells that concern indexes, for the end of the row.
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
  /// The current family; nullopt before the first cell of the row.
  std::optional<FamilyId> family() const { return family_; }
  /// Begins a family and drops the cells of the previous one. Errors: kCorruption when it does not
  /// come after that one.
  Status BeginFamily(FamilyId family);

  /// Keeps cells of the current family. Errors: kCorruption when they do not ascend (DeleteFamily
  /// markers may come in any order).
  Status Add(std::span<const Cell> cells);
  /// The width (WidthOf) of the kept cells of the current family.
  size_t width() const { return width_; }
  /// The kept cells that are not DeleteFamily markers, sorted. Lifetime: as FamilyCells.
  std::span<const Cell> Columns();
  /// Drops those cells; later cells must still come after them.
  void DropColumns();
  /// The DeleteFamily markers of the current family so far, sorted. Lifetime: as FamilyCells.
  std::span<const Cell> FamilyDeletes();
  /// The cells of the current family so far, sorted. Lifetime: until the next call of any method.
  std::span<const Cell> FamilyCells();
  /// The cells of the row that concern indexes, sorted. Lifetime: as FamilyCells.
  std::span<const Cell> IndexedCells();

 private:
  Status CheckOrder(const Cell& cell);

  const TableRecord* table_;
  std::string key_;
  std::optional<FamilyId> family_;
  CellBuffer deletes_, cells_;  // Of the current family: its DeleteFamily markers, all others.
  size_t width_ = 0;            // Of both.
  CellBuffer indexed_;          // Of the row.
  std::vector<Cell> sorted_;

  // The last cell of the family that is not a DeleteFamily marker; its qualifier is a copy.
  std::optional<Cell> last_;
  std::string last_qualifier_;
};

}  // namespace tandem::format

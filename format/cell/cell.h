// A cell in memory and the order of the cells of a row, the same in memstores, files and merges.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "format/types.h"

namespace tandem::format {

class BlockFile;

/// Numbers are on disk.
enum class CellKind : uint8_t { kPut = 0, kDeleteCell = 1, kDeleteColumn = 2, kDeleteFamily = 3 };

/// Lifetime: the maker of the cell (a block, an arena, a batch) owns the bytes.
struct Cell {
  CellKind kind = CellKind::kPut;
  FamilyId family;
  std::string_view qualifier;  ///< Empty for kDeleteFamily (and a legal name of a column).
  int64_t timestamp = 0;       ///< Microseconds since 1970, or the user's own.
  SequenceNumber sequence;
  /// Empty unless kPut. With `overflow_file`: an encoded OverflowReference.
  std::string_view value;
  /// Not null: the value is in value blocks of that file, which outlives the cell
  /// (overflow_value.h).
  const BlockFile* overflow_file = nullptr;

  bool is_overflow() const { return overflow_file != nullptr; }
};

/// The order of cells within a row: family; DeleteFamily markers first; qualifier bytes; timestamp
/// descending; sequence descending; kind.
bool CellLess(const Cell& a, const Cell& b);

inline bool IsFamilyDelete(const Cell& cell) { return cell.kind == CellKind::kDeleteFamily; }
/// Sorts by CellLess. Fast if they are in order already, as the cells of a column usually are.
void SortCells(std::span<Cell> cells);

/// Whether both cells belong to the same column (family and qualifier; neither a DeleteFamily).
inline bool SameColumn(const Cell& a, const Cell& b) {
  return a.family == b.family && a.qualifier == b.qualifier;
}

}  // namespace tandem::format

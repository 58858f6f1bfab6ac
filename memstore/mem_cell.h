// A cell as a memstore keeps it.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/cell/cell.h"
#include "format/types.h"

namespace tandem::engine {

/// Used in place of a CellKind: not a cell, but the RowTree of the cells before it (row_tree.h).
inline constexpr uint8_t kTreeCell = 0xff;

/// A cell under its row; qualifier and value follow it in memory. Lifetime: the arena's.
struct MemCell {
  const MemCell* older = nullptr;  ///< Applied before; nullptr: the first of the row.
  format::SequenceNumber sequence;
  int64_t timestamp = 0;
  uint32_t value_bytes = 0;
  uint16_t qualifier_bytes = 0;
  uint8_t family = 0;
  uint8_t kind = 0;

  bool is_put() const { return kind == static_cast<uint8_t>(format::CellKind::kPut); }
  bool is_family_delete() const {
    return kind == static_cast<uint8_t>(format::CellKind::kDeleteFamily);
  }
  bool is_column_delete() const {
    return kind == static_cast<uint8_t>(format::CellKind::kDeleteColumn);
  }
  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view qualifier() const { return {bytes(), qualifier_bytes}; }
  std::string_view value() const { return {bytes() + qualifier_bytes, value_bytes}; }
};

/// Lifetime: the views belong to the cell.
inline format::Cell ToCell(const MemCell& cell) {
  return {.kind = static_cast<format::CellKind>(cell.kind),
          .family = format::FamilyId(cell.family),
          .qualifier = cell.qualifier(),
          .timestamp = cell.timestamp,
          .sequence = cell.sequence,
          .value = cell.value()};
}

}  // namespace tandem::engine

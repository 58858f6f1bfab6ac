// The order of cells.
#include "format/cell/cell.h"

#include <algorithm>

namespace tandem::format {
namespace {

// Usually the first bytes differ.
int CompareQualifiers(std::string_view a, std::string_view b) {
  if (!a.empty() && !b.empty() && a[0] != b[0]) {
    return static_cast<uint8_t>(a[0]) < static_cast<uint8_t>(b[0]) ? -1 : 1;
  }
  return a.compare(b);
}

}  // namespace

bool CellLess(const Cell& a, const Cell& b) {
  if (a.family != b.family) return a.family < b.family;
  const bool a_family = a.kind == CellKind::kDeleteFamily;
  const bool b_family = b.kind == CellKind::kDeleteFamily;
  if (a_family != b_family) return a_family;
  if (const int order = CompareQualifiers(a.qualifier, b.qualifier); order != 0) return order < 0;
  if (a.timestamp != b.timestamp) return a.timestamp > b.timestamp;
  if (a.sequence != b.sequence) return a.sequence > b.sequence;
  return a.kind < b.kind;
}

void SortCells(std::span<Cell> cells) {
  if (!std::is_sorted(cells.begin(), cells.end(), CellLess)) {
    std::sort(cells.begin(), cells.end(), CellLess);
  }
}

}  // namespace tandem::format

// The order of cells.
#include "format/cell.h"

namespace tandem::format {

bool CellLess(const Cell& a, const Cell& b) {
  if (a.family != b.family) return a.family < b.family;
  const bool a_family = a.kind == CellKind::kDeleteFamily;
  const bool b_family = b.kind == CellKind::kDeleteFamily;
  if (a_family != b_family) return a_family;
  if (const int order = a.qualifier.compare(b.qualifier); order != 0) return order < 0;
  if (a.timestamp != b.timestamp) return a.timestamp > b.timestamp;
  if (a.sequence != b.sequence) return a.sequence > b.sequence;
  return a.kind < b.kind;
}

}  // namespace tandem::format

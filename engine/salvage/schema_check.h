// Which cells of a damaged database its tables can have. A file or a frame that verifies may still
// come from another writer, or from an earlier form of the table: a copy with a cell that does not
// fit would be refused when it is opened, merged or verified.
#pragma once

#include <cstdint>
#include <string>

#include "engine/salvage/report.h"
#include "format/cell/cell.h"
#include "format/schema.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// OK, or why `table` cannot have the cell: its family is not one of the table's. Errors:
/// kCorruption.
Status CheckFits(const format::TableRecord& table, const format::Cell& cell);

/// OK, or why no database can have the sequence: it is above `limit`. Errors: kCorruption.
Status CheckSequence(format::SequenceNumber sequence, uint64_t limit);

/// Adds a range of one row to those lost since `begin`, or joins it to the last of them, if that is
/// of the same row or the list is full. Requires: rows of a range come in the order of their keys,
/// or all lie in keys that only grow wider.
void AddLostRow(LostRange row, size_t begin, std::vector<LostRange>* lost);

}  // namespace tandem::engine

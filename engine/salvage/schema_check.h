// Which cells of a damaged database its tables can have. A file or a frame that verifies may still
// have been made by somebody else, or for the table as it was: what does not fit would have the
// copy refused when it is opened, merged or verified.
#pragma once

#include <cstdint>
#include <string>

#include "engine/salvage/salvage.h"
#include "format/cell/cell.h"
#include "format/schema.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// OK, or why `table` cannot have the cell: its family is none of the table's, or its value is no
/// value of an index on the column. Errors: kCorruption.
Status CheckFits(const format::TableRecord& table, const format::Cell& cell);

/// OK, or why no database can have the sequence: it is above `limit`. Errors: kCorruption.
Status CheckSequence(format::SequenceNumber sequence, uint64_t limit);

/// Adds a range of one row to those that are lost since `begin`, or joins it to the last of them:
/// where that is of the same row, or where there are too many for a list. Requires: rows of a range
/// come in the order of their keys, or all lie in keys that only grow wider.
void AddLostRow(LostRange row, size_t begin, std::vector<LostRange>* lost);

}  // namespace tandem::engine

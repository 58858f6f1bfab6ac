// Which rows have entries in a partial index.
//
// A source knows some columns of a row. Its entry is left out if the predicate is false whatever
// the others are: a column that the source has no counting Put of is unknown, and so is a
// comparison of it; AND and OR are of three values. So the newest of the sources with cells of the
// columns that the index depends on has an entry if the row as a whole satisfies the predicate:
// nothing newer changes what it knows (engine/source/column_order.h). An older source may have
// none.
#pragma once

#include <cstdint>
#include <span>

#include "format/cell/cell.h"
#include "format/schema.h"

namespace tandem::format {

enum class Truth : uint8_t { kFalse, kUnknown, kTrue };

/// What is known of the predicate of a row whose columns have the Puts, one for each of
/// `predicate.columns`; nullptr: not known here. An overflow value of a column of bytes counts as
/// not known, as do functions that another version of Unicode pins.
Truth TruthOf(const IndexPredicate& predicate, std::span<const Cell* const> puts);

}  // namespace tandem::format

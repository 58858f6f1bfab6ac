// Walking an index over several columns in its order. A row whose columns lie in several sources
// has no entry with its place, so a range of keys is not enough to find the rows that belong there.
//
// 1. A range is cut where the value of the first column changes, unless it has all entries of the
//    values between. All rows of whole values are found by these (rule 18).
// 2. Within one value x of the first column, let (y, z) be the others. The newest source of a row
//    with (y, z) in [l, h) has an entry that leaves out some of them (column_order.h): of x, y and
//    z it is in the range itself, with or without x, if it has y; unless y is that of l or h and z
//    is left out, which is one key; and if y is left out it is among those without y.
// 3. A row in one file alone is there by its whole entry, so other entries lead to rows of several
//    sources only.
#pragma once

#include <vector>

#include "engine/predicate/key_ranges.h"
#include "engine/source/candidates.h"
#include "format/schema.h"

namespace tandem::engine {

/// The parts of a range of keys, ascending: within one value of the first column, or of whole
/// values.
KeyRanges CutByFirstColumn(const format::IndexRecord& index, const format::KeyRange& range);

/// The access to the rows that may have their entry in the range, one of CutByFirstColumn.
/// Requires: the clusters are in order (column_order.h).
AccessPath AccessInOrder(const format::IndexRecord& index, const format::KeyRange& range);

}  // namespace tandem::engine

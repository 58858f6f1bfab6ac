// Whether a partial index serves a query.
#pragma once

#include <string>

#include "engine/predicate/bound.h"
#include "format/schema.h"

namespace tandem::engine {

/// Whether the index has entries that lead to all rows which satisfy `node`, in sources that are in
/// order (engine/source/column_order.h). True of an index of all rows.
bool CoversRows(const format::TableRecord& table, const format::IndexRecord& index,
                const BoundNode& node);
/// Why not. Requires: CoversRows is false.
std::string WhyNotCovering(const format::TableRecord& table, const format::IndexRecord& index);
/// Whether a row without any column of the predicate satisfies it. Such a row may have no cell that
/// the index depends on, and so no entry. Requires: the index is partial.
bool HasRowsWithoutCells(const format::IndexRecord& index);

}  // namespace tandem::engine

// The entries of an index over several columns that conditions of an AND lead to: single values of
// the first columns and any values of the one after them, in each combination, and the absent value
// besides in each place but all, which stands for a column that is not known in a source
// (engine/source/column_order.h).
// In an index that depends on columns without a place in its entries all of them may be absent.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/predicate/bound.h"
#include "engine/predicate/key_ranges.h"
#include "format/schema.h"

namespace tandem::engine {

/// Ranges ascend and are disjoint.
struct CompositeRanges {
  std::vector<size_t> conditions;  ///< In BoundNode::children, by column of the index.
  KeyRanges of_first;              ///< Entries that satisfy the first condition.
  KeyRanges whole;                 ///< Entries that satisfy all of the conditions.
  KeyRanges partial;               ///< Entries that satisfy some and leave out the other columns.
};

/// The most ranges of both kinds; fewer columns are used if they would be more. Each costs a
/// look-up in every source.
inline constexpr size_t kCompositeRangesMax = 1024;
/// The most columns that are used: one more doubles the look-ups of columns that are left out. The
/// conditions on the others are checked on the rows.
inline constexpr size_t kCompositeColumnsMax = 5;

/// Of the conditions of `node`, an AND or a single one. nullopt: they are on fewer than two of the
/// first columns (one, if IndexRecord::needs_order), or may be satisfied by an absent value. An
/// index that needs order has entries without any of the columns besides: of sources that have
/// those of its predicate alone, or not all that concat joins.
std::optional<CompositeRanges> FindCompositeRanges(const format::IndexRecord& index,
                                                   const BoundNode& node);

}  // namespace tandem::engine

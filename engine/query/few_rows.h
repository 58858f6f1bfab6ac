// Queries with few rows, all of them in memory and each decided by one file: such a query costs
// little more than its look-ups, so nothing is set up that only others need.
//
// 1. The predicate is one condition on an indexed column. Each file says by one look-up which of
//    its rows match; at most kFewRowsMax match, all in one file, whose rows are settled (rule 16).
// 2. No memstore has an entry in the ranges. No memstore and no other file holds one of the rows,
//    by keyed hash.
// 3. The blocks of the rows are cached.
//
// A row that is not plain (format/row/row_batch.h) is met only when it is decoded. Then the query
// is planned as any other, and the rows that were returned are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/predicate/bound.h"
#include "engine/query/request.h"
#include "engine/read/row_source.h"
#include "engine/region/view.h"
#include "format/schema.h"

namespace tandem::engine {

inline constexpr size_t kFewRowsMax = 64;

/// The predicate of a prepared query that is `column = ?` alone, bound but for the value, and the
/// index that it is looked up in: one run of the query leaves them to the next ones.
struct PreparedLookup {
  std::shared_ptr<const format::TableRecord> table;  ///< That it is bound to.
  const format::IndexRecord* index = nullptr;
  BoundLeaf leaf;  ///< Without a value.
  uint32_t parameter = 0;
};

/// The rows of a prepared query whose lookup is kept, as OpenFewRows would return them. nullopt:
/// none is kept, or it does not serve this run.
std::optional<std::unique_ptr<RowSource>> LookUpFewRows(const QueryRequest& request,
                                                        TableView* view);

/// The rows of the query in key order; nullptr: it has to be planned, which also reports what is
/// wrong with it. Takes `*predicate`, which is bound to the view's table, and `*view` if it does
/// not return nullptr.
std::unique_ptr<RowSource> OpenFewRows(const QueryRequest& request, BoundPredicate* predicate,
                                       TableView* view);

}  // namespace tandem::engine

// Queries with few rows, all of them in memory (engine/read/few_rows_finder.h), whose predicate is
// one condition on an indexed column: such a query costs little more than its look-ups, so nothing
// is set up that only others need.
//
// A row that is not plain (format/row/row_batch.h) is met only when it is decoded. Then the query
// is planned as any other, and the rows that were returned are skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/predicate/bound.h"
#include "engine/query/request.h"
#include "engine/read/row_source.h"
#include "engine/region/view.h"
#include "format/schema.h"

namespace tandem::engine {

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

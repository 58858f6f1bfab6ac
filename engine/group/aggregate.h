// Groups of the rows of a query, and what is computed of each (Database::Aggregate).
//
// Of the ways to make groups the first that serves is taken:
//
// 1. Without columns to group by, counts come from CountRows, and a minimum or maximum is the first
//    row in the order of an index over the column.
// 2. By entries (counted_groups.h): an index over the only column decides the predicate too, and
//    nothing but rows is counted.
// 3. One after the other: rows come in the order of an index that begins with the columns. Rows
//    without its first column come before, or after; they are a query of their own.
// 4. Collected: a table in memory has a group for each distinct value, and is sorted at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/group/groups.h"
#include "engine/query/request.h"
#include "engine/read/row_source.h"
#include "engine/region/view.h"
#include "format/schema.h"
#include "tandem/aggregate.h"

namespace tandem::engine {

/// Errors: kInvalidArgument (nothing is asked for; a text that names no column, or calls none of
/// `functions`; a column that cannot be grouped by, or not summed; too many), kNotFound (a family).
Result<GroupSpec> BindGroups(const AggregateOptions& options,
                             std::shared_ptr<const format::TableRecord> table,
                             const format::FunctionRegistry& functions);
/// How the rows that are grouped are found.
QueryOptions RowsOf(const AggregateOptions& options);

/// How groups are made.
struct GroupPlan {
  std::string text;      ///< For Explanation::grouping.
  std::string order_by;  ///< The index whose order rows are read in; empty: they are not.
  bool reads_rows = true;
  std::string index;  ///< If no rows are read: where the groups come from.
};

/// The groups as rows: one cell for each of the keys, then for each of the values, whose timestamp
/// is 1 if it is present, else 0. The request asks for `spec.columns` of the rows. `*plan` says
/// how. /// Errors: as QueryRows; those of the source also kInvalidArgument (a sum), kOverBudget.
Result<std::unique_ptr<RowSource>> OpenGroups(const QueryRequest& request, GroupSpec spec,
                                              TableView view, GroupPlan* plan);
/// The groups of other rows, collected.
std::unique_ptr<RowSource> CollectGroups(const QueryRequest& request, GroupSpec spec,
                                         std::unique_ptr<RowSource> rows);

}  // namespace tandem::engine

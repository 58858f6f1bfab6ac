// Indexes that a query asks for: by name, and for the order of its rows.
#pragma once

#include <string>

#include "format/registry/registered.h"
#include "format/schema.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

/// An index of the table. Errors: kNotFound.
Result<const format::IndexRecord*> IndexNamed(const format::TableRecord& table,
                                              const std::string& name);

/// What QueryOptions::order_by and descending ask for. Lifetime: of the table's record.
struct IndexOrder {
  const format::IndexRecord* index = nullptr;
  bool is_global = false;
  bool falls = false;  ///< The largest value of the first column comes first.
};

/// Requires: `options.order_by` is not empty. `functions`: that its columns may call. Errors:
/// kNotFound (no such index, and none over such columns), kInvalidArgument (rows have no order by
/// the index: it is unusable or multi-valued).
Result<IndexOrder> OrderAskedFor(const format::TableRecord& table,
                                 const format::FunctionRegistry* functions,
                                 const QueryOptions& options);

}  // namespace tandem::engine

// Queries of a program, read from a log: JSON lines as slow_log.h writes them, or predicates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/advice.h"
#include "tandem/status.h"
#include "tools/tandem/context.h"

namespace tandem::tools {

struct LoggedQueries {
  std::vector<AdvisedQuery> queries;  ///< Each once, with its count.
  std::vector<uint64_t> lines;        ///< Of each the first one.
  uint64_t of_other_tables = 0;       ///< Lines.
  uint64_t left_out = 0;  ///< Queries, beyond kAdvisedQueriesMax: those that took least.
};

/// Those of the table. A line is a JSON object, of which table, call, predicate, columns, order_by,
/// descending, limit, offset, use_index, use_indexes, no_index, no_scan, any_version, micros and
/// count are looked at, or a predicate. Empty lines are passed over. `path`: "-" is standard input.
/// Errors: kNotFound, kIoError; kInvalidArgument "FILE:LINE: ...", or if there is no query.
Result<LoggedQueries> ReadQueryLog(const std::string& path, const std::string& table,
                                   const Context& context);

}  // namespace tandem::tools

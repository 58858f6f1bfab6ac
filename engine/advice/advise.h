// Which indexes would help (Database::AdviseIndexes).
//
// 1. Conditions say which indexes may serve (proposals.h), and the finder of the planner which
//    entries a plan would look up in them.
// 2. One pass over the rows of the files counts these entries, and the data blocks that the rows
//    behind them lie in (measured_ways.h). What a query reads now comes from a run of it.
// 3. An index is advised if it saves most, then the one that saves most of the rest, and so on. As
//    a plan does, a query uses the indexes with the fewest entries, and a scan where they are many.
// 4. The sections of the advised ones are made and measured (section_sizes.h).
#pragma once

#include <functional>
#include <vector>

#include "engine/advice/proposals.h"
#include "engine/region/view.h"
#include "format/registry/registered.h"
#include "tandem/advice.h"
#include "tandem/explanation.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Lifetime: that of the call.
struct AdviceRequest {
  const std::vector<AdvisedQuery>& queries;
  const AdviseOptions& options;
  const format::FunctionRegistry& functions;
  /// How a query is answered now.
  std::function<Result<Explanation>(const AdvisedQuery&)> explain;
  SchemaChanges changes;
};

/// `view` has all regions of the table. Errors: kInvalidArgument (there is no query, or too many;
/// one that cannot be bound, which is named by its number), kNotFound (a family), kCancelled,
/// kCorruption, kIoError.
Result<IndexAdvice> Advise(const AdviceRequest& request, TableView view);

}  // namespace tandem::engine

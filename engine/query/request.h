// The arguments of a query, for all that plan or run one.
#pragma once

#include "engine/predicate/bound.h"
#include "engine/source/read_resources.h"
#include "tandem/options.h"
#include "tandem/predicate.h"

namespace tandem::engine {

/// Lifetime: that of the call it is passed to.
struct QueryRequest {
  const ReadResources& resources;
  const ReadOptions& options;
  const Predicate& predicate;
  const QueryOptions& query;
  const ParameterValues* values = nullptr;  ///< Null: none.
};

}  // namespace tandem::engine

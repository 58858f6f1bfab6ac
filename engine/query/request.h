// The arguments of a query, for all that plan or run one.
#pragma once

#include <optional>

#include "engine/predicate/bound.h"
#include "engine/source/position.h"
#include "engine/source/read_meter.h"
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
  const ReadFrom* from = nullptr;           ///< Of the query's token; null: from the first row.
  std::optional<ReadLimits> limits = {};    ///< Those of the options, if they have begun.
  bool no_scan = false;                     ///< Of the database's options; `query` has its own.

  ReadLimits Limits() const {
    return limits.has_value() ? *limits : ReadLimits::Of(options, resources.clock);
  }
};

}  // namespace tandem::engine

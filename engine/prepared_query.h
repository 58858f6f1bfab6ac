// A prepared query: its predicate as it was given, and the values of the parameters in it.
#pragma once

#include <string>
#include <vector>

#include "engine/predicate/bound.h"
#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
struct PreparedState {
  /// Sets the value of a parameter. Errors (nothing changes): kInvalidArgument.
  Status Bind(uint32_t parameter, std::string_view text);

  std::string table;
  Predicate predicate;
  QueryOptions query;
  ParameterValues values;          ///< One for each parameter.
  std::vector<ParameterUse> uses;  ///< As the table was when the query was prepared.
};

}  // namespace tandem::engine

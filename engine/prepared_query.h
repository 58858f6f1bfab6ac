// A prepared query: its predicate as it was given, and the values of the parameters in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/bound.h"
#include "engine/query/few_rows.h"
#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What is known of a value's text.
enum class ValueText : uint8_t {
  kAny,
  kInteger,  ///< Decimal: every column of numbers takes it.
};

/// Threads: one at a time.
struct PreparedState {
  /// Sets the value of a parameter. Errors (nothing changes): kInvalidArgument.
  Status Bind(uint32_t parameter, std::string_view text, ValueText what = ValueText::kAny);

  std::string table;
  Predicate predicate;
  std::string asked;  ///< AskedOf the predicate.
  QueryOptions query;
  ParameterValues values;                        ///< One for each parameter.
  std::vector<ParameterUse> uses;                ///< As the table was when the query was prepared.
  std::shared_ptr<const PreparedLookup> lookup;  ///< Of a run before; null: none was kept.
};

}  // namespace tandem::engine

// The text of a predicate with the values that its parameters had.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tandem/predicate.h"

namespace tandem::engine {

/// The values of parameters, the first one's first; nullopt: it has none.
using ParameterValues = std::vector<std::optional<std::string>>;

/// As Predicate::ToString, with values in the place of the parameters that have one: text that
/// reads as the predicate that these were bound to.
std::string TextWith(const Predicate& predicate, const ParameterValues& values);

}  // namespace tandem::engine

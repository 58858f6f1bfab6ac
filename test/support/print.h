// How the test framework prints our types in a failed comparison.
#pragma once

#include <ostream>

#include "tandem/status.h"

namespace tandem {

inline std::ostream& operator<<(std::ostream& out, StatusCode code) {
  return out << StatusCodeName(code);
}

inline std::ostream& operator<<(std::ostream& out, const Status& status) {
  return out << status.ToString();
}

}  // namespace tandem

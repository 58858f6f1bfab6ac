// A named value of an input record.
#pragma once

#include <string_view>

namespace tandem::tools {

/// Lifetime: that of the record it belongs to.
struct Field {
  std::string_view name;
  std::string_view value;
};

}  // namespace tandem::tools

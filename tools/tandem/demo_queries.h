// The demo's table and what it asks of it; the tests count the same with awk.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tandem/options.h"
#include "tandem/schema.h"

namespace tandem::tools {

inline constexpr std::string_view kDemoTable = "packages";
/// Several versions of a package exist, and some architectures: together they are unique.
inline constexpr std::string_view kDemoRow = "{Package}/{Version}/{Architecture}";

TableOptions DemoTableOptions();

struct DemoQuery {
  const char* title;
  const char* predicate;  ///< Empty: every row.
  const char* order_by = "";
  bool descending = false;
  uint64_t limit = 0;

  QueryOptions options() const;
};
std::span<const DemoQuery> DemoQueries();

}  // namespace tandem::tools

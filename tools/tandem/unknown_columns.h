// Columns of a predicate that nothing in its table has: mostly names that were typed wrongly, which
// to the engine are absent columns like any other.
#pragma once

#include <string>

#include "tandem/database.h"
#include "tools/tandem/context.h"

namespace tandem::tools {

struct AskedColumns {
  std::string verb;
  std::string table;
  const Predicate& predicate;
};

/// Says on stderr which columns of the predicate no index is over and no row has, each with the
/// nearest name that rows have. To be called where nothing was found: reads the table as far as the
/// first row of each such column, for an unknown one to its end.
void SayUnknownColumns(Database& database, const AskedColumns& asked, const Context& context);

}  // namespace tandem::tools

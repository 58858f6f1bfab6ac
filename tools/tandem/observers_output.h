// Observers of a table as records: for info and observers.
#pragma once

#include "tandem/database.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// Writes a record of each observer of the table, in its order, if it has one.
void WriteObservers(const TableInfo& table, RecordWriter* writer);

}  // namespace tandem::tools

// Indexes as records: for info, and for index list.
#pragma once

#include "tandem/database.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// Writes a record of each index of the table, if it has one.
void WriteIndexes(const TableInfo& table, RecordWriter* writer);

}  // namespace tandem::tools

// Drawings of tables for people: regions, runs and files, and how the bytes of each are shared out.
#pragma once

#include <string>

#include "tandem/database.h"

namespace tandem::tools {

/// At most 80 columns wide. Of a table of many regions the largest are drawn, in the order of their
/// keys; of a region of many files only the runs.
std::string DrawTable(const TableInfo& table);
/// All tables, each with a heading.
std::string DrawTables(const DatabaseInfo& info);

}  // namespace tandem::tools

// A drawing of a table: its regions, their files, and how the bytes of each file are shared out.
#pragma once

#include <string>

#include "tandem/database.h"

namespace tandem::tools {

/// At most 80 columns wide.
std::string DrawTable(const TableInfo& table);

}  // namespace tandem::tools

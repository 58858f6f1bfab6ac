// The tables of the model test.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/generator/generator.h"

namespace tandem::test {

/// The tables of one database: one version; three versions, three families and several regions; a
/// time to live in one of two families; one that is never logged; one of large rows. `rows` is how
/// many keys each has, as far as its kind allows.
std::vector<TablePlan> NewTables(Dice* dice, uint64_t rows);
/// The same without the indexes that call functions of the program.
TablePlan WithoutCalls(TablePlan plan);

}  // namespace tandem::test

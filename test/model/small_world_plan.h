// What the table of a small world is, and what is asked of it: three rows, three columns, two values.
#pragma once

#include <string>
#include <vector>

#include "test/model/small_world.h"
#include "tools/generator/generator.h"

namespace tandem::test {

inline const std::vector<std::string> kSmallRows = {"x", "y", "z"};

/// The table "w" as it is created.
TablePlan PlanOf(const SmallWorld& world);
/// Every predicate of the small world that is worth asking.
std::vector<Predicate> SmallPredicates(const SmallWorld& world);
/// Of what concat makes of two columns.
void AddJoinedPredicates(const SmallWorld& world, std::vector<Predicate>* all);

}  // namespace tandem::test

// What merges would do in a region, without doing it.
#pragma once

#include <cstdint>

#include "engine/region/view.h"
#include "engine/storage/catalog.h"
#include "tandem/space.h"

namespace tandem::engine {

/// `runs_max`: of an idle region (compaction::MergePolicy). The table's name is left empty. Reads
/// nothing.
CompactionPlan PlanOf(const RegionVersion& region, uint32_t runs_max,
                      const format::Catalog& catalog);

}  // namespace tandem::engine

// What merges would do in a region, without doing it.
#pragma once

#include <cstdint>

#include "engine/region/view.h"
#include "engine/storage/catalog.h"
#include "tandem/space.h"

namespace tandem::engine {

struct PlanPoint {
  uint32_t runs_max = 0;   ///< Of an idle region (compaction::MergePolicy).
  int64_t now_micros = 0;  ///< What has expired by then goes.
};
/// The table's name is left empty. Reads nothing. Requires: the catalog has the table.
CompactionPlan PlanOf(const RegionVersion& region, format::TableId table,
                      const format::Catalog& catalog, const PlanPoint& point);

}  // namespace tandem::engine

// A region of no table, for what looks at its identity alone.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/region/region.h"

namespace tandem::test {

inline std::shared_ptr<engine::Region> EmptyRegion(uint64_t id) {
  format::RegionRecord record;
  record.id = format::RegionId(id);
  return std::make_shared<engine::Region>(record, std::make_shared<const format::TableRecord>());
}

}  // namespace tandem::test

// Iterates over the distinct values of one part of an index section, in both directions.
#pragma once

#include <memory>

#include "index/part_reader.h"
#include "index/section.h"

namespace tandem::format {

/// Lifetime: `part` outlives the cursor. Threads: one at a time.
std::unique_ptr<IndexValueCursor> NewPartCursor(const IndexPartReader& part,
                                                StreamReader::Through through);

}  // namespace tandem::format

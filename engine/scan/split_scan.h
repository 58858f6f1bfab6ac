// Cutting a table's keys into ranges that cost a scan about the same.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/region/view.h"
#include "engine/source/read_schema.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

/// See Database::SplitScan. The weight of a range is the bytes of the blocks that the schema
/// decodes in files, and memstores by their rows. Cost: a step for each of about 16 blocks a part
/// in each section of rows, and one for each row in memory. Errors: kCorruption, kIoError.
Result<std::vector<RowRange>> SplitRows(const TableView& view, const ReadSchema& schema,
                                        uint32_t parts);

}  // namespace tandem::engine

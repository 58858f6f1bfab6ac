// What an index holds, and how its order lies to the rows.
#pragma once

#include "base/cancellation.h"
#include "engine/region/view.h"
#include "format/schema.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::engine {

/// About how many rows are indexed anew, to say what that costs.
inline constexpr uint64_t kCostRows = 8 * 2048;

/// See Database::GetIndexStatistics. Reads block indexes and, past the block cache, the sections of
/// the index, one file after the other, and kCostRows of the rows. Errors: kCorruption, kIoError,
/// kCancelled.
Result<IndexStatistics> MeasureIndex(const TableView& view, const format::IndexRecord& index,
                                     const base::Cancellation& cancellation);

}  // namespace tandem::engine

// What an index holds, and how its order lies to the rows.
#pragma once

#include "base/cancellation.h"
#include "engine/region/view.h"
#include "format/schema.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::engine {

/// See Database::GetIndexStatistics. Reads block indexes and, past the block cache, the sections of
/// the index, one file after the other, and some thousand rows. Errors: kCorruption, kIoError,
/// kCancelled.
Result<IndexStatistics> MeasureIndex(const TableView& view, const format::IndexRecord& index,
                                     const base::Cancellation& cancellation);

}  // namespace tandem::engine

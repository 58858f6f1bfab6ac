// The rows of a table that a unique index does not allow.
#pragma once

#include <atomic>

#include "engine/region/view.h"
#include "engine/source/read_resources.h"
#include "format/schema.h"
#include "tandem/database.h"

namespace tandem::engine {

/// Reads the rows of the view in the order of the index, where equal entries are neighbours.
/// Errors: kCorruption, kIoError, kCancelled, kOverBudget.
Result<UniqueReport> FindDuplicates(const ReadResources& resources, TableView view,
                                    const format::IndexRecord& index,
                                    const std::atomic<bool>* cancelled);

}  // namespace tandem::engine

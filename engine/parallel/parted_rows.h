// The rows of a read in parts, in the order of the parts, and how many they are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/parallel/part_readers.h"
#include "engine/read/row_source.h"

namespace tandem::engine {

/// The rows but for the first `offset`, at most `limit` (0: no limit). `passed` (may be null;
/// outlives the source) counts those that were passed over. After an error the source has nothing
/// but that error.
std::unique_ptr<RowSource> NewPartedRows(PartReaders::Work work, uint64_t limit, uint64_t offset,
                                         uint64_t* passed = nullptr);

/// How many rows the read has; a count that is not below `enough` need not be all of them. Errors:
/// those of PartReaders.
Result<uint64_t> CountParted(PartReaders::Work work, uint64_t enough);

/// Gives all rows of the read to the fold. Errors: those of PartReaders and of the fold.
Status FoldParted(PartReaders::Work work, PartFold* fold);

}  // namespace tandem::engine

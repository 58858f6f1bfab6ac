// The end of a store file: statistics, digests, schema, both section tables, footer.
#pragma once

#include <string>
#include <vector>

#include "base/file_system.h"
#include "format/block/section_writer.h"
#include "format/schema.h"
#include "format/types.h"
#include "index/summary.h"
#include "store_file/file_statistics.h"
#include "tandem/status.h"

namespace tandem::format {

/// What the manifest records about a finished file.
struct StoreFileSummary {
  uint64_t size_bytes = 0;
  Hash128 hash;  ///< XXH3-128 of the whole file.
  FileStatistics statistics;
  std::vector<IndexSummary> indexes;
};

struct StoreFileEnd {
  FileNumber number;
  const TableRecord* table = nullptr;
  std::string region_start;  ///< Start key of the region that wrote the file.
  FileStatistics statistics;
  std::vector<IndexSummary> indexes;  ///< Of their sections.
};

/// Writes it after the other sections and syncs `file`, which `out` writes to; null: the caller
/// does that. Errors: kIoError, kNoSpace.
Result<StoreFileSummary> WriteStoreFileEnd(StoreFileEnd end, SectionWriter* out, base::File* file);

}  // namespace tandem::format

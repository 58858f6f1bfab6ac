// The schema section of a store file: what lets the file be read alone.
#pragma once

#include <memory>
#include <string>

#include "format/block/block.h"
#include "format/schema.h"
#include "store_file/table_records.h"
#include "tandem/status.h"

namespace tandem::format {

struct StoredSchema {
  std::string region_start;  ///< Start key of the region that wrote the file.
  /// As it was when the file was written.
  std::shared_ptr<const TableRecord> table;
};

/// Decodes the block of the section, with a record of `tables` where that is not null. Errors:
/// kCorruption, kUnsupported, naming file and offset.
Result<StoredSchema> DecodeStoredSchema(const Block& block, TableRecords* tables = nullptr);

}  // namespace tandem::format

// The schema section of a store file: what lets the file be read alone.
#pragma once

#include <string>

#include "format/block/block.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::format {

struct StoredSchema {
  std::string region_start;  ///< Start key of the region that wrote the file.
  TableRecord table;         ///< As it was when the file was written.
};

/// Decodes the block of the section. Errors: kCorruption, kUnsupported, naming file and offset.
Result<StoredSchema> DecodeStoredSchema(const Block& block);

}  // namespace tandem::format

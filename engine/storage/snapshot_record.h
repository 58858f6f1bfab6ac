// A named snapshot as the catalog records it: what the database was made of when it was created.
// The files that it refers to stay as long as it does, whatever becomes of its tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/storage/catalog_records.h"
#include "format/schema.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

struct SnapshotRecord {
  std::string name;
  SequenceNumber sequence;     ///< Its files hold every operation up to it, and no later one.
  int64_t now_micros = 0;      ///< The database's time, by which cells expire in it.
  int64_t created_micros = 0;  ///< By the wall clock, since 1970.
  std::vector<TableRecord> tables;     ///< As they were then, by id.
  std::vector<RegionRecord> regions;   ///< Of all tables, by id.
};

uint64_t MemoryOf(const SnapshotRecord& snapshot);

std::string EncodeSnapshot(const SnapshotRecord& snapshot);
/// Checks the record by itself; ApplyEdit checks what it refers to. Errors: kCorruption,
/// kUnsupported (unknown critical field, more than kCatalogMemoryMax).
Result<SnapshotRecord> DecodeSnapshot(std::string_view bytes);

}  // namespace tandem::format

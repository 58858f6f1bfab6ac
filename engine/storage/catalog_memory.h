// The memory that the records of a catalog take. A frame of a manifest states its length, but a
// record of a few bytes on disk takes a hundred in memory, and a region more in the engine that
// opens it: without a cap, a small hostile manifest fills the memory of its reader.
#pragma once

#include <cstdint>

#include "engine/storage/catalog_records.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// The limit for all records of a catalog, and for those of one edit: about 55,000 regions or
/// 200,000 files.
inline constexpr uint64_t kCatalogMemoryMax = 64 << 20;

/// An entry of Catalog::snapshot_files.
inline constexpr uint64_t kReferenceCountBytes = 64;

uint64_t MemoryOf(const TableRecord& table);
uint64_t MemoryOf(const RegionRecord& region);
uint64_t MemoryOf(const FileRecord& file);
uint64_t MemoryOf(const SegmentRecord& segment);

/// Errors: kUnsupported when `bytes` passes kCatalogMemoryMax.
Status CheckCatalogMemory(uint64_t bytes);

}  // namespace tandem::format

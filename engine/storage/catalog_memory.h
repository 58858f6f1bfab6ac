// What the records of a catalog take in memory. A frame of a manifest states its length, but a
// record of a few bytes on disk has a hundred in memory, and a region more in the engine that opens
// it: without a cap a small hostile manifest fills the memory of its reader.
#pragma once

#include <cstdint>

#include "engine/storage/catalog.h"
#include "tandem/status.h"

namespace tandem::format {

/// All records of a catalog, and those of one edit. Some 55,000 regions or 200,000 files.
inline constexpr uint64_t kCatalogMemoryMax = 64 << 20;

uint64_t MemoryOf(const TableRecord& table);
uint64_t MemoryOf(const RegionRecord& region);
uint64_t MemoryOf(const FileRecord& file);
uint64_t MemoryOf(const SegmentRecord& segment);

/// Errors: kUnsupported when `bytes` passes kCatalogMemoryMax.
Status CheckCatalogMemory(uint64_t bytes);

}  // namespace tandem::format

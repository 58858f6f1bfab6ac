// The codecs of the records inside a catalog edit: counters, files, regions and segments. All are
// lists of fields (format/fields.h); the byte tables are in catalog_records.cc.
#pragma once

#include <string>
#include <string_view>

#include "engine/storage/catalog.h"
#include "tandem/status.h"

namespace tandem::format {

std::string EncodeCounters(const CatalogCounters& counters);
std::string EncodeFile(const FileRecord& file);
std::string EncodeRegion(const RegionRecord& region);
std::string EncodeSegment(const SegmentRecord& segment);

// Errors of all: kCorruption, kUnsupported (unknown critical field). They check each record by
// itself; ApplyEdit checks its references to others.
Result<CatalogCounters> DecodeCounters(std::string_view bytes);
Result<FileRecord> DecodeFile(std::string_view bytes);
Result<RegionRecord> DecodeRegion(std::string_view bytes);
Result<SegmentRecord> DecodeSegment(std::string_view bytes);

}  // namespace tandem::format

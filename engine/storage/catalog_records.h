// The records inside a catalog and its edits: counters, files, regions and segments, and their
// codecs. All are lists of fields (format/fields.h); the byte tables are in catalog_records.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

struct IndexCounts {
  IndexId index;
  uint64_t current_entries = 0, older_entries = 0;
};

/// A store file as the manifest records it.
struct FileRecord {
  FileNumber number;
  FileId id;
  TableId table;
  uint64_t size_bytes = 0;
  Hash128 hash;  ///< XXH3-128 of the whole file.
  uint32_t rows = 0;
  uint64_t cells = 0;
  uint64_t deletes = 0;
  SequenceNumber min_sequence, max_sequence;
  int64_t min_timestamp = 0, max_timestamp = 0;
  std::string min_key, max_key;
  std::vector<IndexCounts> indexes;
};

/// The rows [low, high) of a file, as part of a run of a region.
struct FileReference {
  FileNumber file;
  uint32_t run = 0;
  uint32_t ordinal_low = 0, ordinal_high = 0;
};

struct RegionRecord {
  RegionId id;
  TableId table;
  std::string start_key;           ///< Inclusive; empty: from the first key.
  std::string end_key;             ///< Exclusive; empty: to the last key.
  SequenceNumber flushed_through;  ///< Every operation up to it is in `files`; replay skips them.
  /// The runs in sequence order, the oldest first; the files of a run in key order.
  std::vector<FileReference> files;
  /// The region begins where it does because a larger one was split for its size: nobody asked for
  /// this border, so it may go.
  bool start_by_size = false;
};

struct SegmentRecord {
  FileNumber number;
  FileId id;
};

/// Counters only grow.
struct CatalogCounters {
  uint64_t next_file_number = 1;  ///< Numbers below are used or reserved; never given out again.
  uint32_t next_table_id = 1;
  uint64_t next_region_id = 1;
  int64_t last_timestamp = 0;     ///< No timestamp at or below is assigned again.
  int64_t clock_high_micros = 0;  ///< No `now` below it is used again (rule 25).
  uint64_t last_sequence = 0;     ///< No sequence at or below is assigned again.
};

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

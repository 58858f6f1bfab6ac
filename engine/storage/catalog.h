// The catalog: what the manifest says the database is made of, and the edits that change it. An
// edit is applied whole or not at all; the manifest is one full state and a chain of edits after
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_map.h"
#include "format/schema.h"
#include "format/types.h"
#include "index/section.h"
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

/// Copies share their records: an edit of a copy costs what it changes.
struct Catalog {
  DatabaseId database;
  uint64_t epoch = 1;
  CatalogCounters counters;
  base::SharedMap<TableId, TableRecord> tables;
  base::SharedMap<RegionId, RegionRecord> regions;
  base::SharedMap<FileNumber, FileRecord> files;
  std::vector<SegmentRecord> segments;  ///< Oldest first.
  /// The memory of the records that edits added, less those they removed (catalog_memory.h).
  uint64_t memory_bytes = 0;
};

/// One change of the catalog. The parts apply in this order.
struct CatalogEdit {
  std::optional<CatalogCounters> counters;
  std::vector<TableRecord> put_tables;  ///< New, or replacing the one of that id.
  std::vector<TableId> remove_tables;
  std::vector<FileRecord> add_files;
  std::vector<RegionRecord> put_regions;  ///< New, or replacing the one of that id.
  std::vector<RegionId> remove_regions;
  std::vector<FileNumber> remove_files;  ///< No region may refer to them any more.
  std::vector<SegmentRecord> add_segments;
  std::vector<FileNumber> remove_segments;  ///< Oldest first: none older may stay.
};

void EncodeEdit(const CatalogEdit& edit, std::string* out);
/// Errors: kCorruption, kUnsupported (unknown critical field, more than kCatalogMemoryMax).
Result<CatalogEdit> DecodeEdit(std::string_view bytes);
/// The whole catalog as one edit, for the first frame of a new manifest. Epoch and database id are
/// not part of it.
CatalogEdit FullEdit(const Catalog& catalog);
/// Applies `edit` or leaves the catalog unchanged. The cost is in proportion to the edit; one that
/// removes tables or files, or moves bounds of regions, looks at all regions. Requires:
/// CheckCatalog holds of `*catalog`. Errors: kCorruption naming what does not fit (an id that
/// exists or is missing, a reference to an unknown file, ordinals beyond its rows, regions of a
/// table that overlap or leave a gap, counters that shrink), kUnsupported (the catalog would pass
/// kCatalogMemoryMax).
Status ApplyEdit(const CatalogEdit& edit, Catalog* catalog);

// The two halves of ApplyEdit, for a reader of many edits: apply each, check once at the end.
/// As ApplyEdit, but after an error the catalog is half changed, and only ids, counters and memory
/// are checked.
Status ApplyEditInPlace(const CatalogEdit& edit, Catalog* catalog);
/// What must hold of every catalog. Errors: kCorruption, as ApplyEdit.
Status CheckCatalog(const Catalog& catalog);

}  // namespace tandem::format

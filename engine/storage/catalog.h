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
#include "engine/storage/catalog_records.h"
#include "engine/storage/sequence_record.h"
#include "engine/storage/snapshot_record.h"
#include "format/schema.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// Copies share their records: an edit of a copy costs what it changes.
struct Catalog {
  DatabaseId database;
  uint64_t epoch = 1;
  CatalogCounters counters;
  base::SharedMap<TableId, TableRecord> tables;
  base::SharedMap<RegionId, RegionRecord> regions;
  base::SharedMap<FileNumber, FileRecord> files;
  base::SharedMap<std::string, SnapshotRecord> snapshots;  ///< By name.
  /// How often regions of snapshots refer to each file. Such a file stays though no region of a
  /// table refers to it, and though its table was dropped.
  base::SharedMap<FileNumber, uint64_t> snapshot_files;
  base::SharedMap<std::string, SequenceRecord> sequences;  ///< By name.
  std::vector<SegmentRecord> segments;                     ///< Oldest first.
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
  std::vector<FileNumber> remove_files;  ///< No region or snapshot may refer to them any more.
  std::vector<SegmentRecord> add_segments;
  std::vector<FileNumber> remove_segments;  ///< Oldest first: none older may stay.
  std::vector<SnapshotRecord> add_snapshots;
  std::vector<std::string> remove_snapshots;  ///< By name.
  std::vector<SequenceRecord> put_sequences;  ///< New, or replacing the one of that name.
  std::vector<std::string> remove_sequences;  ///< By name.
};

void EncodeEdit(const CatalogEdit& edit, std::string* out);
/// Errors: kCorruption, kUnsupported (unknown critical field, more than kCatalogMemoryMax).
Result<CatalogEdit> DecodeEdit(std::string_view bytes);
/// The whole catalog as one edit, for the first frame of a new manifest. Epoch and database id are
/// not part of it.
CatalogEdit FullEdit(const Catalog& catalog);
/// Empty regions of a table, from each of `starts` to the next one. Requires: these rise, and the
/// first is empty.
std::vector<RegionRecord> NewRegions(TableId table, const std::vector<std::string>& starts,
                                     CatalogCounters* counters);
/// Applies `edit` or leaves the catalog unchanged. The cost is in proportion to the edit; one that
/// removes tables or files, or moves bounds of regions, looks at all regions. Requires:
/// CheckCatalog holds of `*catalog`. Errors: kCorruption naming what does not fit (an id that
/// exists or is missing, a reference to an unknown file, ordinals beyond its rows, regions of a
/// table or of a snapshot that overlap or leave a gap, counters that shrink), kUnsupported (the
/// catalog would pass kCatalogMemoryMax).
Status ApplyEdit(const CatalogEdit& edit, Catalog* catalog);

// The two halves of ApplyEdit, for a reader of many edits: apply each, check once at the end.
/// As ApplyEdit, but after an error the catalog is half changed, and only ids, counters and memory
/// are checked.
Status ApplyEditInPlace(const CatalogEdit& edit, Catalog* catalog);
/// What must hold of every catalog. Errors: kCorruption, as ApplyEdit.
Status CheckCatalog(const Catalog& catalog);

}  // namespace tandem::format

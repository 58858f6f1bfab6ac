// Splitting and merging the regions of a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace tandem {

/// How a region is split (Database::Split).
struct SplitOptions {
  /// The first key of the right half; the region that holds it is split. Empty: the middle row.
  std::string key = {};
  /// RegionInfo::id of the region to split. 0: the one that holds `key`, or the largest one.
  uint64_t region_id = 0;
  bool dry_run = false;  ///< Changes nothing and returns what the halves would hold.
};
/// What a part of a region has of an index.
struct IndexPart {
  std::string name;
  uint64_t bytes = 0;
};
/// One half of a region. A row counts once for each file and memstore that holds it; bytes of files
/// are by the share of rows.
struct RegionHalf {
  uint64_t region_id = 0;  ///< 0 after a dry run.
  uint64_t rows = 0;
  uint64_t bytes = 0;  ///< Of files and memstores.
  // Of these, in files; the rest are key hashes, filters and block indexes.
  uint64_t data_bytes = 0;              ///< Cells.
  std::vector<IndexPart> indexes = {};  ///< Each local index of the table.
};
struct SplitResult {
  uint64_t region_id = 0;  ///< The region that was split, and is gone.
  std::string key;         ///< The first key of the right half.
  /// Half of the live rows lie before `key`. False: it was given, or found by the rows of all files
  /// and memstores, as in RegionHalf, since live ones could not be counted without reading some.
  bool is_live_middle = false;
  RegionHalf left, right;  ///< As they were when the call began.
};

/// Which two neighbours become one region (Database::MergeRegions).
struct RegionMergeOptions {
  /// The region that holds this key and the one after it. Empty: see `region_id`.
  std::string key = {};
  /// RegionInfo::id of the left one. 0: the one that holds `key`; without a key the two neighbours
  /// that hold the fewest bytes together.
  uint64_t region_id = 0;
  bool dry_run = false;  ///< Changes nothing and returns what the regions hold.
};
struct RegionMergeResult {
  uint64_t region_id = 0;     ///< The region that they became; 0 after a dry run.
  std::string key;            ///< The first key of the right one: no region begins there any more.
  RegionHalf left, right;     ///< The regions that are gone, as they were when the call began.
  bool is_too_large = false;  ///< Together they pass Options::region_bytes_max; in a dry run only.
};

}  // namespace tandem

#pragma GCC visibility pop

// What the bytes of a database are for (Database::GetSpaceUsage), and what merges of its files
// would read and write (Database::PlanCompaction).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tandem/schema.h"

#pragma GCC visibility push(default)

namespace tandem {

/// What a part of the directory is for.
enum class SpaceKind : uint8_t {
  kRoot,
  kManifest,
  kLog,         ///< Log segments with operations that a region has only in memory.
  kFlushedLog,  ///< Log segments whose operations are all in store files.
  kLogReserve,  ///< What the log grows into: the end of its last segment, a prepared segment.
  // The next seven are of store files. A file that several regions share counts in each by the
  // rows that the region has of it.
  kRows,          ///< Data blocks.
  kIndex,         ///< The sections of an index.
  kDroppedIndex,  ///< Of indexes that were dropped, until their files are merged.
  kBlockIndex,    ///< What leads from keys to data blocks.
  kFilter,
  kKeyHashes,
  kRest,      ///< Schema, dictionaries, statistics, bitmaps, the table of sections, padding.
  kOutside,   ///< Rows of shared files that no region has any more, with all that belongs to them.
  kSnapshot,  ///< Store files that only named snapshots have; where one alone has it, its name.
  kInUse,     ///< Store files that merges have replaced, and that cursors or calls still read.
  kHeld,      ///< The same for a copy that is being made, or a reader in another process.
  kUnnamed,   ///< Files that no catalog names: being written, or left by a crash.
  kForeign,   ///< Files that are not the database's.
};

/// Bytes of the directory. Fields that do not apply are empty.
struct SpacePart {
  SpaceKind kind{};
  std::string table;
  uint64_t region_id = 0;  ///< Of kLog: the region whose oldest operation has waited longest.
  std::string name;        ///< Of kIndex: the index. Of files that no region has: the file.
  uint64_t bytes = 0;
};

struct CellSpace {
  uint64_t cells = 0;
  uint64_t bytes = 0;  ///< Of data blocks, shared out by the sizes of column names and values.
};

/// What a region has in its files. Each cell counts once for each file that holds it. Operations in
/// memory do not count.
struct RegionSpace {
  std::string table;
  uint64_t region_id = 0;
  uint64_t rows = 0;  ///< A row counts once for each file that holds it.
  CellSpace live;     ///< Readers of the present see them. Not exact: all that is not known better.
  CellSpace older;    ///< Nobody sees them: replaced, deleted, or beyond the family's versions.
  CellSpace pinned;   ///< The same, but open snapshots or cursors see them.
  CellSpace expired;
  CellSpace deletes;           ///< Delete markers.
  uint64_t index_entries = 0;  ///< Of all indexes.
  /// Entries that no query of the present uses. Not exact: of versions that a newer one in the same
  /// file replaced, and as far as is known of rows in several files.
  uint64_t dead_index_entries = 0;
};

struct SnapshotInfo {
  uint64_t sequence = 0;
  int64_t age_micros = 0;
};

/// A snapshot that Database::CreateSnapshot made.
struct NamedSnapshotInfo {
  std::string name;
  uint64_t sequence = 0;             ///< Of the last operation that it sees.
  int64_t created_micros = 0;        ///< Since 1970.
  int64_t age_micros = 0;            ///< By the database's time.
  std::vector<TableOptions> tables;  ///< As they were then, in the order of their creation.
  uint64_t regions = 0;
  std::vector<uint64_t> files;  ///< Their numbers: "store-NUMBER"; its tables may still have them.
  uint64_t bytes = 0;           ///< Of all of them.
  /// Of those that no table has any more, and of these the ones that no other snapshot has: what
  /// dropping it would free.
  uint64_t kept_bytes = 0, own_bytes = 0;
};

struct SpaceUsage {
  uint64_t directory_bytes = 0;         ///< The sizes of all files, the sum over `parts`.
  std::vector<SpacePart> parts;         ///< By kind, table, region and name.
  std::vector<RegionSpace> regions;     ///< By table, and start key.
  std::vector<SnapshotInfo> snapshots;  ///< The open ones, the oldest first.
  std::vector<NamedSnapshotInfo> named_snapshots;  ///< By name.
  std::vector<std::string> cursors;  ///< Of each open cursor and pinned row, its table.
};

struct SpaceOptions {
  std::string table = {};  ///< SpaceUsage::regions has only those of this table. Empty: all.
  /// Reads every row. Otherwise `regions` is estimated from statistics and from what was found out
  /// in the background about rows in several files, which the call waits for; `older` and `pinned`
  /// are 0.
  bool exact = false;
  /// As ReadOptions::cancelled.
  const std::atomic<bool>* cancelled = nullptr;
};

/// What a merge would do.
struct MergePlan {
  uint64_t runs = 0, files = 0, rows = 0;
  uint64_t read_bytes = 0;
  uint64_t written_bytes_max = 0;  ///< As if nothing were dropped.
  /// Needed in passing: the inputs of a merge go when its output is complete.
  uint64_t space_bytes_max = 0;
};

/// What merges would do in a region.
struct CompactionPlan {
  std::string table;
  uint64_t region_id = 0;
  std::string start_key;
  uint64_t runs = 0, files = 0, bytes = 0;  ///< Now. Shared files count by the region's rows.
  MergePlan due;                            ///< In the background, next. All 0: nothing is due.
  MergePlan full;                           ///< By Compact, in all its steps.
  uint64_t flushed_bytes = 0;  ///< Of memstores that Compact flushes first; not in `full`.
  uint64_t freed_bytes = 0;    ///< By `full`: of files that no other region or snapshot has.
  /// All their cells have expired, or were of families that were dropped: they go in the background
  /// without being read, and are not in `due` and `full`.
  uint64_t expired_files = 0, expired_bytes = 0;
};

}  // namespace tandem

#pragma GCC visibility pop

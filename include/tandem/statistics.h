// Counters and sizes of an open database. Reading them does no I/O.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace tandem {

/// Memory in use, by what it is for, in bytes.
struct MemoryInfo {
  uint64_t block_cache_bytes = 0;
  uint64_t memstore_bytes = 0;       ///< Rows and their filters, even if only a reader needs them.
  uint64_t append_buffer_bytes = 0;  ///< Index entries of memstores.
  uint64_t block_index_bytes = 0;
  uint64_t key_hash_bytes = 0;
  uint64_t filter_bytes = 0;
  uint64_t bitmap_bytes = 0;
  uint64_t dictionary_bytes = 0;
  uint64_t index_directory_bytes = 0;
  uint64_t read_buffer_bytes = 0;
  /// Bitmaps of the rows that files share, and what they are made from.
  uint64_t overlap_bytes = 0;
  uint64_t file_window_bytes = 0;  ///< Buffers of merges, checks and copies.
  uint64_t file_writer_bytes = 0;  ///< Files that flushes and merges are writing.
  uint64_t hit_bytes = 0;          ///< Numbers of the rows that queries will look at.
  uint64_t log_bytes = 0;          ///< Writes that wait to be appended to the log.
  uint64_t catalog_bytes = 0;      ///< Metadata of each open file.

  /// The sum. It differs by at most 10 % or 8 MiB from what an open database has resident beyond an
  /// empty one, if the program calls mallopt(M_MMAP_THRESHOLD, 128 << 10) first. Otherwise glibc
  /// raises this threshold and its heap keeps more, within Options::memory_bytes and 48 MiB.
  uint64_t total_bytes() const {
    return block_cache_bytes + memstore_bytes + append_buffer_bytes + block_index_bytes +
           key_hash_bytes + filter_bytes + bitmap_bytes + dictionary_bytes + index_directory_bytes +
           read_buffer_bytes + overlap_bytes + file_window_bytes + file_writer_bytes + hit_bytes +
           log_bytes + catalog_bytes;
  }
};

/// Descriptors in use; see Options::open_files_max.
struct FilesInfo {
  uint64_t limit = 0;     ///< Options::open_files_max, or the default for 0.
  uint64_t files = 0;     ///< Store files that are open now.
  uint64_t rings = 0;     ///< Rings of io_uring that exist now.
  uint64_t reopened = 0;  ///< A counter: files that were closed and opened again.
};

/// Why commits ended with kConflict: those of transactions, and of batches whose observers have
/// read rows. Each counts once, by the first cause that was found.
struct ConflictCounts {
  uint64_t in_group = 0;     ///< A row was changed by a batch that was committed together with it,
  uint64_t in_memstore = 0;  ///< or by an earlier one, which a memstore has,
  uint64_t in_files = 0;     ///< or by one that was flushed, or a bulk load.
  uint64_t in_range = 0;     ///< So was a row of a range; or there was too much to check.
  uint64_t of_schema = 0;    ///< A table was dropped, truncated, renamed or altered.
  uint64_t of_time = 0;      ///< A version of the future, which was read, is past by now.

  uint64_t total() const {
    return in_group + in_memstore + in_files + in_range + of_schema + of_time;
  }
};

/// Writes that flushes or merges make wait, for one cause.
struct WaitCounts {
  // Since the database was opened.
  uint64_t writes = 0;  ///< Whose first cause this was.
  uint64_t micros = 0;  ///< That they waited for it; of one that still does not yet counted.
  // Now.
  uint64_t waiting = 0;  ///< Writes.
  /// Since when the first of them has waited for it, by DatabaseInfo::time_micros; 0: none does.
  int64_t since_micros = 0;
};

/// Why writes wait.
struct WaitsByCause {
  WaitCounts memory;     ///< The memstores together are near or above their limit.
  WaitCounts memstores;  ///< Too many memstores of a region wait to be flushed.
  WaitCounts runs;       ///< Too many runs of store files of a region wait to be merged.

  /// The sums, and the earliest time.
  WaitCounts total() const {
    WaitCounts sum;
    for (const WaitCounts* part : {&memory, &memstores, &runs}) {
      sum.writes += part->writes;
      sum.micros += part->micros;
      if (part->waiting == 0) continue;
      sum.since_micros =
          sum.waiting == 0 ? part->since_micros : std::min(sum.since_micros, part->since_micros);
      sum.waiting += part->waiting;
    }
    return sum;
  }
};

enum class JobKind : uint8_t {
  kFlush,
  kMerge,  ///< Also one that gives a file new indexes.
};

/// A flush or a merge that is running.
struct JobInfo {
  JobKind kind = JobKind::kFlush;
  std::string table = {};
  uint64_t region_id = 0;
  uint64_t input_bytes = 0;  ///< Of the memstore or the files, with their indexes.
  /// Of these, by the rows that it has read; 0 again if it has to begin again. When all are read,
  /// it may still write indexes, sync and wait for the manifest.
  uint64_t read_bytes = 0;
  int64_t since_micros = 0;  ///< When it began, by DatabaseInfo::time_micros.
};

/// Cells that flushes and merges left out, by what hid them from a reader of the latest state. Of
/// several reasons the first one here counts.
struct DroppedCells {
  uint64_t replaced = 0;    ///< By a later Put with the same timestamp.
  uint64_t superseded = 0;  ///< By as many newer versions as the family keeps, or kept once.
  uint64_t expired = 0;     ///< By the family's time to live.
  uint64_t of_dropped_families = 0;
  uint64_t deleted = 0;         ///< By a delete of the version, the column, the family or the row.
  uint64_t delete_markers = 0;  ///< The deletes themselves: nothing is left that they hide.

  uint64_t total() const {
    return replaced + superseded + expired + of_dropped_families + deleted + delete_markers;
  }
};

/// What flushes or merges did with cells: they leave out those that no reader can see any more.
/// Deletes are cells too.
struct CellCounts {
  uint64_t in = 0, out = 0;  ///< in == out + dropped.total()
  DroppedCells dropped;
};

/// Counters since the database was opened, which never decrease, and current sizes. Later versions
/// add fields, so a program refers to fields by name.
struct Statistics {
  // Calls, whatever they returned; those after Close are not counted.
  uint64_t gets = 0, multi_gets = 0, scans = 0, queries = 0, counts = 0;
  // Acknowledged writes; bytes as WriteBatch::size_bytes() counts them.
  uint64_t batches = 0, operations = 0, batch_bytes = 0;
  // Writes that depend on what is stored (DeleteCell, Increment, Append, CheckAndMutate), a failed
  // check too.
  uint64_t dependent_writes = 0;
  uint64_t caught_up_writes = 0;     ///< Depended on one that was committed while they waited,
  uint64_t caught_up_in_group = 0;   ///< of these, on one that was committed together with them.
  uint64_t reread_writes = 0;        ///< Read files again: a flush came in between.
  uint64_t replanned_writes = 0;     ///< A table was changed in between; blind writes count too.
  uint64_t writes_that_flushed = 0;  ///< Depended on operations that are in no log.
  uint64_t writes_alone = 0;         ///< Read files while no other write went on.

  uint64_t transactions = 0;           ///< That committed with something to write or to check.
  uint64_t transaction_conflicts = 0;  ///< That did not, because others changed rows or tables.
  ConflictCounts conflicts;
  /// By checks of ranges (TransactionOptions::validate_ranges): rows of memstores that were looked
  /// at, and rows that were read again because of a flush or a bulk load.
  uint64_t range_rows_examined = 0, range_rows_reread = 0;

  // Successful work: what was written, and the sum of the times, which may overlap.
  uint64_t flushes = 0, flushed_rows = 0, flushed_bytes = 0, flush_micros = 0;
  uint64_t compactions = 0, compacted_rows = 0, compacted_bytes = 0, compaction_micros = 0;
  uint64_t compaction_input_bytes = 0;
  CellCounts flush_cells, compaction_cells;  ///< Sums of FlushEvent::cells, CompactionEvent::cells.
  uint64_t failed_flushes = 0, failed_compactions = 0;
  /// How often merges of a region began to wait because the disk had too little space.
  uint64_t postponed_compactions = 0;
  /// How long merges waited for their turn by Options::compaction_bytes_per_second, all together.
  uint64_t compaction_paced_micros = 0;
  uint64_t region_splits = 0, region_merges = 0;
  uint64_t overlap_pairs = 0;    ///< Pairs of files whose shared rows were found.
  uint64_t broken_sections = 0;  ///< Damaged sections that reads do without.
  uint64_t rewritten_files = 0;  ///< Because of such sections.

  uint64_t stalls = 0, stall_micros = 0;  ///< Writers that waited for flushes or merges.
  /// Writes that were slowed down so that flushes and merges keep up.
  uint64_t delayed_writes = 0;
  WaitsByCause stopped;  ///< The stalls, by cause, and those that go on.
  /// The delayed writes likewise. One is delayed for at most 16 ms, with two or one runs less than
  /// what stops writes for at most 64 or 256.
  WaitsByCause delayed;
  uint64_t scrubbed_bytes = 0, scrub_findings = 0;  ///< See Options::scrub_bytes_per_second.
  uint64_t listener_failures = 0;  ///< Exceptions that a listener or the log threw.
  uint64_t observer_failures = 0;  ///< And observers, in hooks that could fail nothing any more.

  uint64_t torn_bytes = 0;  ///< At the log's end when it was opened: a write that a crash cut off.

  // Current sizes; 0 after Close.
  uint64_t last_sequence = 0;  ///< Of the last operation that is visible.
  uint64_t log_bytes = 0;      ///< In log segments that are still needed.
  /// The longest time since a store file was last verified, written or opened; 0 without a scrub.
  uint64_t oldest_unverified_micros = 0;
  uint64_t memory_budget_bytes = 0;
  MemoryInfo memory;
  FilesInfo open_files;
};

}  // namespace tandem

#pragma GCC visibility pop

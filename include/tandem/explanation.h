// What Database::Explain returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace tandem {

/// How a query is answered. Counts are over all regions of the table.
struct Explanation {
  std::string index;   ///< With _row for row keys looked up. Empty: a scan.
  std::string reason;  ///< Why the planner chose it.
  /// "NAME: N entries", one for each condition of an AND whose rows are intersected in files, the
  /// fewest first. Rows that lie in several files, and those of memstores, come by the first one
  /// alone. Empty: nothing is intersected.
  std::vector<std::string> intersected;
  std::vector<std::string> rejected;  ///< "index NAME: why not", one an index.
  uint64_t entries = 0;  ///< Index entries in the range (exact), of all sources, and look-ups of
                         ///< row keys. All that are intersected.
  uint64_t memstore_entries = 0;  ///< Those in memstores.
  uint64_t files = 0;
  uint64_t files_scanned = 0;  ///< Without a section of the index.
  uint64_t memstores = 0;
  uint64_t memstores_scanned = 0;  ///< Without the index.
  /// Rows of files that the index has no entry of though they have a cell of its column, summed
  /// over the indexes (IndexInfo::rows_without_entry): what an index and a scan by its type
  /// both leave out.
  uint64_t rows_without_entry = 0;
  uint64_t candidate_rows = 0;                 ///< Rows in files that will be read.
  uint64_t candidate_blocks = 0;               ///< Data blocks that hold them.
  uint64_t candidate_bytes = 0;                ///< Of those blocks, as stored.
  uint64_t total_blocks = 0, total_bytes = 0;  ///< All data blocks, for comparison.
  /// Rows that several files could hold but that were read from one file, because an overlap
  /// bitmap, a filter or a comparison of keys showed that no other file has them.
  uint64_t single_source_by_bitmap = 0, single_source_by_filter = 0, single_source_by_key = 0;
  uint64_t merged_rows = 0;  ///< Decided on all their cells in all sources.
  /// The index has the columns that are asked for; rows of one version in one file come from it.
  bool covered = false;
  uint64_t rows_from_index = 0;  ///< Of `candidate_rows`: those that came from it.
  /// Of QueryOptions::offset: rows that were passed over without looking at each, and those that
  /// were read and passed over. Together less than the offset if fewer rows match.
  uint64_t skipped_by_counts = 0, skipped_by_reading = 0;
  /// Rows that were looked at to count others, since several sources have them or their file does
  /// not tell alone.
  uint64_t rows_decided_to_skip = 0;
  /// Why rows of the offset were read; empty: none was.
  std::string read_to_skip;
  /// Whether counts of live entries are there for every file that the query looks up in one index,
  /// so that Count looks at no entry of theirs but those that other sources may have changed.
  bool has_live_counts = false;
  uint64_t rows = 0;  ///< Rows that match, after the offset.
  /// Of ExplainAggregate: how groups are made, and how many there are.
  std::string grouping = {};
  uint64_t groups = 0;
};

}  // namespace tandem

#pragma GCC visibility pop

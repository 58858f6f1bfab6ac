// What the model test did, for the line that it prints and for what has to have happened.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tandem::test {

/// The engine answered something else than the model. The message says what.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Counters {
  uint64_t operations = 0;
  uint64_t transactions = 0;
  uint64_t bulk_loads = 0;
  uint64_t table_copies = 0;
  uint64_t checked_writes = 0;  ///< By CheckAndMutate, applied or not.
  uint64_t refused = 0;         ///< Batches that had to be refused, and were.
  uint64_t checks = 0;          ///< Of a table against the model.
  uint64_t deep_checks = 0;     ///< ... with at least 3 files and 2 memstores.
  uint64_t rows_read = 0;
  uint64_t queries = 0;
  uint64_t pages = 0;           ///< That were read by tokens.
  uint64_t index_refusals = 0;  ///< Queries that asked for an index that cannot serve them.
  uint64_t flushes = 0, compactions = 0, splits = 0, region_merges = 0, schema_edits = 0,
           reopens = 0, lives_without_functions = 0;
  uint64_t limits_changed = 0;                  ///< Of families.
  uint64_t truncations = 0, index_changes = 0;  ///< Of small worlds; schema edits too.
  uint64_t limits_refused = 0;                  ///< Too many since the table was compacted.
  uint64_t power_cuts = 0, kills = 0, interrupted_recoveries = 0;
  uint64_t replayed_operations = 0, torn_tails = 0;
  uint64_t snapshot_checks = 0, named_snapshot_checks = 0, cursors_finished = 0, verifications = 0;

  // The paths on which engines go wrong; each has to be taken.
  uint64_t stale_hits = 0;           ///< Postings whose row has another value by now.
  uint64_t deletes_over_files = 0;   ///< Puts in a file that a marker in a newer file hides.
  uint64_t families_over_files = 0;  ///< Rows whose indexed family one deletes as a whole.
  uint64_t rows_in_several_files = 0;
  uint64_t absent_columns = 0;  ///< Rows found because an indexed column is absent.
  uint64_t past_reads = 0;      ///< Reads as of, or since, a time.
  uint64_t wide_rows = 0;       ///< In files.
  uint64_t overflow_values = 0;
  uint64_t rows_of_families = 0;  ///< With cells of several families in one file.
  uint64_t single_source_by_bitmap = 0, single_source_by_filter = 0, single_source_by_key = 0;
  uint64_t by_partial = 0;                            ///< By a partial index that was asked for...
  uint64_t partial_scanned = 0;                       ///< ... where sources were scanned.
  uint64_t by_all_columns = 0, by_first_column = 0;   ///< By an index over several columns.
  uint64_t rows_from_index = 0;                       ///< Of which no block was read.
  uint64_t offsets_by_key = 0, offsets_in_order = 0;  ///< Rows were passed over by counts.
  uint64_t offsets_decided = 0;                       ///< Some of them one by one.
  uint64_t offsets_read = 0;
  uint64_t live_counts = 0;          ///< Counts of live entries were there.
  uint64_t any_version_queries = 0;  ///< Decided by older versions too.
  uint64_t groups = 0;               ///< Of rows.
  uint64_t expression_values = 0;    ///< That queries computed of rows.

  void Add(const Counters& other);
  std::string Describe() const;
};

}  // namespace tandem::test

// What queries would read if they had other indexes: the rows that these lead to and the data
// blocks that the rows lie in, counted in one pass over the rows of the files.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/cancellation.h"
#include "engine/advice/file_rows.h"
#include "engine/advice/proposals.h"
#include "engine/query/access_paths.h"

namespace tandem::engine {

/// A way to answer a query, and what it costs.
struct MeasuredWay {
  size_t query = 0;
  std::vector<size_t> indexes;  ///< That it needs, by their place in Proposals::indexes.
  AccessPath access;            ///< As a plan would have it.
  bool is_exact = false;        ///< What it leads to are the matches.
  bool is_covered = false;      ///< Rows come from the index where one file decides them.
  /// Of an index over several columns: entries that satisfy all conditions. Others leave columns
  /// out, and lead to rows that have them in another source.
  KeyRanges whole = {};
  KeyRanges rows = {};                     ///< Keys of the rows that may match.
  std::vector<format::FamilyId> families;  ///< That it reads of a row.

  uint64_t entries = 0;  ///< That a plan would count.
  uint64_t blocks = 0;   ///< Data blocks that it would read.
};

/// The ways of the queries by each of the proposed indexes, whichever query it was proposed for,
/// and by those that one needs together. Errors: kCancelled.
Result<std::vector<MeasuredWay>> FindMeasuredWays(const Proposals& proposals,
                                                  std::span<const QueryToServe> queries,
                                                  const base::Cancellation& cancellation);

/// Adds what the rows say to the ways. Returns how many rows of files were read. Lifetime: the
/// call's. Memory: that of FileRows, and a few numbers for each way and open file. Errors:
/// kCorruption, kIoError, kCancelled.
Result<uint64_t> MeasureWays(const TableView& view, const Proposals& proposals,
                             std::span<QueryToServe> queries, RowSample sample,
                             const base::Cancellation& cancellation,
                             std::vector<MeasuredWay>* ways);

}  // namespace tandem::engine

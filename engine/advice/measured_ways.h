// What queries would read if they had other indexes: the rows that these lead to and the data
// blocks that the rows lie in, counted in one pass over the rows of the files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "engine/advice/file_rows.h"
#include "engine/advice/proposals.h"
#include "engine/query/access_paths.h"

namespace tandem::engine {

/// A way to answer a query, and what it costs.
struct MeasuredWay {
  size_t query = 0;
  std::vector<size_t> indexes;  ///< That it needs, by their place in the table of the proposals.
  AccessPath access;            ///< As a plan would have it.
  bool is_exact = false;        ///< What it leads to are the matches.
  bool is_covered = false;      ///< Rows come from the index where one file decides them.
  bool is_simple = false;       ///< Ranges of one index over one column, and nothing else.
  /// Of an index over several columns: entries that satisfy all conditions. Others leave columns
  /// out, and lead to rows that have them in another source.
  KeyRanges whole = {};
  KeyRanges rows = {};                     ///< Keys of the rows that may match.
  std::vector<format::FamilyId> families;  ///< That it reads of a row.

  std::vector<size_t> conditions = {};  ///< Of an AND, that it covers.

  uint64_t entries = 0;  ///< That a plan would count.
  uint64_t blocks = 0;   ///< Data blocks that it would read.
  /// Entries of what the rows are intersected with; nullopt: a single access leads to them.
  std::optional<uint64_t> intersected = std::nullopt;
};

/// The ways of the queries by each of the proposed indexes, whichever query it was proposed for, by
/// those that one needs together, and by two that a plan may intersect, one of them perhaps of the
/// table. Errors: kCancelled.
Result<std::vector<MeasuredWay>> FindMeasuredWays(const Proposals& proposals,
                                                  std::span<const QueryToServe> queries,
                                                  const base::Cancellation& cancellation);

/// What a pass over the rows has found.
struct RowsMeasured {
  uint64_t rows = 0;  ///< Of files, that were read.
  /// By the place of a proposed index: a column of it that none of the rows has a value of; empty:
  /// there is none.
  std::vector<std::string> absent_columns;
};

/// Adds what the rows say to the ways. Lifetime: the call's. Memory: that of FileRows, and a few
/// numbers for each way and open file. Errors: kCorruption, kIoError, kCancelled.
Result<RowsMeasured> MeasureWays(const TableView& view, const Proposals& proposals,
                                 std::span<QueryToServe> queries, RowSample sample,
                                 const base::Cancellation& cancellation,
                                 std::vector<MeasuredWay>* ways);

}  // namespace tandem::engine

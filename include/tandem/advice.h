// Which indexes would help the queries of a program (Database::AdviseIndexes).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/schema.h"

#pragma GCC visibility push(default)

namespace tandem {

/// A query that a program runs, and how often.
struct AdvisedQuery {
  Predicate predicate = {};              ///< Without parameters.
  QueryOptions options = {};             ///< Tokens do not matter.
  std::vector<ColumnName> columns = {};  ///< That it asks for; no families either: all.
  bool is_count = false;                 ///< Its rows are counted, and none is returned.
  uint64_t count = 1;                    ///< How often it runs.
  std::vector<std::string> families = {};  ///< Whole ones that it asks for besides the columns.
};

struct AdviseOptions {
  const std::atomic<bool>* cancelled = nullptr;  ///< As ReadOptions::cancelled.
  /// Of a table with more rows in files, so many are read, in groups of neighbours from all over
  /// it, and figures are extrapolated. 0: all are read.
  uint64_t rows_max = 1'000'000;
  uint32_t indexes_max = 5;  ///< At most so many are advised.
};

/// An index that the table lacks.
struct AdvisedIndex {
  IndexOptions options = {};  ///< As CreateIndex takes it; its name is free.
  uint64_t entries = 0;       ///< That it would have in files.
  uint64_t size_bytes = 0;    ///< In files as they are now: a write of a row adds its part of that.
  /// Data blocks that the queries would not read, all runs together, once the indexes before it
  /// are there. Of one that helps only together with the next ones: 0, and these have it.
  uint64_t blocks_saved = 0;
  std::vector<size_t> queries = {};  ///< That would use it, by their place.
};

/// What becomes of a query.
struct QueryAdvice {
  std::string index_now = {};  ///< As Explanation::index.
  uint64_t blocks_now = 0;     ///< Data blocks that one run reads: Explanation::candidate_blocks.
  /// With the advised indexes. A plan that intersects the rows of several may read fewer.
  uint64_t blocks_then = 0;
  std::vector<size_t> indexes = {};  ///< That it would use, by their place in IndexAdvice::indexes.
  std::string why = {};              ///< Why it would use none; empty: it would use one.
};

struct IndexAdvice {
  std::vector<AdvisedIndex> indexes = {};  ///< The one that saves most first.
  std::vector<QueryAdvice> queries = {};   ///< One for each query, in their order.
  uint64_t candidates = 0;                 ///< Indexes that were compared,
  uint64_t candidates_left_out = 0;        ///< and those that were not, since they were too many.
  uint64_t rows = 0;                       ///< In files; one that lies in several counts in each.
  uint64_t rows_read = 0;  ///< Of these: fewer than all if figures are extrapolated.
};

/// The most queries of one call, and the most indexes that are compared.
inline constexpr size_t kAdvisedQueriesMax = 256;
inline constexpr size_t kAdvisedCandidatesMax = 48;

}  // namespace tandem

#pragma GCC visibility pop

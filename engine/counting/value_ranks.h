// The rows of a cluster that have one value of an index, by their number in key order.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "engine/counting/cluster_ranks.h"
#include "engine/counting/entry_counts.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Rows that were decided, by their keys, ascending.
struct DecidedKeys {
  std::vector<std::string> added;       ///< Rows that no file counts.
  std::vector<std::string> subtracted;  ///< Rows that a file counts, though they are none.
};

/// Sorts both, and takes out of both what is in both, as often as it is in both. A row that files
/// decide among them and that memstores hold too is added, subtracted and perhaps added again: it
/// is no row of one file that could be taken out there.
template <typename Row>
void Cancel(std::vector<Row>* added, std::vector<Row>* subtracted) {
  std::ranges::sort(*added);
  std::ranges::sort(*subtracted);
  std::vector<Row> only_added, only_subtracted;
  std::ranges::set_difference(*added, *subtracted, std::back_inserter(only_added));
  std::ranges::set_difference(*subtracted, *added, std::back_inserter(only_subtracted));
  *added = std::move(only_added);
  *subtracted = std::move(only_subtracted);
}

/// The rows with that entry: those that the files count, but for those subtracted, and those added.
/// Lists the entries of short values alone. Errors: kCorruption, kIoError. Lifetime: that of
/// `counts`.
Result<ClusterRanks> RanksOfValue(const EntryCounts& counts, const std::string& entry,
                                  DecidedKeys decided);

}  // namespace tandem::engine

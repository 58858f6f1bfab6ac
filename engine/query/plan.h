// How a query is answered: which row keys, through which indexes, or by a scan. The planner counts:
// the cumulative counts of the index sections, and the sorted runs of append buffers, say how many
// entries each access would touch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "engine/predicate/bound.h"
#include "engine/query/access_paths.h"
#include "engine/source/candidates.h"
#include "engine/source/sources.h"
#include "tandem/options.h"

namespace tandem::engine {

struct QueryPlan {
  format::KeyRange within;   ///< The rows that are asked for have their keys in it.
  KeyRanges rows_within;     ///< All that are read: parts of `within`, where there are several.
  bool rows_decide = false;  ///< Having its key in a cluster's rows is all that a row needs.
  std::vector<Cluster> clusters;     ///< Of the rows whose keys may match.
  std::optional<AccessPath> access;  ///< nullopt: a scan.
  /// Of the access's paths and keys: an upper bound; exact in an explanation and with an order.
  EntryCount entries;
  std::vector<uint64_t> intersected;  ///< Entries in files, by AccessPath::intersected.
  uint64_t rows = 0;                  ///< That the access leads to: `entries`, or less, about.
  std::string reason;
  std::vector<std::string> rejected;  ///< "index NAME: why not"; for kExplanation alone.
};

enum class PlanPurpose : uint8_t {
  kRows,
  kExplanation,  ///< The rows, and why other indexes are not used.
  kCount,        ///< Single-source candidates of an exact access cost next to nothing.
  kGroups,       ///< The rows, which are taken where they are read (engine/parallel).
};

/// Errors: kNotFound (an index of the options), kInvalidArgument (options that contradict each
/// other; an index asked for that cannot serve the predicate, with the reason), kCorruption,
/// kIoError, kCancelled.
/// `within`: no other rows are asked for. `returned`: the columns that matches return.
Result<QueryPlan> PlanQuery(const TableView& view, const BoundPredicate& predicate,
                            const QueryOptions& options, PlanPurpose purpose,
                            const base::Cancellation& cancellation, const format::KeyRange& within,
                            const ColumnSet& returned);

/// How many entries an access may have at most to be chosen before a scan of the clusters, all of
/// whose rows are read otherwise. `is_exact`: its entries decide.
uint64_t EntriesWorthPicking(const std::vector<Cluster>& clusters, bool is_exact);

/// The row keys that satisfy the condition on the row key that every match satisfies: ascending,
/// disjoint. All keys where there is none.
KeyRanges RowsUnder(const BoundPredicate& predicate);
/// Whether RowsUnder may be less than all keys.
bool NamesRowKey(const Predicate& predicate);

/// Whether the indexes that the options name exist. Errors: kNotFound, kInvalidArgument (two of
/// use_index, use_indexes and no_index).
Status CheckIndexesAskedFor(const format::TableRecord& table,
                            const format::FunctionRegistry* functions, const QueryOptions& options);

/// The names of the access's indexes, separated by commas, with _row for row keys that it looks up;
/// empty for a scan. " AND " joins conditions that are intersected, those of several indexes in
/// parentheses.
std::string IndexNames(const QueryPlan& plan);
/// The names of the indexes of the paths, separated by commas.
std::string NamesOf(const AccessPath::Condition& paths);

/// The key ranges of an index that can hold matches: the present values that satisfy the
/// predicate's conditions on its first column.
std::vector<format::KeyRange> RangesUnder(const BoundPredicate& predicate,
                                          const format::IndexRecord& index);
/// The keys of an index that rows which satisfy the predicate can have, each as a whole: values
/// that satisfy its conditions on the first columns, the first one present.
std::vector<format::KeyRange> OrderedUnder(const BoundPredicate& predicate,
                                           const format::IndexRecord& index);

}  // namespace tandem::engine

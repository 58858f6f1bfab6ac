// Indexes that might serve queries, from their conditions alone.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/predicate/bound.h"
#include "format/schema.h"
#include "tandem/advice.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A query, bound to the table. Lifetime: that of `query`.
struct QueryToServe {
  const AdvisedQuery* query = nullptr;
  BoundPredicate predicate;
  /// Why no other index would change how it is answered; empty: one may.
  std::string fixed = {};
};

/// How records of tables change: what the engine's calls do, without a table.
struct SchemaChanges {
  std::function<Status(const IndexOptions& index, format::TableRecord* table)> add_index;
  std::function<Status(format::TableRecord* table)> remove_indexes;
};

struct Proposals {
  /// The table with the proposed indexes, and after them those of its own that a plan may intersect
  /// with one of them.
  format::TableRecord table;
  std::vector<IndexOptions> indexes;  ///< The proposed ones, in the same order.
  /// For each query the ways to answer it that need several indexes, all together.
  std::vector<std::vector<std::vector<size_t>>> together;
  uint64_t left_out = 0;
};

/// What may serve them and the table has not: an index over the column of each condition that every
/// match satisfies; over those with single values and then one with a range; over the sides of an
/// OR, together; the same with the columns that are asked for, and for the rows of a condition that
/// all queries with one on its column have.
Result<Proposals> Propose(const format::TableRecord& table, std::span<const QueryToServe> queries,
                          const SchemaChanges& changes);

/// A name of its columns that neither the table has nor `taken`.
std::string FreeIndexName(const IndexOptions& index, const format::TableRecord& table,
                          const std::set<std::string>& taken);

}  // namespace tandem::engine

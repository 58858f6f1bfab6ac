// A prepared query: bound, planned, with what it reads of a row; and the row sources over it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/counting/offset.h"
#include "engine/parallel/part_readers.h"
#include "engine/query/plan.h"
#include "engine/query/request.h"
#include "engine/read/row_iterator.h"
#include "engine/read/row_source.h"
#include "tandem/explanation.h"

namespace tandem::engine {

/// Rows by the values of an index, or by key alone, from the last key on.
struct Ordering {
  const format::IndexRecord* index = nullptr;  ///< nullptr: by key.
  bool is_global = false;                      ///< Of the index: files have no entries of it.
  bool falls = false;      ///< The largest value first, as it was asked for; not turned by a token.
  bool backward = false;   ///< Against the order of the index's keys.
  bool keys_fall = false;  ///< Rows with one entry come by falling keys.
  bool walks_index = false;  ///< Range by range of the index; otherwise the matches are sorted.
  std::vector<format::KeyRange> ranges;  ///< Of the index's keys that matches can have.
  std::optional<Position> position;      ///< Only rows after it are asked for.
  /// Of a walk whose entries are looked for in other indexes, the intersected ones of the plan's
  /// access: the part of them that is left, about.
  double part_left = 1;
};

/// A part of a query whose rows come in the order of keys without what leads them
/// (engine/source/lead_rows.h).
struct LeadRead {
  size_t lead_bytes = 0;
  format::KeyRange within;        ///< All its rows.
  std::vector<Cluster> clusters;  ///< Of these rows.
};

struct Query {
  std::unique_ptr<ReadContext> context;
  QueryPlan plan;
  std::optional<Ordering> ordering;
  uint64_t limit = 0;                ///< 0: none.
  uint64_t offset = 0;               ///< Rows that are passed over first.
  Skipped skipped = {};              ///< Of the offset.
  bool reverse = false;              ///< Without an index's order: from the last key on.
  std::vector<LeadRead> leads = {};  ///< That are merged; empty: rows come by whole keys.
  uint32_t threads = 1;              ///< That may read it.
};

/// Errors: kNotFound, kInvalidArgument (see BoundPredicate::Bind, ReadSchema::Make, PlanQuery; an
/// unknown order_by), kCorruption, kIoError, kCancelled.
Result<Query> PrepareQuery(const QueryRequest& request, PlanPurpose purpose, TableView view);

/// The same for a predicate that is bound already, in the place of the request's.
Result<Query> PrepareQuery(const QueryRequest& request, PlanPurpose purpose,
                           BoundPredicate predicate, TableView view);

/// The predicate of the request, bound to the table. Errors: see BoundPredicate::Bind.
Result<BoundPredicate> BindQuery(const QueryRequest& request, const format::TableRecord& table);
/// The rows of the query, planned, with its predicate bound. Errors: as PrepareQuery.
Result<std::unique_ptr<RowSource>> OpenPlanned(const QueryRequest& request,
                                               BoundPredicate predicate, TableView view);

/// What the plan says, without what a run looks at and passes over, the totals, `rows` and
/// `has_live_counts`. Files and memstores that lack the index do not count as scanned.
Explanation ExplainPlan(const Query& query);

/// The query without an ordering, to be read by `query.threads`. Lifetime: `query` outlives it.
PartReaders::Work PartsOf(const Query& query);

/// Lifetime: `query` outlives the source.
std::unique_ptr<RowSource> OpenQuery(const Query& query);
/// The rows of a query with an ordering, and of one with leads.
std::unique_ptr<RowSource> OpenOrdered(const Query& query);
std::unique_ptr<RowSource> OpenLeads(const Query& query);

}  // namespace tandem::engine

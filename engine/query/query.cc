// Preparing a query, and its rows in key order.
#include "engine/query/query.h"

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/scan.h"
#include "engine/read/concatenating_iterator.h"

namespace tandem::engine {
namespace {

// The most matches that are sorted if the index of the order could be walked instead.
constexpr uint64_t kSortedMax = 1 << 17;

// About the records of an index in one block. All those of the values that are asked for are read
// before the first row is known, and sorted by key: not for a few rows of many.
constexpr uint64_t kRecordsPerBlock = 64;

Result<Ordering> OrderingOf(const format::TableRecord& table, const QueryOptions& options) {
  ASSIGN_OR_RETURN(const format::IndexRecord* index, IndexOfOrder(table, options.order_by));
  Ordering ordering{.index = index, .ranges = {}};
  ordering.backward = options.descending != index->columns[0].descending;
  return ordering;
}

// Entries of the ordering's ranges; nullopt when a source lacks the index, so that it cannot be
// walked.
Result<std::optional<EntryCount>> CountOrdered(const Ordering& ordering, const QueryPlan& plan,
                                               const base::Cancellation& cancellation) {
  const IndexPath path{ordering.index, ordering.ranges, false};
  EntryCount entries;
  for (const Cluster& cluster : plan.clusters) {
    for (const FileSource& source : cluster.files) {
      RETURN_IF_ERROR(cancellation.Check());
      ASSIGN_OR_RETURN(const std::optional<uint64_t> count, ExactEntries(source, path));
      if (!count.has_value()) return std::optional<EntryCount>();
      entries.in_files += *count;
    }
    if (!MemstoresHave(cluster, ordering.index->id)) return std::optional<EntryCount>();
    entries.in_memstores += CountMemstoreEntries(cluster, path);
  }
  return std::optional(entries);
}

// Whether walking the index in order touches fewer entries than fetching all matches and sorting
// them. With a limit the walk ends, on average, after limit / matches of the index.
bool IsWalkCheaper(uint64_t ordered, const Query& query) {
  const uint64_t matches = query.plan.rows;
  if (!query.plan.access.has_value() || matches > kSortedMax) return true;
  if (query.limit > 0 && query.limit < matches) {
    return static_cast<unsigned __int128>(ordered) * query.limit / matches <= matches;
  }
  return ordered <= matches;
}

// Makes the index of the ordering the plan's only one.
void AccessByOrdering(std::string reason, const EntryCount& entries, Query* query) {
  QueryPlan& plan = query->plan;
  const Ordering& ordering = *query->ordering;
  const std::string& name = ordering.index->name;
  std::erase_if(plan.rejected, [start = "index " + name + ": "](const std::string& rejected) {
    return rejected.starts_with(start);
  });
  if (plan.access.has_value()) {
    for (const IndexPath* path : plan.access->AllPaths()) {
      if (path->index == ordering.index) continue;
      plan.rejected.push_back("index " + path->index->name + ": the order is that of " + name);
    }
  }
  plan.access = AccessPath{.paths = {}, .exact = false};
  plan.access->paths.push_back({ordering.index, ordering.ranges, false});
  plan.entries = entries;
  plan.rows = entries.total();
  plan.intersected.clear();
  plan.reason = std::move(reason);
}

// Whether a walk in order finds all rows. An index over several columns has no entry that tells of
// a column that expired.
bool CanWalk(const format::TableRecord& table, const Ordering& ordering, const QueryPlan& plan) {
  const std::vector<format::IndexColumnRecord>& columns = ordering.index->columns;
  if (columns.size() == 1) return true;
  const bool may_expire = std::ranges::any_of(
      columns, [&](const auto& column) { return table.FindFamily(column.family)->may_expire(); });
  return !may_expire && std::ranges::all_of(
                            plan.clusters, [](const Cluster& cluster) { return cluster.in_order; });
}

Status PlanOrdering(const format::TableRecord& table, const BoundPredicate& predicate,
                    const QueryOptions& options, const base::Cancellation& cancellation,
                    Query* query) {
  Ordering& ordering = *query->ordering;
  ordering.ranges = OrderedUnder(predicate, *ordering.index);
  const bool is_forced = options.use_index == options.order_by;
  const bool is_other_asked_for =
      !options.use_indexes.empty() || (!options.use_index.empty() && !is_forced);
  if (options.no_index || is_other_asked_for) return {};
  std::optional<EntryCount> entries;
  const bool can_walk = CanWalk(table, ordering, query->plan);
  if (can_walk) {
    ASSIGN_OR_RETURN(entries, CountOrdered(ordering, query->plan, cancellation));
  }
  if (entries.has_value()) {
    ordering.walks_index = is_forced || IsWalkCheaper(entries->total(), *query);
    if (ordering.walks_index) AccessByOrdering("in the order of the index", *entries, query);
    return {};
  }
  if (!is_forced) return {};
  // A walk would read every row of the sources that lack the index again for each range of values.
  ordering.ranges = RangesUnder(predicate, *ordering.index);
  AccessPath access{.paths = {}, .exact = false};
  access.paths.push_back({ordering.index, ordering.ranges, false});
  ASSIGN_OR_RETURN(const EntryCount read,
                   CountEntries(query->plan.clusters, access, Precision::kExact, cancellation));
  AccessByOrdering(can_walk
                       ? "use_index; sorted, since some files or memstores lack it and are scanned"
                       : "use_index; sorted, since timestamps go back, files are newer than the "
                         "snapshot or cells expire",
                   read, query);
  return {};
}

void CountReads(const ReadResources& resources, const format::TableRecord& table,
                const QueryPlan& plan) {
  if (resources.index_reads == nullptr || !plan.access.has_value()) return;
  for (const IndexPath* path : plan.access->AllPaths()) {
    resources.index_reads->Count(table.id, path->index->id);
  }
}

// The options with a single index that is asked for in use_index.
QueryOptions Normal(QueryOptions options) {
  if (options.use_indexes.size() == 1 && options.use_index.empty()) {
    options.use_index = std::move(options.use_indexes.front());
    options.use_indexes.clear();
  }
  return options;
}

// Prepares the query with its predicate bound.
Result<Query> PrepareBound(const QueryRequest& request, PlanPurpose purpose,
                           BoundPredicate predicate, TableView view) {
  Query query{.context = nullptr, .plan = {}, .ordering = {}, .limit = request.query.limit};
  const base::Cancellation cancellation(request.options.cancelled);
  ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::Make(view, request.options));
  view.point = schema.point;
  if (purpose == PlanPurpose::kCount) schema.ReturnNothing();
  ColumnSet ordering;
  const QueryOptions asked = Normal(request.query);
  QueryOptions options = asked;
  if (!options.order_by.empty()) {
    ASSIGN_OR_RETURN(query.ordering, OrderingOf(*view.table, options));
    for (const format::IndexColumnRecord& column : query.ordering->index->columns) {
      ordering.Add(column.family, column.qualifier);
    }
    // To walk an index in its order needs no condition on its column.
    if (options.use_index == options.order_by && !options.no_index) options.use_index.clear();
  }
  schema.Decode(ordering, predicate.Columns(), predicate.MayAcceptAbsent());
  // An ordered count reads its rows.
  if (query.ordering.has_value() && purpose == PlanPurpose::kCount) purpose = PlanPurpose::kRows;
  ASSIGN_OR_RETURN(query.plan, PlanQuery(view, predicate, options, purpose, cancellation));
  if (query.ordering.has_value()) {
    RETURN_IF_ERROR(PlanOrdering(*view.table, predicate, asked, cancellation, &query));
  }
  if (query.plan.access.has_value()) {
    const bool is_streamed = query.limit > 0 && !query.ordering.has_value();
    query.plan.access->covered =
        MayCover(*query.plan.access, schema) &&
        (!is_streamed || query.plan.rows / kRecordsPerBlock <= query.limit);
  }
  CountReads(request.resources, *view.table, query.plan);
  RETURN_IF_ERROR(LoadFamilies(schema.merged, &query.plan.clusters));
  query.context =
      std::make_unique<ReadContext>(request.resources, std::move(view), std::move(schema));
  query.context->cancellation = cancellation;
  query.context->may_end_early = query.limit > 0;
  if (!query.plan.rows_decide) query.context->predicate = std::move(predicate);
  return query;
}

}  // namespace

Result<BoundPredicate> BindQuery(const QueryRequest& request, const format::TableRecord& table) {
  const base::Cancellation cancellation(request.options.cancelled);
  if (request.values == nullptr) {
    return BoundPredicate::Bind(request.predicate, table, cancellation);
  }
  return BoundPredicate::Bind(request.predicate, table, cancellation, *request.values);
}

Result<Query> PrepareQuery(const QueryRequest& request, PlanPurpose purpose, TableView view) {
  ASSIGN_OR_RETURN(BoundPredicate predicate, BindQuery(request, *view.table));
  return PrepareBound(request, purpose, std::move(predicate), std::move(view));
}

Result<std::unique_ptr<RowSource>> OpenPlanned(const QueryRequest& request,
                                               BoundPredicate predicate, TableView view) {
  ASSIGN_OR_RETURN(Query prepared, PrepareBound(request, PlanPurpose::kRows, std::move(predicate),
                                                std::move(view)));
  if (!prepared.plan.access.has_value()) {
    uint64_t bytes = 0;
    ASSIGN_OR_RETURN(prepared.context->fills_cache,
                     FitsCache(request.resources, prepared.plan.clusters, &bytes));
  }
  const auto kept = std::make_shared<const Query>(std::move(prepared));
  std::unique_ptr<RowSource> rows = OpenQuery(*kept);
  rows->Keep(kept);
  return rows;
}

std::unique_ptr<RowSource> OpenQuery(const Query& query) {
  if (query.ordering.has_value()) return OpenOrdered(query);
  const AccessPath* access = query.plan.access.has_value() ? &*query.plan.access : nullptr;
  return std::make_unique<LimitIterator>(
      ConcatenatingIterator(query.context.get(), query.plan.clusters, access), query.limit);
}

}  // namespace tandem::engine

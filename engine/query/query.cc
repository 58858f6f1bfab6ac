// Preparing a query, and its rows in key order.
#include "engine/query/query.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/parallel/cached_blocks.h"
#include "engine/parallel/hit_read.h"
#include "engine/parallel/key_parts.h"
#include "engine/parallel/key_read.h"
#include "engine/parallel/parted_rows.h"
#include "engine/predicate/index_order.h"
#include "engine/predicate/key_ranges.h"
#include "engine/predicate/row_restrictions.h"
#include "engine/query/global_access.h"
#include "engine/query/scan.h"
#include "engine/read/concatenating_iterator.h"
#include "engine/source/column_order.h"
#include "engine/source/counted.h"
#include "engine/source/lead_rows.h"

namespace tandem::engine {
namespace {

// The most matches that are sorted if the index of the order could be walked instead.
constexpr uint64_t kSortedMax = 1 << 17;

// About the records of an index in one block. All those of the values that are asked for are read
// before the first row is known, and sorted by key: not for a few rows of many.
constexpr uint64_t kRecordsPerBlock = 64;

// A walk looks for its entries among those of another index if a condition asks for few of its
// values, which at most this part of the rows have.
constexpr size_t kFilterKeysMax = 8;
constexpr uint64_t kFilterPart = 2;
// As many entries are walked and looked for in the time that a row is read.
constexpr uint64_t kEntriesPerRow = 2;

Ordering OrderingOf(const IndexOrder& order, const ReadFrom* from) {
  Ordering ordering{.index = order.index, .ranges = {}, .position = {}};
  ordering.is_global = order.is_global;
  ordering.falls = order.falls;
  ordering.backward = order.falls != order.index->columns[0].descending;
  if (from == nullptr) return ordering;
  ordering.position = from->position;
  if (from->before) {
    ordering.backward = !ordering.backward;
    ordering.keys_fall = true;
  }
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
    if (!MemstoresHave(cluster, *ordering.index)) return std::optional<EntryCount>();
    entries.in_memstores += CountMemstoreEntries(cluster, path);
  }
  return std::optional(entries);
}

// Conditions on other indexes, of few values, that most rows do not satisfy. The entries of a walk
// are looked for in their postings, so that few rows are read.
struct WalkFilters {
  std::vector<AccessPath::Condition> conditions = {};
  std::vector<uint64_t> entries = {};  // In files, of each.
  double part_left = 1;                // See Ordering.
};

WalkFilters FiltersOf(const Ordering& ordering, const QueryPlan& plan) {
  WalkFilters filters;
  if (!plan.access.has_value() || plan.access->keys != nullptr) return filters;
  uint64_t rows = 0;
  for (const Cluster& cluster : plan.clusters) {
    for (const FileSource& source : cluster.files) rows += source.file->row_count();
  }
  if (rows == 0) return filters;
  const auto add = [&](const AccessPath::Condition& paths, uint64_t entries) {
    const bool is_looked_for = paths.size() == 1 && paths[0].index != ordering.index &&
                               paths[0].index->columns.size() == 1 && paths[0].of_single_keys &&
                               !paths[0].nulls && paths[0].ranges.size() <= kFilterKeysMax;
    if (!is_looked_for || entries > rows / kFilterPart) return;
    filters.conditions.push_back(paths);
    filters.entries.push_back(entries);
    filters.part_left *= static_cast<double>(entries) / static_cast<double>(rows);
  };
  add(plan.access->paths, plan.entries.in_files);
  for (size_t i = plan.access->own; i < plan.access->intersected.size(); ++i) {
    add(plan.access->intersected[i], plan.intersected[i]);
  }
  return filters;
}

// Whether walking the index in order costs less than fetching all matches and sorting them. With a
// limit the walk ends, on average, after limit / matches of the index. Where there are filters an
// entry is looked for, and the row that it leads to seldom read.
bool IsWalkCheaper(uint64_t ordered, bool has_filters, const Query& query) {
  const uint64_t matches = query.plan.rows;
  if (!query.plan.access.has_value() || matches > kSortedMax) return true;
  unsigned __int128 walked = ordered;
  if (query.limit > 0 && query.limit < matches) walked = walked * query.limit / matches;
  return walked <= matches * (has_filters ? kEntriesPerRow : 1);
}

// The entries after the position, that of the position among them.
KeyRanges EntriesFrom(const Ordering& ordering) {
  const Position& position = *ordering.position;
  format::KeyRange entries;
  if (!ordering.backward) {
    entries.low = *position.entry;
  } else if (position.key.has_value()) {
    entries.high = format::EqualRange(*position.entry).high;
  } else {
    entries.high = *position.entry;
  }
  return {std::move(entries)};
}

void CutToPosition(Ordering* ordering) {
  if (!ordering->position.has_value()) return;
  ordering->ranges = Intersect(ordering->ranges, EntriesFrom(*ordering));
}

// The leaf that a group has on the index's column, or on the row key; nullptr: none.
const BoundLeaf* LeafOn(const BoundNode& group, const format::IndexColumnRecord* column) {
  for (const BoundNode& child : group.children) {
    if (child.kind != BoundNode::Kind::kLeaf || !child.leaf.has_ranges()) continue;
    const BoundLeaf& leaf = child.leaf;
    if (leaf.accepts_null && !leaf.is_row_key) continue;
    if (column == nullptr ? leaf.is_row_key
                          : !leaf.is_row_key && format::HasSameValues(*column, leaf.column)) {
      return &leaf;
    }
  }
  return nullptr;
}

// The position that the OR says, where it is that of the rows after one in the order of the index:
// `c > v OR (c = v AND _row > k)`, with < if values fall.
std::optional<Position> PositionOf(const BoundNode& either, const format::IndexRecord& index,
                                   bool values_fall) {
  if (either.kind != BoundNode::Kind::kOr || either.children.size() != 2) return std::nullopt;
  const format::IndexColumnRecord& column = index.columns.front();
  const auto same = std::ranges::find(either.children, BoundNode::Kind::kAnd, &BoundNode::kind);
  const BoundLeaf* const beyond = LeafOn(either, &column);
  if (same == either.children.end() || same->children.size() != 2 || beyond == nullptr) {
    return std::nullopt;
  }
  const BoundLeaf *const equal = LeafOn(*same, &column), *const keys = LeafOn(*same, nullptr);
  if (equal == nullptr || keys == nullptr) return std::nullopt;
  const auto& rest = beyond->values.intervals();
  const auto& value = equal->values.intervals();
  const auto& rows = keys->values.intervals();
  if (rest.size() != 1 || value.size() != 1 || rows.size() != 1) return std::nullopt;
  const std::optional<ValueBound>& edge = values_fall ? rest[0].high : rest[0].low;
  const bool is_half = !(values_fall ? rest[0].low : rest[0].high).has_value();
  if (!is_half || !edge.has_value() || edge->inclusive || !value[0].is_single() ||
      edge->key != value[0].low->key) {
    return std::nullopt;
  }
  if (!rows[0].low.has_value() || rows[0].low->inclusive || rows[0].high.has_value()) {
    return std::nullopt;
  }
  std::vector<format::KeyRange> entry = RangesOf(*equal, column);
  if (entry.size() != 1) return std::nullopt;
  return Position{std::move(entry[0].low), rows[0].low->key};
}

// The same of a predicate: of an OR that every match satisfies.
std::optional<Position> PositionUnder(const BoundNode& root, const format::IndexRecord& index,
                                      bool values_fall) {
  if (index.columns.size() > 1) return std::nullopt;
  if (root.kind == BoundNode::Kind::kOr) return PositionOf(root, index, values_fall);
  if (root.kind != BoundNode::Kind::kAnd) return std::nullopt;
  for (const BoundNode& child : root.children) {
    std::optional<Position> found = PositionOf(child, index, values_fall);
    if (found.has_value()) return found;
  }
  return std::nullopt;
}

// Whether a query without an index's order reads from the last key on.
bool KeysFall(const QueryRequest& request) {
  const bool is_before = request.from != nullptr && request.from->before;
  return request.query.order_by.empty() && request.query.descending != is_before;
}

// The row keys that a query in key order is left with. Of leads, those that are left are given.
format::KeyRange KeysFrom(const QueryRequest& request) {
  format::KeyRange keys;
  const bool is_by_key = request.query.order_by.empty() && !HaveLeads(request.query.ranges);
  if (request.from == nullptr || !is_by_key) return keys;
  const std::string& key = *request.from->position.key;
  if (KeysFall(request)) {
    keys.high = key;
  } else {
    keys.low = key + '\0';
  }
  return keys;
}

// Makes the index of the ordering the one that leads to rows.
void AccessByOrdering(std::string reason, const EntryCount& entries, WalkFilters filters,
                      Query* query) {
  QueryPlan& plan = query->plan;
  Ordering& ordering = *query->ordering;
  const std::string& name = ordering.index->name;
  std::erase_if(plan.rejected, [start = "index " + name + ": "](const std::string& rejected) {
    return rejected.starts_with(start);
  });
  if (plan.access.has_value()) {
    for (const IndexPath* path : plan.access->AllPaths()) {
      const bool is_filter = std::ranges::any_of(
          filters.conditions,
          [&](const AccessPath::Condition& paths) { return paths.front().index == path->index; });
      if (path->index == ordering.index || is_filter) continue;
      plan.rejected.push_back("index " + path->index->name + ": the order is that of " + name);
    }
  }
  plan.access =
      AccessPath{.paths = {}, .exact = false, .intersected = std::move(filters.conditions)};
  plan.access->paths.push_back({ordering.index, ordering.ranges, false});
  plan.entries = entries;
  plan.rows = entries.total();
  plan.intersected = std::move(filters.entries);
  ordering.part_left = filters.part_left;
  plan.reason = std::move(reason);
}

// Whether a walk in order finds all rows. An index over several columns has no entry that tells of
// a column that vanished.
bool CanWalk(const format::TableRecord& table, const Ordering& ordering, const QueryPlan& plan) {
  const std::vector<format::IndexColumnRecord>& columns = ordering.index->columns;
  if (columns.size() == 1) return true;
  const bool may_vanish = std::ranges::any_of(columns, [&](const auto& column) {
    return !column.is_of_row_key() && MayVanish(*table.FindFamily(column.family));
  });
  return !may_vanish && std::ranges::all_of(
                            plan.clusters, [](const Cluster& cluster) { return cluster.in_order; });
}

Status PlanOrdering(const format::TableRecord& table, const BoundPredicate& predicate,
                    const QueryOptions& options, const base::Cancellation& cancellation,
                    Query* query) {
  Ordering& ordering = *query->ordering;
  if (!ordering.position.has_value()) {
    ordering.position = PositionUnder(predicate.root(), *ordering.index, ordering.falls);
  }
  // Entries have not all rows, or not their place: matches are found as they are without an order,
  // and sorted.
  if (ordering.index->needs_order()) return {};
  if (ordering.is_global) {
    if (!options.no_scan || query->plan.access.has_value()) return {};
    return Status::InvalidArgument("the query would scan table " + base::Quote(table.name) +
                                   " and sort its rows: no condition is served by an index");
  }
  ordering.ranges = OrderedUnder(predicate, *ordering.index);
  CutToPosition(&ordering);
  const bool is_forced = options.use_index == ordering.index->name;
  const bool is_other_asked_for =
      !options.use_indexes.empty() || (!options.use_index.empty() && !is_forced);
  if (options.no_index || is_other_asked_for) return {};
  std::optional<EntryCount> entries;
  const bool can_walk = CanWalk(table, ordering, query->plan);
  if (can_walk) {
    ASSIGN_OR_RETURN(entries, CountOrdered(ordering, query->plan, cancellation));
  }
  if (entries.has_value()) {
    WalkFilters filters = FiltersOf(ordering, query->plan);
    const bool has_filters = !filters.conditions.empty();
    ordering.walks_index = is_forced || IsWalkCheaper(entries->total(), has_filters, *query) ||
                           (options.no_scan && !query->plan.access.has_value());
    if (!ordering.walks_index) return {};
    AccessByOrdering("in the order of the index", *entries, std::move(filters), query);
    return {};
  }
  if (!is_forced && options.no_scan && !query->plan.access.has_value()) {
    return Status::InvalidArgument(
        "the query would scan table " + base::Quote(table.name) + " and sort its rows: index '" +
        ordering.index->name + "' cannot be walked, " +
        (can_walk ? "since some files or memstores lack it"
                  : "since timestamps go back, files are newer than the snapshot or cells expire"));
  }
  if (!is_forced) return {};
  // A walk would read every row of the sources that lack the index again for each range of values.
  ordering.ranges = RangesUnder(predicate, *ordering.index);
  // Of several columns a source may have others than those that give the row its place.
  if (ordering.index->columns.size() == 1) CutToPosition(&ordering);
  AccessPath access{.paths = {}, .exact = false};
  access.paths.push_back({ordering.index, ordering.ranges, false});
  ASSIGN_OR_RETURN(const EntryCount read,
                   CountEntries(query->plan.clusters, access, Precision::kExact, cancellation));
  AccessByOrdering(can_walk
                       ? "use_index; sorted, since some files or memstores lack it and are scanned"
                       : "use_index; sorted, since timestamps go back, files are newer than the "
                         "snapshot or cells expire",
                   read, {}, query);
  return {};
}

void CountReads(const QueryRequest& request, const format::TableRecord& table,
                const QueryPlan& plan) {
  IndexReads* const reads = request.resources.index_reads;
  if (reads == nullptr) return;
  const bool has_rows = request.global != nullptr && !request.global->index.empty();
  if (has_rows) reads->Count(table.id, request.global->id);
  if (!plan.access.has_value()) return;
  for (const IndexPath* path : plan.access->AllPaths()) reads->Count(table.id, path->index->id);
  if (plan.access->first_rows == 0 || plan.access->first == nullptr) return;
  for (const IndexPath& path : plan.access->first->paths) reads->Count(table.id, path.index->id);
}

// The options with a single index that is asked for in use_index.
QueryOptions Normal(QueryOptions options) {
  if (options.use_indexes.size() == 1 && options.use_index.empty()) {
    options.use_index = std::move(options.use_indexes.front());
    options.use_indexes.clear();
  }
  return options;
}

// Entries of single-source rows in files that are read whole: each of their rows is looked at.
Result<uint64_t> RowsCertainlyRead(const QueryPlan& plan) {
  uint64_t rows = 0;
  const AccessPath& access = *plan.access;
  if (access.paths.size() != 1 || access.paths[0].repeats_rows || access.is_intersection()) {
    return rows;
  }
  for (const Cluster& cluster : plan.clusters) {
    if (!cluster.has_one_file()) continue;
    const FileSource& source = cluster.files[0];
    const bool is_whole = source.low == 0 && source.high == source.file->row_count();
    if (!is_whole || !source.may_be_single_source || source.clean != nullptr) continue;
    ASSIGN_OR_RETURN(const std::optional<uint64_t> entries, ExactEntries(source, access.paths[0]));
    rows += entries.value_or(0);
  }
  return rows;
}

// Refuses a query that will certainly pass its budget. One with a limit may end before that.
Status CheckPlannedCost(const Query& query, PlanPurpose purpose) {
  const ReadContext& context = *query.context;
  if (context.meter == nullptr || query.limit > 0 || query.skipped.by_counts > 0) return {};
  if (!query.plan.access.has_value()) {
    const bool reads_none = purpose == PlanPurpose::kCount && query.plan.rows_decide;
    return reads_none ? Status() : CheckScanCost(context, query.plan.clusters);
  }
  if (purpose == PlanPurpose::kCount) return {};
  ASSIGN_OR_RETURN(const uint64_t rows, RowsCertainlyRead(query.plan));
  return context.meter->CheckPlan(rows, 0, 0);
}

// Whether every row with an entry of the index in the ranges of the predicate matches.
bool IsConditionOf(const BoundPredicate& predicate, const QueryPlan& plan,
                   const format::IndexRecord& index) {
  if (plan.rows_decide) return true;
  const BoundNode& root = predicate.root();
  return root.kind == BoundNode::Kind::kLeaf && !root.leaf.accepts_null &&
         AccessPathFinder::Serves(index, root.leaf);
}

// Begins the query after the rows of its offset, as far as they can be counted.
Status SkipOffset(Query* query, bool is_condition_of_order) {
  Skipped& skipped = query->skipped;
  skipped.left = query->offset;
  if (skipped.left == 0) return {};
  if (!query->leads.empty()) {
    skipped.why_read = "rows of " + std::to_string(query->leads.size()) + " leads are merged";
    return {};
  }
  ReadContext* const context = query->context.get();
  if (query->ordering.has_value()) {
    Ordering& ordering = *query->ordering;
    if (!ordering.walks_index || ordering.index == nullptr) {
      skipped.why_read = "the matches are sorted";
    } else if (ordering.position.has_value()) {
      skipped.why_read = "the read begins at a position";
    } else if (!is_condition_of_order || !MayCountEntries(*ordering.index)) {
      skipped.why_read = "not every entry of the index is that of a match";
    } else {
      RETURN_IF_ERROR(SkipInOrder(context,
                                  {.index = *ordering.index,
                                   .backward = ordering.backward,
                                   .ranges = ordering.ranges,
                                   .clusters = query->plan.clusters},
                                  &ordering.position, &skipped));
      CutToPosition(&ordering);
    }
    return {};
  }
  QueryPlan& plan = query->plan;
  const bool is_exact = plan.access.has_value() ? plan.access->exact : plan.rows_decide;
  if (!is_exact) {
    skipped.why_read = "no index counts the matches";
    return {};
  }
  return SkipByKey(context,
                   {.access = plan.access.has_value() ? &*plan.access : nullptr,
                    .entries = plan.entries.total(),
                    .reverse = query->reverse,
                    .clusters = &plan.clusters},
                   &skipped);
}

// Those that the key of an entry is made of.
ColumnSet ColumnsOf(const format::IndexRecord& index) {
  ColumnSet columns;
  index.ForEachPlace([&columns](const format::IndexColumnRecord& column, size_t) {
    if (!column.is_of_row_key()) columns.Add(column.family, column.qualifier);
  });
  return columns;
}

// A budget that the indexes would hold is not spent on other rows. From the last key on, and of
// each lead, the first rows are others.
void SettleFirstRows(const QueryRequest& request, const ReadLimits& limits, AccessPath* access) {
  if (limits.meter != nullptr || KeysFall(request) || HaveLeads(request.query.ranges)) {
    access->first_rows = 0;
  }
}

std::string FirstRowsText(const AccessPath& access) {
  const std::string rows = std::to_string(access.first_rows);
  return (access.first == nullptr ? "; after a scan of up to " + rows + " rows"
                                  : "; after those of " + NamesOf(access.first->paths) +
                                        " among the first " + rows + " rows") +
         ", which should have as many as are asked for";
}

void AddIntersected(const QueryPlan& plan, Explanation* explanation) {
  if (!plan.access.has_value()) return;
  const auto add = [&](const AccessPath::Condition& paths, uint64_t entries) {
    explanation->intersected.push_back(NamesOf(paths) + ": " + std::to_string(entries) +
                                       " entries");
  };
  for (size_t i = plan.access->own; i < plan.access->intersected.size(); ++i) {
    if (explanation->intersected.empty()) add(plan.access->paths, plan.entries.total());
    add(plan.access->intersected[i], plan.intersected[i]);
    explanation->entries += plan.intersected[i];
  }
}

void NotePlan(const QueryRequest& request, const Query& query) {
  if (request.trace == nullptr || request.trace->has_plan()) return;
  Explanation plan = ExplainPlan(query);
  if (request.global != nullptr) ExplainGlobal(*request.global, &plan);
  request.trace->SetPlan(std::move(plan));
}

// About how many parts the query has that are worth a thread. One: it is not read in parts.
uint64_t PartsWorthReading(const Query& query, PlanPurpose purpose) {
  const QueryPlan& plan = query.plan;
  const PartSize size = PartSize::Of(query.context->resources);
  if (!query.leads.empty()) return 1;
  if (query.ordering.has_value()) {
    // The steps of a walk over several columns are not apart: one may take in the next ones.
    const bool walks = query.ordering->walks_index && query.ordering->index->columns.size() == 1;
    return walks ? plan.entries.total() / size.rows : 1;
  }
  if (query.skipped.by_counts > 0) return 1;  // They have found where it begins.
  if (!plan.access.has_value()) return PartsIn(plan.clusters, size, kPartsMin);
  // Hits of a read that may end early are found in parts, and those of a count are not read.
  const bool is_counted = purpose == PlanPurpose::kCount && plan.access->exact;
  if (query.limit > 0 || is_counted) return 1;
  return PartsOfHits(plan.clusters, *plan.access, plan.rows, size);
}

// Whether the threads that read the rows would do nothing but pass them on.
bool OnlyPassesRows(const Query& query, PlanPurpose purpose, bool order_decides) {
  if (purpose == PlanPurpose::kCount || purpose == PlanPurpose::kGroups) return false;
  const bool by_hits = !query.ordering.has_value() && query.plan.access.has_value();
  return !query.context->predicate.has_value() || (by_hits && query.plan.access->exact) ||
         order_decides;
}

// How many threads may read the query. `order_decides`: every row of the walk matches.
uint32_t ThreadsOf(const QueryRequest& request, PlanPurpose purpose, bool order_decides,
                   const Query& query) {
  if (request.options.threads <= 1) return 1;
  const uint64_t rows_of_part = PartSize::Of(request.resources).rows;
  const uint64_t asked = query.limit == 0 || query.context->predicate.has_value()
                             ? UINT64_MAX
                             : query.limit / rows_of_part + query.offset / rows_of_part + 1;
  const uint64_t parts = std::min(PartsWorthReading(query, purpose), asked);
  const uint32_t threads = ThreadsFor(*query.context, request.options.threads, parts);
  if (threads == 1 || !OnlyPassesRows(query, purpose, order_decides)) return threads;
  return PaysToPass(query.plan.clusters) ? threads : 1;
}

// What is explained is counted by one thread.
void SettleThreads(uint32_t threads, PlanPurpose purpose, Query* query) {
  if (purpose != PlanPurpose::kExplanation) {
    query->threads = threads;
  } else if (threads > 1) {
    query->plan.reason += "; by up to " + std::to_string(threads) + " threads";
  }
}

// A scan that would read much of the cache does not fill it.
Status SettleCaching(PlanPurpose purpose, Query* query) {
  const bool returns_rows = purpose == PlanPurpose::kRows || purpose == PlanPurpose::kGroups;
  if (!returns_rows || query->plan.access.has_value()) return {};
  uint64_t bytes = 0;
  ReadContext& context = *query->context;
  ASSIGN_OR_RETURN(context.fills_cache, FitsCache(context.resources, query->plan.clusters, &bytes));
  return {};
}

// How the rows of the plan are read.
Status SettleRead(const QueryRequest& request, PlanPurpose purpose, bool order_decides,
                  Query* query) {
  RETURN_IF_ERROR(SettleCaching(purpose, query));
  SettleThreads(ThreadsOf(request, purpose, order_decides, *query), purpose, query);
  return {};
}

// Whether rows come from the records of the index that they are found by.
bool IsCovered(const QueryOptions& asked, const Query& query, const ReadSchema& schema) {
  if (HaveLeads(asked.ranges)) return false;  // Each would read the records of all.
  const bool is_streamed = query.limit > 0 && !query.ordering.has_value();
  // By windows of falling keys the same records would be read again for each.
  const bool has_windows = query.ordering.has_value() && query.ordering->keys_fall;
  return !has_windows && MayCover(*query.plan.access, schema) &&
         (!is_streamed || query.plan.rows / kRecordsPerBlock <= query.limit);
}

// A covered walk has the record of each entry anyway, and looks for none.
void SettleCovered(const QueryOptions& asked, const ReadSchema& schema, Query* query) {
  AccessPath& access = *query->plan.access;
  access.covered = IsCovered(asked, *query, schema);
  if (!access.covered || !query->ordering.has_value() || !query->ordering->walks_index) return;
  access.intersected.clear();
  query->plan.intersected.clear();
  query->ordering->part_left = 1;
}

// See ReadContext. The rows of a step of an order are all read.
uint64_t RowsAskedOf(const Query& query) {
  const QueryPlan& plan = query.plan;
  const bool is_exact = plan.access.has_value() ? plan.access->exact : plan.rows_decide;
  if (query.ordering.has_value() || !is_exact) return UINT64_MAX;
  return RowsAsked(query.limit, query.skipped.left);
}

// What is read of each lead. The rows of all are those of the plan.
Status AddLeads(const std::vector<LeadRows>& leads, Query* query) {
  ReadContext& context = *query->context;
  for (const LeadRows& lead : leads) {
    const KeyRanges of_lead = Intersect(lead.rows, query->plan.rows_within);
    if (of_lead.empty()) continue;
    LeadRead read{lead.lead.size(), {of_lead.front().low, of_lead.back().high}, {}};
    ASSIGN_OR_RETURN(read.clusters, FindClusters(context.view, of_lead));
    if (read.clusters.empty()) continue;
    FindColumnOrder(context.view, &read.clusters);
    RETURN_IF_ERROR(LoadFamilies(context.schema.merged, &read.clusters));
    query->leads.push_back(std::move(read));
  }
  if (query->leads.empty()) return {};
  if (context.meter != nullptr) context.meter->SetKeys(ReadMeter::KeysAre::kNoPositions);
  query->plan.reason += "; rows of " + std::to_string(query->leads.size()) +
                        " leads merged by the rest of their keys";
  return {};
}

// Prepares the query with its predicate bound.
Result<Query> PrepareBound(const QueryRequest& request, PlanPurpose purpose,
                           BoundPredicate predicate, TableView view) {
  Query query{.context = nullptr,
              .plan = {},
              .ordering = {},
              .limit = request.query.limit,
              .offset = request.query.offset,
              .reverse = false};
  const ReadLimits limits = request.Limits();
  view.point.older_decide = request.query.any_version;
  ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::Make(view, request.options));
  view.point = schema.point;
  if (purpose == PlanPurpose::kCount) schema.ReturnNothing();
  ColumnSet ordering;
  ASSIGN_OR_RETURN(QueryOptions asked, WithoutGlobal(*view.table, request, Normal(request.query)));
  // The rows of a global index are what is read, wherever they lie.
  const bool has_rows = request.global != nullptr && !request.global->index.empty();
  asked.no_scan = (asked.no_scan || request.no_scan) && !has_rows;
  QueryOptions options = asked;
  if (!options.order_by.empty()) {
    ASSIGN_OR_RETURN(const IndexOrder order,
                     OrderAskedFor(*view.table, request.resources.functions, options));
    query.ordering = OrderingOf(order, request.from);
    ordering = ColumnsOf(*query.ordering->index);
    // To walk an index in its order needs no condition on its column.
    const bool may_walk = !query.ordering->index->needs_order() && !query.ordering->is_global;
    if (may_walk && options.use_index == order.index->name && !options.no_index) {
      options.use_index.clear();
    }
  }
  const auto* const order = query.ordering.has_value() ? query.ordering->index : nullptr;
  schema.Decode(ordering, predicate);
  const bool is_merged = request.leads != nullptr && HaveLeads(request.query.ranges);
  // An ordered count reads its rows.
  if (query.ordering.has_value() && purpose == PlanPurpose::kCount) purpose = PlanPurpose::kRows;
  ASSIGN_OR_RETURN(query.plan, PlanQuery(view, predicate, options, purpose, limits.cancellation,
                                         KeysFrom(request), schema.matched));
  if (query.plan.access.has_value()) SettleFirstRows(request, limits, &*query.plan.access);
  const bool is_condition_of_order =
      order != nullptr && IsConditionOf(predicate, query.plan, *order);
  if (query.ordering.has_value()) {
    RETURN_IF_ERROR(PlanOrdering(*view.table, predicate, asked, limits.cancellation, &query));
  } else if (KeysFall(request) && purpose != PlanPurpose::kCount) {
    query.reverse = true;
    if (query.plan.access.has_value()) {
      query.ordering = Ordering{.keys_fall = true, .ranges = {}, .position = {}};
    }
  }
  if (query.plan.access.has_value()) SettleCovered(request.query, schema, &query);
  CountReads(request, *view.table, query.plan);
  RETURN_IF_ERROR(LoadFamilies(schema.merged, &query.plan.clusters));
  query.context =
      std::make_unique<ReadContext>(request.resources, std::move(view), std::move(schema));
  query.context->Limit(limits);
  query.context->may_end_early = query.limit > 0;
  if (!query.plan.rows_decide) query.context->predicate = std::move(predicate);
  query.context->NoteIn(request.trace);
  if (is_merged && purpose != PlanPurpose::kCount) {
    RETURN_IF_ERROR(AddLeads(*request.leads, &query));
  }
  if (purpose != PlanPurpose::kCount) RETURN_IF_ERROR(SkipOffset(&query, is_condition_of_order));
  query.context->rows_asked = RowsAskedOf(query);
  NotePlan(request, query);
  RETURN_IF_ERROR(CheckPlannedCost(query, purpose));
  RETURN_IF_ERROR(SettleRead(request, purpose, is_condition_of_order, &query));
  return query;
}

}  // namespace

Result<BoundPredicate> BindQuery(const QueryRequest& request, const format::TableRecord& table) {
  const base::Cancellation cancellation = request.Limits().cancellation;
  if (request.query.any_version && !request.query.order_by.empty()) {
    return Status::InvalidArgument(
        "any_version and order_by are both given: a row has its place by the newest version alone");
  }
  if (!request.query.order_by.empty() && HaveLeads(request.query.ranges)) {
    return Status::InvalidArgument(
        "order_by and ranges with leading bytes are both given: each is an order of its own");
  }
  ASSIGN_OR_RETURN(
      BoundPredicate predicate,
      BoundPredicate::Bind(request.predicate, table,
                           {.cancellation = cancellation,
                            .values = request.values,
                            .versions = request.query.any_version ? DecidingVersions::kAny
                                                                  : DecidingVersions::kNewest,
                            .functions = request.resources.functions}));
  predicate = WithinFields(std::move(predicate));
  if (!request.query.ranges.empty()) {
    predicate = WithinRows(predicate, request.leads == nullptr ? RowsOf(request.query.ranges)
                                                               : RowsOf(*request.leads));
  }
  const bool has_rows = request.global != nullptr && !request.global->index.empty();
  if (has_rows) return AmongRows(predicate, request.global->rows);
  return predicate;
}

Result<Query> PrepareQuery(const QueryRequest& request, PlanPurpose purpose, TableView view) {
  ASSIGN_OR_RETURN(BoundPredicate predicate, BindQuery(request, *view.table));
  return PrepareBound(request, purpose, std::move(predicate), std::move(view));
}

Result<Query> PrepareQuery(const QueryRequest& request, PlanPurpose purpose,
                           BoundPredicate predicate, TableView view) {
  return PrepareBound(request, purpose, std::move(predicate), std::move(view));
}

Explanation ExplainPlan(const Query& query) {
  const QueryPlan& plan = query.plan;
  Explanation explanation;
  explanation.index = IndexNames(plan);
  explanation.reason = plan.reason;
  if (plan.access.has_value() && plan.access->first_rows > 0) {
    explanation.reason += FirstRowsText(*plan.access);
  }
  explanation.rejected = plan.rejected;
  explanation.entries = plan.entries.total();
  explanation.memstore_entries = plan.entries.in_memstores;
  AddIntersected(plan, &explanation);
  for (const Cluster& cluster : plan.clusters) {
    explanation.memstores += cluster.memstores.size();
    explanation.files += cluster.files.size();
  }
  explanation.covered = plan.access.has_value() && plan.access->covered;
  explanation.skipped_by_counts = query.skipped.by_counts;
  explanation.rows_decided_to_skip = query.skipped.decided;
  explanation.read_to_skip = query.skipped.why_read;
  return explanation;
}

Result<std::unique_ptr<RowSource>> OpenPlanned(const QueryRequest& request,
                                               BoundPredicate predicate, TableView view) {
  ASSIGN_OR_RETURN(Query prepared, PrepareBound(request, PlanPurpose::kRows, std::move(predicate),
                                                std::move(view)));
  const auto kept = std::make_shared<const Query>(std::move(prepared));
  std::unique_ptr<RowSource> rows = OpenQuery(*kept);
  rows->Keep(kept);
  return rows;
}

PartReaders::Work PartsOf(const Query& query) {
  const QueryPlan& plan = query.plan;
  const ReadContext& context = *query.context;
  PartReaders::Work work{.read = nullptr, .context = &context, .threads = query.threads};
  work.read = plan.access.has_value() ? NewHitRead(context, plan.clusters, *plan.access)
                                      : NewKeyRead(plan.clusters, query.reverse, context.resources);
  return work;
}

std::unique_ptr<RowSource> OpenQuery(const Query& query) {
  if (query.skipped.is_all) {
    return std::make_unique<LimitIterator>(
        ConcatenatingIterator(query.context.get(), {}, /*access=*/nullptr), query.limit);
  }
  if (!query.leads.empty()) return OpenLeads(query);
  if (query.ordering.has_value()) return OpenOrdered(query);
  if (query.threads > 1) {
    return NewPartedRows(PartsOf(query), query.limit, query.skipped.left);
  }
  const AccessPath* access = query.plan.access.has_value() ? &*query.plan.access : nullptr;
  return std::make_unique<LimitIterator>(
      ConcatenatingIterator(query.context.get(), query.plan.clusters, access, query.reverse),
      query.limit, query.skipped.left);
}

}  // namespace tandem::engine

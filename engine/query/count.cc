// Counting the rows of a query (rule 21). If the access alone decides, a single-source candidate
// counts without being read: by cumulative counts for a whole file of single-source rows, else by
// one bit or one filter look-up per candidate. So does a row of a memstore whose Put is newer than
// those of files, and a row of a file if memstores hold only other columns of it. The other
// candidates are read and decided on the merged row.
#include "engine/query/count.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "engine/counting/all_rows.h"
#include "engine/counting/entry_counts.h"
#include "engine/counting/matches.h"
#include "engine/parallel/key_read.h"
#include "engine/parallel/parted_rows.h"
#include "engine/read/concatenating_iterator.h"
#include "engine/source/intersection.h"
#include "engine/source/memstore_overlap.h"
#include "engine/source/single_source.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

// As many candidates of a file are looked at in the time that the row of a memstore is decided
// twice; kSharedEntriesPerDecided where files share rows.
constexpr uint64_t kEntriesPerMemstoreRow = 256;
// A candidate without a value costs as much as this many entries.
constexpr uint64_t kEntriesPerNull = 4;

bool IsWhole(const FileSource& source) {
  return source.low == 0 && source.high == source.file->row_count();
}

Result<uint64_t> CountRows(RowIterator* iterator) {
  uint64_t count = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, iterator->Next());
    if (!is_row) return count;
    ++count;
  }
}

// The rows of a cluster by the counts of live entries in its files, and those that have to be
// decided; nullopt: there are no such counts, or looking at the candidates is cheaper.
Result<std::optional<uint64_t>> CountFromEntries(ReadContext* context, const Cluster& cluster,
                                                 const AccessPath& access) {
  const std::optional<uint64_t> none;
  ASSIGN_OR_RETURN(const std::optional<uint64_t> entries, CountableEntries(cluster, access));
  if (!entries.has_value()) return none;
  const bool has_one_file = cluster.files.size() == 1;
  const uint64_t updated = CountMemstoreRows(cluster);
  if (updated * (has_one_file ? kEntriesPerMemstoreRow : 1) > *entries) return none;
  const IndexPath& path = access.paths[0];
  std::string_view why;
  ASSIGN_OR_RETURN(const std::optional<EntryCounts> counts,
                   EntryCounts::Make(context, cluster, *path.index, *entries, &why));
  if (!counts.has_value()) return none;
  if (!has_one_file && updated > 0) {
    ASSIGN_OR_RETURN(const uint64_t decided, counts->CountDecided(path.ranges));
    if (decided * kSharedEntriesPerDecided > *entries) return none;
  }
  ASSIGN_OR_RETURN(uint64_t count, counts->Count(path.ranges));
  RETURN_IF_ERROR(counts->ForEachDecided(path.ranges, [&](const RowIterator&, bool is_added) {
    count += is_added ? 1 : -1;
    return Status();
  }));
  return std::optional(count);
}

// Whether memstores have no cell of the index's column in any row of the file, which shares none
// with other files: no posting of it is dead, and no row of it counts by an entry of theirs.
Result<bool> MemstoresLeave(const ReadContext& context, const Cluster& cluster,
                            const FileSource& source, const format::IndexRecord& index) {
  const bool may_tell = context.resources.overlap_memory != nullptr &&
                        !context.view.point.is_bounded() && format::DiesByPuts(index) &&
                        IsWhole(source) && AllMayBeSingleSource(source) && OverlapsNoFile(source) &&
                        MemstoresHave(cluster, index);
  if (!may_tell) return false;
  for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
    const auto overlap =
        MemstoreOverlap::Of(*memstore, *source.file, context.resources.overlap_memory);
    const format::SequenceNumber seen = memstore->SeenThrough(context.view.point.sequence);
    ASSIGN_OR_RETURN(const bool is_known, overlap->Covers(seen, source.file));
    if (!is_known || !overlap->LeavesAsItIs(index)) return false;
  }
  return true;
}

// Counts the candidates of a whole file by cumulative counts, if all its rows are single-source, or
// are for the index alone, and no posting of it is dead. nullopt: cumulative counts are not enough.
Result<std::optional<uint64_t>> CountFromLeaves(const ReadContext& context, const Cluster& cluster,
                                                const FileSource& source,
                                                const AccessPath& access) {
  const std::optional<uint64_t> none;
  if (access.paths.size() != 1 || access.paths[0].repeats_rows || access.is_intersection()) {
    return none;
  }
  const IndexPath& path = access.paths[0];
  if (EntriesAreRows(cluster, source)) return ExactEntries(source, path);
  if (path.nulls || access.keys != nullptr) return none;
  ASSIGN_OR_RETURN(const bool leave, MemstoresLeave(context, cluster, source, *path.index));
  return leave ? ExactEntries(source, path) : none;
}

// Whether every posting that is left of a row that memstores are known to match by would be found
// dead, so that the row is not counted by it as well.
bool KnowsDeadPostings(const FileSource& source, const FileCandidates& left) {
  if (left.index == nullptr) return false;
  return left.ordinals.empty() || NewestPutOf(*source.file, left.index->columns[0]).has_value();
}

// The rows of memstores that match for certain are counted; the others are appended to `*rows`.
uint64_t TakeKnown(const Cluster& cluster, const AccessPath& access, const TableView& view,
                   std::vector<const MemRow*>* rows) {
  const std::optional<uint64_t> all = CountKnownMatches(cluster, access, view);
  if (all.has_value()) return *all;
  MemstoreMatches matches = MatchesOfMemstores(cluster, access, view);
  *rows = std::move(matches.others);
  return matches.known.size();
}

// The candidates of the memstores are those that the view sees, so a row that a writer adds
// meanwhile counts by its posting alone.
Result<uint64_t> CountAccessPath(ReadContext* context, const Cluster& cluster,
                                 const AccessPath& access) {
  ASSIGN_OR_RETURN(const std::optional<uint64_t> counted,
                   CountFromEntries(context, cluster, access));
  if (counted.has_value()) return *counted;
  std::vector<FileCandidates> files;
  uint64_t count = 0;
  bool known_match = true;  // Those of memstores.
  for (const FileSource& source : cluster.files) {
    RETURN_IF_ERROR(context->CheckGoOn());
    ASSIGN_OR_RETURN(const std::optional<uint64_t> exact,
                     CountFromLeaves(*context, cluster, source, access));
    FileCandidates& candidates = files.emplace_back();
    if (exact.has_value()) {
      count += *exact;
      continue;
    }
    ASSIGN_OR_RETURN(candidates,
                     IntersectedCandidatesOf(cluster, source, access, context->cancellation));
    // Puts of the other columns decide as well, so a row that a memstore holds is read.
    if (access.is_intersection()) candidates.index = nullptr;
    ASSIGN_OR_RETURN(const uint64_t decided, TakeMatches(*context, cluster, source, &candidates));
    count += decided;
    known_match &= KnowsDeadPostings(source, candidates);
  }
  std::vector<const MemRow*> rows;
  if (!known_match) {
    rows = MemstoreCandidates(cluster, access, context->view.point);
  } else if (!cluster.has_one_file()) {
    count += TakeKnown(cluster, access, context->view, &rows);
  }
  const auto rest = NewCandidateIterator(context, cluster, std::move(files), {std::move(rows)});
  ASSIGN_OR_RETURN(const uint64_t others, CountRows(rest.get()));
  return count + others;
}

// All rows of a cluster; nullopt: they cannot be counted, or reading them costs less.
Result<std::optional<uint64_t>> CountRowsOf(ReadContext* context, const Cluster& cluster) {
  if (EachRowCounts(cluster)) {
    return std::optional<uint64_t>(cluster.files[0].high - cluster.files[0].low);
  }
  return CountAllRows(context, cluster);
}

// The rows of the query if all of its clusters are counted so; nullopt: they are not.
Result<std::optional<uint64_t>> CountAtOnce(const Query& query, uint64_t limit) {
  if (!query.plan.rows_decide) return std::optional<uint64_t>();
  uint64_t count = 0;
  for (const Cluster& cluster : query.plan.clusters) {
    if (count >= limit) break;
    RETURN_IF_ERROR(query.context->CheckGoOn());
    ASSIGN_OR_RETURN(const std::optional<uint64_t> rows, CountRowsOf(query.context.get(), cluster));
    if (!rows.has_value()) return std::optional<uint64_t>();
    count += *rows;
  }
  return std::optional(count);
}

Result<uint64_t> CountCluster(const Query& query, const Cluster& cluster) {
  ReadContext* context = query.context.get();
  RETURN_IF_ERROR(context->CheckGoOn());
  const std::optional<AccessPath>& access = query.plan.access;
  if (access.has_value() && access->exact) return CountAccessPath(context, cluster, *access);
  if (query.plan.rows_decide) {
    ASSIGN_OR_RETURN(const std::optional<uint64_t> all, CountRowsOf(context, cluster));
    if (all.has_value()) return *all;
  }
  ConcatenatingIterator chain(context, {&cluster, 1}, access.has_value() ? &*access : nullptr);
  uint64_t count = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, chain.Next());
    if (!is_row) return count;
    ++count;
  }
}

// A condition on one column that rows without a value satisfy too, turned round; nullopt: it is no
// such condition.
std::optional<BoundPredicate> TurnRound(const Query& query) {
  if (!query.context->predicate.has_value()) return std::nullopt;
  BoundNode turned = query.context->predicate->root();
  const bool may_turn = turned.kind == BoundNode::Kind::kLeaf && turned.leaf.accepts_null &&
                        turned.leaf.has_ranges() && !turned.leaf.has_several_values();
  if (!may_turn) return std::nullopt;
  turned.leaf.values = turned.leaf.values.Complement();
  turned.leaf.accepts_null = false;
  return BoundPredicate::Of(std::move(turned));
}

// How many rows the read looks at, about.
uint64_t CostOf(const QueryPlan& plan) {
  if (plan.access.has_value()) return plan.entries.total();
  uint64_t rows = 0;
  for (const Cluster& cluster : plan.clusters) {
    rows += CountMemstoreRows(cluster);
    for (const FileSource& source : cluster.files) rows += source.high - source.low;
  }
  return rows;
}

}  // namespace

bool EntriesAreRows(const Cluster& cluster, const FileSource& source) {
  return AllMayBeSingleSource(source) && IsWhole(source) && OverlapsNothing(cluster, source);
}

Result<uint64_t> CountMatches(const Query& query) {
  uint64_t count = 0;
  if (query.ordering.has_value()) {
    const std::unique_ptr<RowSource> rows = OpenQuery(query);
    format::RowBatch batch;
    while (true) {
      ASSIGN_OR_RETURN(const bool more, rows->NextBatch(&batch));
      if (!more) return count;
      count += batch.size();
    }
  }
  // Those of the offset are counted too.
  const bool is_limited = query.limit > 0 && query.limit <= UINT64_MAX - query.offset;
  const uint64_t limit = is_limited ? query.offset + query.limit : UINT64_MAX;
  if (query.threads > 1) {
    ASSIGN_OR_RETURN(const std::optional<uint64_t> all, CountAtOnce(query, limit));
    ASSIGN_OR_RETURN(count, all.has_value() ? *all : CountParted(PartsOf(query), limit));
    return std::min(count, limit) - std::min(count, query.offset);
  }
  for (const Cluster& cluster : query.plan.clusters) {
    if (count >= limit) break;
    ASSIGN_OR_RETURN(const uint64_t here, CountCluster(query, cluster));
    count += here;
  }
  return std::min(count, limit) - std::min(count, query.offset);
}

Result<std::optional<uint64_t>> CountByOthers(const QueryRequest& request, const Query& query) {
  const std::optional<uint64_t> none;
  const QueryOptions& asked = request.query;
  const bool is_whole = asked.limit == 0 && asked.offset == 0 && asked.after.empty() &&
                        asked.before.empty() && asked.order_by.empty();
  if (!is_whole) return none;
  std::optional<BoundPredicate> turned = TurnRound(query);
  if (!turned.has_value()) return none;
  const TableView& view = query.context->view;
  ASSIGN_OR_RETURN(const Query others,
                   PrepareQuery(request, PlanPurpose::kCount, *std::move(turned), view));
  const std::optional<AccessPath>& access = others.plan.access;
  if (!access.has_value() || !access->exact) return none;
  if (CostOf(query.plan) * kEntriesPerNull < CostOf(others.plan)) return none;
  QueryOptions of_all;
  QueryRequest every_row{request.resources, request.options, request.predicate, of_all};
  every_row.limits = request.limits;
  ASSIGN_OR_RETURN(const Query all, PrepareQuery(every_row, PlanPurpose::kCount,
                                                 BoundPredicate::Of(BoundNode()), view));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> rows, CountAtOnce(all, UINT64_MAX));
  if (!rows.has_value()) return none;
  ASSIGN_OR_RETURN(const uint64_t left_out, CountMatches(others));
  return std::optional(*rows - left_out);
}

}  // namespace tandem::engine

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
#include "engine/read/concatenating_iterator.h"
#include "engine/source/intersection.h"
#include "engine/source/memstore_verdicts.h"
#include "engine/source/ordinal_set.h"
#include "engine/source/single_source.h"

namespace tandem::engine {
namespace {

bool IsWhole(const FileSource& source) {
  return source.low == 0 && source.high == source.file->row_count();
}

bool AllMayBeSingleSource(const FileSource& source) {
  return source.may_be_single_source && source.clean == nullptr;
}

Result<uint64_t> CountRows(RowIterator* iterator) {
  uint64_t count = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, iterator->Next());
    if (!is_row) return count;
    ++count;
  }
}

// Counts the candidates that need not be read, and removes them, those that memstores make dead and
// those that are ruled out from `*candidates`.
Result<uint64_t> TakeDecided(const ReadContext& context, const Cluster& cluster,
                             const FileSource& source, FileCandidates* candidates) {
  if (!candidates->decided || !source.may_be_single_source) return uint64_t{0};
  std::vector<uint32_t> read;  // Candidates that have to be read.
  std::vector<uint32_t>& ordinals = candidates->ordinals;
  MemstoreVerdicts memstores(context, cluster, source, candidates->index);
  RETURN_IF_ERROR(memstores.Sift(&ordinals, &read));
  uint64_t taken = 0;
  if (AllMayBeSingleSource(source) && OverlapsNoFile(source) && candidates->ruled_out.empty()) {
    taken = ordinals.size();
  } else {
    const auto shared = static_cast<ptrdiff_t>(read.size());
    OverlapProbe elsewhere(cluster, source);
    size_t ruled_out_at = 0;
    for (const uint32_t ordinal : ordinals) {
      bool is_decided = source.MayBeSingleSource(ordinal);
      if (is_decided) {
        ASSIGN_OR_RETURN(const bool may_be_elsewhere, elsewhere.MayHold(ordinal));
        is_decided = !may_be_elsewhere;
      }
      if (!is_decided) {
        read.push_back(ordinal);
      } else if (!FindNext(candidates->ruled_out, ordinal, &ruled_out_at)) {
        ++taken;
      }
    }
    std::inplace_merge(read.begin(), read.begin() + shared, read.end());
  }
  ordinals = std::move(read);
  return taken;
}

// Counts the candidates of a whole file by cumulative counts, if all its rows are single-source and
// no posting of it is dead. nullopt: cumulative counts are not enough.
Result<std::optional<uint64_t>> CountFromLeaves(const Cluster& cluster, const FileSource& source,
                                                const AccessPath& access) {
  if (access.paths.size() != 1 || access.paths[0].repeats_rows || access.is_intersection() ||
      !EntriesAreRows(cluster, source)) {
    return std::optional<uint64_t>();
  }
  return ExactEntries(source, access.paths[0]);
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
  std::vector<FileCandidates> files;
  uint64_t count = 0;
  bool known_match = true;  // Those of memstores.
  for (const FileSource& source : cluster.files) {
    RETURN_IF_ERROR(context->CheckGoOn());
    ASSIGN_OR_RETURN(const std::optional<uint64_t> exact, CountFromLeaves(cluster, source, access));
    FileCandidates& candidates = files.emplace_back();
    if (exact.has_value()) {
      count += *exact;
      continue;
    }
    ASSIGN_OR_RETURN(candidates,
                     IntersectedCandidatesOf(cluster, source, access, context->cancellation));
    // Puts of the other columns decide as well, so a row that a memstore holds is read.
    if (access.is_intersection()) candidates.index = nullptr;
    ASSIGN_OR_RETURN(const uint64_t decided, TakeDecided(*context, cluster, source, &candidates));
    count += decided;
    known_match &= KnowsDeadPostings(source, candidates);
  }
  std::vector<const MemRow*> rows;
  if (!known_match) {
    rows = MemstoreCandidates(cluster, access, context->view.point);
  } else if (!cluster.has_one_file()) {
    count += TakeKnown(cluster, access, context->view, &rows);
  }
  const auto rest = NewCandidateIterator(context, cluster, std::move(files), std::move(rows));
  ASSIGN_OR_RETURN(const uint64_t others, CountRows(rest.get()));
  return count + others;
}

Result<uint64_t> CountCluster(const Query& query, const Cluster& cluster) {
  ReadContext* context = query.context.get();
  RETURN_IF_ERROR(context->CheckGoOn());
  const std::optional<AccessPath>& access = query.plan.access;
  if (access.has_value() && access->exact) return CountAccessPath(context, cluster, *access);
  if (query.plan.rows_decide && cluster.has_one_file() && AllMayBeSingleSource(cluster.files[0])) {
    return uint64_t{cluster.files[0].high - cluster.files[0].low};
  }
  ConcatenatingIterator chain(context, {&cluster, 1}, access.has_value() ? &*access : nullptr);
  uint64_t count = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, chain.Next());
    if (!is_row) return count;
    ++count;
  }
}

}  // namespace

bool EntriesAreRows(const Cluster& cluster, const FileSource& source) {
  return AllMayBeSingleSource(source) && IsWhole(source) && OverlapsNothing(cluster, source);
}

Result<uint64_t> CountMatches(const Query& query) {
  const uint64_t limit = query.limit == 0 ? UINT64_MAX : query.limit;
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
  for (const Cluster& cluster : query.plan.clusters) {
    if (count >= limit) break;
    ASSIGN_OR_RETURN(const uint64_t here, CountCluster(query, cluster));
    count += here;
  }
  return std::min(count, limit);
}

}  // namespace tandem::engine

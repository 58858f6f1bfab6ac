// Rows by key: cluster by cluster. Of a cluster with all the rows to pass over no row is looked at
// but those that have to be decided.
#include "engine/counting/offset.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "engine/counting/all_rows.h"
#include "engine/counting/cluster_ranks.h"
#include "engine/counting/entry_counts.h"
#include "engine/counting/matches.h"
#include "engine/counting/value_ranks.h"
#include "engine/source/intersection.h"

namespace tandem::engine {
namespace {

// To read a row that an index leads to costs about as much as finding this many.
constexpr uint64_t kFoundPerRead = 64;
// To decide on a row costs about as much as reading this many.
constexpr uint64_t kReadPerDecided = 4;

// The rows of the cluster that the access, which is exact, leads to, if they have one value of an
// index whose live entries are counted: no entry is looked at. nullopt: so it is not.
Result<std::optional<ClusterRanks>> RanksOfLookup(ReadContext* context, const Cluster& cluster,
                                                  const AccessPath& access, Skipped* skipped) {
  const std::optional<ClusterRanks> none;
  if (access.paths.size() != 1) return none;
  const IndexPath& path = access.paths[0];
  if (!path.of_single_keys || path.ranges.size() != 1) return none;
  ASSIGN_OR_RETURN(const std::optional<uint64_t> entries, CountableEntries(cluster, access));
  if (!entries.has_value()) return none;
  std::string_view why;
  ASSIGN_OR_RETURN(const std::optional<EntryCounts> counts,
                   EntryCounts::Make(context, cluster, *path.index, *entries, &why));
  if (!counts.has_value()) return none;
  ASSIGN_OR_RETURN(const uint64_t to_decide, counts->CountDecided(path.ranges));
  if (!skipped->PaysToDecide(to_decide, kReadPerDecided)) return none;
  DecidedKeys decided;
  RETURN_IF_ERROR(counts->ForEachDecided(path.ranges, [&](const RowIterator& row, bool is_added) {
    (is_added ? decided.added : decided.subtracted).emplace_back(row.key());
    return Status();
  }));
  Cancel(&decided.added, &decided.subtracted);
  skipped->decided += to_decide;
  ASSIGN_OR_RETURN(ClusterRanks ranks,
                   RanksOfValue(*counts, path.ranges[0].low, std::move(decided)));
  return std::optional(std::move(ranks));
}

// The rows of the cluster that the access, which is exact, leads to.
Result<std::optional<ClusterRanks>> RanksOfAccess(ReadContext* context, const Cluster& cluster,
                                                  const AccessPath& access, Skipped* skipped) {
  ASSIGN_OR_RETURN(std::optional<ClusterRanks> found,
                   RanksOfLookup(context, cluster, access, skipped));
  if (found.has_value()) return found;
  ClusterRanks ranks(cluster);
  std::vector<FileCandidates> files;
  uint64_t to_decide = 0;
  for (const FileSource& source : cluster.files) {
    RETURN_IF_ERROR(context->CheckGoOn());
    FileCandidates& candidates = files.emplace_back();
    ASSIGN_OR_RETURN(candidates,
                     IntersectedCandidatesOf(cluster, source, access, context->cancellation));
    if (access.is_intersection()) candidates.index = nullptr;
    std::vector<uint32_t> matches;
    RETURN_IF_ERROR(TakeMatches(*context, cluster, source, &candidates, &matches).status());
    to_decide += candidates.ordinals.size();
    RETURN_IF_ERROR(ranks.AddFile({.ordinals = format::ValueOrdinals(std::move(matches))}));
  }
  std::vector<const MemRow*> rows = MemstoreCandidates(cluster, access, context->view.point);
  to_decide += rows.size();
  if (!skipped->PaysToDecide(to_decide, kReadPerDecided)) {
    skipped->ReadInsteadOf(to_decide);
    return std::optional<ClusterRanks>();
  }
  if (to_decide > 0) {
    skipped->decided += to_decide;
    ASSIGN_OR_RETURN(std::vector<std::string> keys,
                     Decide(context, cluster, std::move(files), std::move(rows)));
    ranks.AddDecided(std::move(keys));
  }
  return std::optional(std::move(ranks));
}

// Takes the files without rows out of the cluster.
void DropEmptyFiles(Cluster* cluster) {
  for (size_t i = cluster->files.size(); i-- > 0;) {
    if (cluster->files[i].low < cluster->files[i].high) continue;
    cluster->files.erase(cluster->files.begin() + static_cast<ptrdiff_t>(i));
    for (FileSource& source : cluster->files) {
      std::erase_if(source.file_overlaps, [i](const auto& overlap) { return overlap.other == i; });
      for (FileOverlap& overlap : source.file_overlaps) overlap.other -= overlap.other > i ? 1 : 0;
    }
  }
}

// Cuts the cluster to its rows from `key` on or, in reverse, up to it.
Status CutTo(std::string key, bool reverse, Cluster* cluster) {
  if (reverse) key += '\0';  // The first key after it.
  for (FileSource& source : cluster->files) {
    ASSIGN_OR_RETURN(const uint32_t found, source.file->LowerBound(key));
    const uint32_t at = std::clamp(found, source.low, source.high);
    (reverse ? source.high : source.low) = at;
  }
  if (reverse) {
    cluster->rows.high = std::move(key);
  } else {
    cluster->rows.low = std::move(key);
  }
  DropEmptyFiles(cluster);
  return {};
}

// Begins the cluster after that number of its rows.
Status BeginAt(ClusterRanks* ranks, uint64_t offset, bool reverse, Cluster* cluster) {
  const uint64_t number = reverse ? ranks->count() - 1 - offset : offset;
  ASSIGN_OR_RETURN(const std::optional<uint32_t> ordinal, ranks->OrdinalOf(number));
  if (ordinal.has_value()) {
    FileSource& source = cluster->files[0];
    (reverse ? source.high : source.low) = *ordinal + (reverse ? 1 : 0);
    return {};
  }
  ASSIGN_OR_RETURN(std::string key, ranks->KeyOf(number));
  return CutTo(std::move(key), reverse, cluster);
}

}  // namespace

Status SkipByKey(ReadContext* context, const ReadByKey& read, Skipped* skipped) {
  std::vector<Cluster>& clusters = *read.clusters;
  if (read.entries / kFoundPerRead > skipped->left) {
    skipped->why_read = "they are few of the matches";
    return {};
  }
  while (skipped->left > 0 && !clusters.empty()) {
    RETURN_IF_ERROR(context->CheckGoOn());
    Cluster& cluster = read.reverse ? clusters.back() : clusters.front();
    ASSIGN_OR_RETURN(std::optional<ClusterRanks> ranks,
                     read.access == nullptr
                         ? RanksOfRows(context, cluster, skipped)
                         : RanksOfAccess(context, cluster, *read.access, skipped));
    if (!ranks.has_value()) return {};
    const uint64_t count = ranks->count();
    const uint64_t passed = std::min(count, skipped->left);
    if (passed < count) RETURN_IF_ERROR(BeginAt(&*ranks, passed, read.reverse, &cluster));
    skipped->left -= passed;
    skipped->by_counts += passed;
    if (passed == count) {
      clusters.erase(read.reverse ? clusters.end() - 1 : clusters.begin());
    }
  }
  skipped->is_all = clusters.empty();
  return {};
}

}  // namespace tandem::engine

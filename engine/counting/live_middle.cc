// See live_middle.h.
#include "engine/counting/live_middle.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/counting/cluster_ranks.h"
#include "engine/source/counted.h"
#include "engine/source/sources.h"

namespace tandem::engine {
namespace {

// nullopt: some rows of the cluster have to be read to be counted.
Result<std::optional<ClusterRanks>> RanksOf(const Cluster& cluster,
                                            const std::shared_ptr<OverlapMemory>& memory) {
  const std::optional<ClusterRanks> none;
  if (!cluster.memstores.empty() || !MayCount(cluster)) return none;
  ClusterRanks ranks(cluster);
  for (const FileSource& source : cluster.files) {
    // A split is worth a look at all rows that files share.
    ASSIGN_OR_RETURN(std::shared_ptr<const CountedRows> counted,
                     CountedRowsOf(cluster, source, /*worth=*/UINT32_MAX, memory));
    if (counted == nullptr || counted->decided != nullptr) return none;
    ranks.AddFile(std::move(counted), {});
  }
  return std::optional(std::move(ranks));
}

}  // namespace

Result<std::optional<std::string>> FindLiveMiddle(const TableView& view,
                                                  const std::shared_ptr<OverlapMemory>& memory) {
  const std::optional<std::string> none;
  ASSIGN_OR_RETURN(const std::vector<Cluster> clusters, FindClusters(view, format::KeyRange()));
  std::vector<ClusterRanks> ranks;
  uint64_t rows = 0;
  for (const Cluster& cluster : clusters) {
    ASSIGN_OR_RETURN(std::optional<ClusterRanks> found, RanksOf(cluster, memory));
    if (!found.has_value()) return none;
    rows += found->count();
    ranks.push_back(*std::move(found));
  }
  if (rows < 2) return none;
  uint64_t number = (rows + 1) / 2;
  for (ClusterRanks& cluster : ranks) {
    if (number >= cluster.count()) {
      number -= cluster.count();
      continue;
    }
    ASSIGN_OR_RETURN(std::string key, cluster.KeyOf(number));
    return std::optional(std::move(key));
  }
  return none;
}

}  // namespace tandem::engine

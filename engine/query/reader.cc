// The entry points of the read side. Each makes a job and returns a source or a result of it.
#include "engine/query/reader.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/key_ranges.h"
#include "engine/query/count.h"
#include "engine/query/explain.h"
#include "engine/query/query.h"
#include "engine/read/concatenating_iterator.h"

namespace tandem::engine {
namespace {

// A scan that would read more than 1/kCachePartMax of the cache does not fill it.
constexpr uint64_t kCachePartMax = 4;

// What the rows of a scan are read from.
struct PreparedScan {
  std::unique_ptr<ReadJob> job;
  std::vector<Cluster> clusters;
};

format::KeyRange RowsOf(const ScanOptions& scan) {
  format::KeyRange rows{scan.start, std::nullopt};
  if (!scan.end.empty()) rows.high = scan.end;
  return Intersect(rows, {scan.prefix, format::Successor(scan.prefix)});
}

// The bytes of the family's blocks that hold rows of the source; a result above `most` need not be
// exact.
Result<uint64_t> BytesOf(const format::DataSection& data, const FileSource& source, uint64_t most) {
  const uint32_t low = data.RankOf(source.low), end = data.RankOf(source.high);
  if (low == end) return uint64_t{0};
  // The bytes between the two pieces are known without reading more of the block index.
  const format::BlockIndex& index = data.index();
  const uint32_t first = index.PieceOf(low, 0), last = index.PieceOf(end - 1, first);
  if (last > first + 1) {
    const uint64_t between = index.DataBytesBefore(last) - index.DataBytesBefore(first + 1);
    if (between > most) return between;
  }
  ASSIGN_OR_RETURN(const uint32_t first_block, data.BlockOf(low));
  ASSIGN_OR_RETURN(const uint32_t last_block, data.BlockOf(end - 1, first_block));
  return data.BytesOfBlocks(first_block, last_block + 1);
}

// Whether the blocks of a scan of these clusters may fill the cache.
Result<bool> FitsCache(const ReadContext& context, const std::vector<Cluster>& clusters) {
  if (context.cache_bytes == 0) return true;
  const uint64_t most = context.cache_bytes / kCachePartMax;
  uint64_t bytes = 0;
  for (const Cluster& cluster : clusters) {
    for (const FileSource& source : cluster.files) {
      for (const format::DataSection* data : source.families) {
        ASSIGN_OR_RETURN(const uint64_t more, BytesOf(*data, source, most));
        bytes += more;
        if (bytes > most) return false;
      }
    }
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<RowSource>> ScanRows(const ReadContext& context, TableView view,
                                            const ReadOptions& options, const ScanOptions& scan) {
  ASSIGN_OR_RETURN(ReadShape shape, ReadShape::Make(view, options));
  view.point = shape.point;
  shape.needs_cells = true;
  ASSIGN_OR_RETURN(std::vector<Cluster> clusters, FindClusters(view, RowsOf(scan)));
  RETURN_IF_ERROR(LoadFamilies(shape.merged, &clusters));
  auto job = std::make_unique<ReadJob>(context, std::move(view), std::move(shape));
  job->cancellation = base::Cancellation(options.cancelled);
  job->may_end_early = scan.limit > 0;
  ASSIGN_OR_RETURN(job->fills_cache, FitsCache(context, clusters));
  const auto prepared =
      std::make_shared<const PreparedScan>(PreparedScan{std::move(job), std::move(clusters)});
  std::unique_ptr<RowSource> rows =
      std::make_unique<LimitIterator>(ConcatenatingIterator(prepared->job.get(), prepared->clusters,
                                                            /*access=*/nullptr, scan.reverse),
                                      scan.limit);
  rows->Keep(prepared);
  return rows;
}

Result<std::unique_ptr<RowSource>> QueryRows(const ReadContext& context, TableView view,
                                             const ReadOptions& options, const Predicate& predicate,
                                             const QueryOptions& query) {
  ASSIGN_OR_RETURN(Query prepared,
                   PrepareQuery({context, options, predicate, query}, std::move(view)));
  if (!prepared.plan.access.has_value()) {
    ASSIGN_OR_RETURN(prepared.job->fills_cache, FitsCache(context, prepared.plan.clusters));
  }
  const auto kept = std::make_shared<const Query>(std::move(prepared));
  std::unique_ptr<RowSource> rows = OpenQuery(*kept);
  rows->Keep(kept);
  return rows;
}

Result<uint64_t> CountRows(const ReadContext& context, TableView view, const ReadOptions& options,
                           const Predicate& predicate, const QueryOptions& query) {
  ASSIGN_OR_RETURN(
      const Query prepared,
      PrepareQuery({context, options, predicate, query, PlanPurpose::kCount}, std::move(view)));
  return CountMatches(prepared);
}

Result<Explanation> ExplainQuery(const ReadContext& context, TableView view,
                                 const ReadOptions& options, const Predicate& predicate,
                                 const QueryOptions& query) {
  ReadOptions in_pieces = options;  // Rows of any size are explained.
  in_pieces.pieces = true;
  ASSIGN_OR_RETURN(const Query prepared,
                   PrepareQuery({context, in_pieces, predicate, query, PlanPurpose::kExplanation},
                                std::move(view)));
  return ExplainMatches(prepared);
}

}  // namespace tandem::engine

// A part of a scan is a scan of its own over the view of a few regions.
#include "engine/query/scan.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/key_ranges.h"
#include "engine/read/concatenating_iterator.h"

namespace tandem::engine {
namespace {

// A scan that would read more than 1/kCachePartMax of the cache does not fill it.
constexpr uint64_t kCachePartMax = 4;

// More regions in a part save nothing: they are few thousand at most.
constexpr size_t kPartRegionsMax = 64;

// What the rows of a scan are read from.
struct PreparedScan {
  std::unique_ptr<ReadContext> context;
  std::vector<Cluster> clusters;
};

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

class RegionScan final : public RowSource {
 public:
  RegionScan(const ScanRequest& request, PinRegions pin, size_t regions_first)
      : resources_(request.resources),
        options_(request.options),
        scan_(request.scan),
        pin_(std::move(pin)),
        rows_(RowsOf(scan_)),
        regions_(regions_first),
        is_limited_(scan_.limit > 0),
        left_(is_limited_ ? scan_.limit : UINT64_MAX) {
    options_.snapshot = nullptr;  // The pins are at its point.
    scan_.prefix.clear();         // Part of rows_.
  }

  /// Opens the part at the beginning, or at the end, of rows_ and takes its keys out of them.
  Status OpenPart();
  Result<bool> NextBatch(format::RowBatch* batch) override;

 private:
  const ReadResources resources_;
  ReadOptions options_;
  ScanOptions scan_;  // Of the current part.
  const PinRegions pin_;
  format::KeyRange rows_;  // In no part yet.
  bool is_last_ = false;   // Nothing is left in rows_.
  size_t regions_;         // Of the next part.
  const bool is_limited_;
  uint64_t left_;           // Of the limit.
  uint64_t bytes_ = 0;      // That were scanned.
  bool continues_ = false;  // The row that was given last has more pieces.
  std::unique_ptr<RowSource> part_;
};

// After an error nothing has changed: no row is left out if the caller goes on.
Status RegionScan::OpenPart() {
  part_.reset();
  const bool reverse = scan_.reverse;
  ASSIGN_OR_RETURN(TableView view,
                   pin_({.rows = rows_, .regions_max = regions_, .from_end = reverse}));
  scan_.start = rows_.low;
  scan_.end = rows_.high.value_or("");
  scan_.limit = is_limited_ ? left_ : 0;
  const std::string border =
      reverse ? view.regions.front()->start_key : view.regions.back()->end_key;
  ASSIGN_OR_RETURN(part_, ScanView({resources_, options_, scan_}, std::move(view), &bytes_));
  is_last_ = border.empty() || !rows_.Contains(border) || border == rows_.low;
  if (!is_last_ && reverse) rows_.high = border;
  if (!is_last_ && !reverse) rows_.low = border;
  regions_ = std::min(2 * regions_, kPartRegionsMax);
  return {};
}

Result<bool> RegionScan::NextBatch(format::RowBatch* batch) {
  while (true) {
    if (part_ == nullptr) RETURN_IF_ERROR(OpenPart());
    ASSIGN_OR_RETURN(const bool more, part_->NextBatch(batch));
    if (more) break;
    if (is_last_ || left_ == 0) return false;
    part_.reset();
  }
  // A row in pieces counts with its first.
  if (is_limited_ && !continues_) left_ -= batch->size();
  continues_ = batch->continues();
  return true;
}

}  // namespace

format::KeyRange RowsOf(const ScanOptions& scan) {
  format::KeyRange rows{scan.start, std::nullopt};
  if (!scan.end.empty()) rows.high = scan.end;
  return Intersect(rows, {scan.prefix, format::Successor(scan.prefix)});
}

Result<bool> FitsCache(const ReadResources& resources, const std::vector<Cluster>& clusters,
                       uint64_t* bytes) {
  if (resources.cache_bytes == 0) return true;
  const uint64_t most = resources.cache_bytes / kCachePartMax;
  for (const Cluster& cluster : clusters) {
    for (const FileSource& source : cluster.files) {
      for (const format::DataSection* data : source.families) {
        if (*bytes > most) return false;
        ASSIGN_OR_RETURN(const uint64_t more, BytesOf(*data, source, most));
        *bytes += more;
      }
    }
  }
  return *bytes <= most;
}

Result<std::unique_ptr<RowSource>> ScanView(const ScanRequest& request, TableView view,
                                            uint64_t* bytes) {
  const ScanOptions& scan = request.scan;
  ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::Make(view, request.options));
  view.point = schema.point;
  schema.needs_cells = true;
  ASSIGN_OR_RETURN(std::vector<Cluster> clusters, FindClusters(view, RowsOf(scan)));
  RETURN_IF_ERROR(LoadFamilies(schema.merged, &clusters));
  auto context =
      std::make_unique<ReadContext>(request.resources, std::move(view), std::move(schema));
  context->cancellation = base::Cancellation(request.options.cancelled);
  context->may_end_early = scan.limit > 0;
  ASSIGN_OR_RETURN(context->fills_cache, FitsCache(request.resources, clusters, bytes));
  const auto prepared =
      std::make_shared<const PreparedScan>(PreparedScan{std::move(context), std::move(clusters)});
  std::unique_ptr<RowSource> rows = std::make_unique<LimitIterator>(
      ConcatenatingIterator(prepared->context.get(), prepared->clusters,
                            /*access=*/nullptr, scan.reverse),
      scan.limit);
  rows->Keep(prepared);
  return rows;
}

Result<std::unique_ptr<RowSource>> ScanInParts(const ScanRequest& request, PinRegions pin,
                                               size_t regions_first) {
  auto rows = std::make_unique<RegionScan>(request, std::move(pin), regions_first);
  RETURN_IF_ERROR(rows->OpenPart());
  return std::unique_ptr<RowSource>(std::move(rows));
}

}  // namespace tandem::engine

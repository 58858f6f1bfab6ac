// A part of a scan is a scan of its own over the view of a few regions.
#include "engine/query/scan.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/counting/offset.h"
#include "engine/parallel/cached_blocks.h"
#include "engine/parallel/key_parts.h"
#include "engine/parallel/key_read.h"
#include "engine/parallel/parted_rows.h"
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

// How many threads may read the scan, which passes every row on.
uint32_t ThreadsOf(const ScanRequest& request, const PreparedScan& prepared) {
  if (request.options.threads <= 1) return 1;
  const ScanOptions& scan = request.scan;
  const PartSize size = PartSize::Of(request.resources);
  const uint64_t asked =
      scan.limit == 0 ? UINT64_MAX : scan.limit / size.rows + scan.offset / size.rows + 1;
  const uint32_t threads = ThreadsFor(*prepared.context, request.options.threads,
                                      std::min(PartsIn(prepared.clusters, size, kPartsMin), asked));
  return threads > 1 && PaysToPass(prepared.clusters) ? threads : 1;
}

format::KeyRange KeysOf(const std::string& start, const std::string& end) {
  format::KeyRange keys{start, std::nullopt};
  if (!end.empty()) keys.high = end;
  return keys;
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

class RegionScan final : public RowSource {
 public:
  RegionScan(const ScanRequest& request, PinRegions pin, size_t regions_first)
      : resources_(request.resources),
        options_(request.options),
        scan_(request.scan),
        limits_(request.limits),
        pin_(std::move(pin)),
        rows_(RowsOf(scan_)),
        end_(rows_.size()),
        regions_(regions_first),
        is_limited_(scan_.limit > 0),
        left_(is_limited_ ? scan_.limit : UINT64_MAX),
        offset_(scan_.offset) {
    options_.snapshot = nullptr;  // The pins are at its point.
    scan_.ranges.clear();
  }

  /// Opens the part at the beginning, or at the end, of what is left.
  Status OpenPart();
  Result<bool> NextBatch(format::RowBatch* batch) override;

 private:
  std::span<const format::KeyRange> NextRows() const;
  void TakeRows(size_t count, std::string border);

  const ReadResources resources_;
  ReadOptions options_;
  ScanOptions scan_;  // Of the current part; its keys are in rows_.
  const ReadLimits limits_;
  const PinRegions pin_;
  KeyRanges rows_;
  size_t first_ = 0, end_;  // Those of rows_ that are in no part yet.
  size_t regions_;          // Of the next part.
  const bool is_limited_;
  uint64_t left_;           // Of the limit.
  const uint64_t offset_;   // Rows to pass over,
  uint64_t passed_ = 0;     // and those that were.
  uint64_t bytes_ = 0;      // That were scanned.
  bool continues_ = false;  // The row that was given last has more pieces.
  std::unique_ptr<RowSource> part_;
};

std::span<const format::KeyRange> RegionScan::NextRows() const {
  const std::span left = std::span(rows_).subspan(first_, end_ - first_);
  const size_t count = std::min(left.size(), kPartRangesMax);
  return scan_.reverse ? left.last(count) : left.first(count);
}

// Takes what is before the border, in reverse from it on, out of the next `count` ranges. Allocates
// nothing.
void RegionScan::TakeRows(size_t count, std::string border) {
  if (scan_.reverse) {
    for (; count > 0 && rows_[end_ - 1].low >= border; --count) --end_;
    if (count == 0) return;
    std::optional<std::string>& high = rows_[end_ - 1].high;
    if (!high.has_value() || border < *high) high = std::move(border);
    return;
  }
  const auto is_before = [&border](const format::KeyRange& range) {
    return border.empty() || (range.high.has_value() && *range.high <= border);
  };
  for (; count > 0 && is_before(rows_[first_]); --count) ++first_;
  if (count > 0 && rows_[first_].low < border) rows_[first_].low = std::move(border);
}

// After an error nothing has changed: no row is left out if the caller goes on.
Status RegionScan::OpenPart() {
  part_.reset();
  const bool reverse = scan_.reverse;
  const std::span<const format::KeyRange> next = NextRows();
  ASSIGN_OR_RETURN(TableView view,
                   pin_({.rows = next, .regions_max = regions_, .from_end = reverse}));
  scan_.limit = is_limited_ ? left_ : 0;
  scan_.offset = offset_ - passed_;
  std::string border = reverse ? view.regions.front()->start_key : view.regions.back()->end_key;
  // Ranges of regions that are not pinned add nothing.
  ASSIGN_OR_RETURN(
      part_, ScanView({resources_, options_, scan_, limits_}, KeyRanges(next.begin(), next.end()),
                      std::move(view), &bytes_, &passed_));
  TakeRows(next.size(), std::move(border));
  regions_ = std::min(2 * regions_, kPartRegionsMax);
  return {};
}

Result<bool> RegionScan::NextBatch(format::RowBatch* batch) {
  while (true) {
    if (part_ == nullptr) RETURN_IF_ERROR(OpenPart());
    ASSIGN_OR_RETURN(const bool more, part_->NextBatch(batch));
    if (more) break;
    if (first_ == end_ || left_ == 0) return false;
    part_.reset();
  }
  // A row in pieces counts with its first.
  if (is_limited_ && !continues_) left_ -= batch->size();
  continues_ = batch->continues();
  return true;
}

}  // namespace

KeyRanges RowsOf(const ScanOptions& scan) {
  const format::KeyRange rows =
      Intersect(KeysOf(scan.start, scan.end), {scan.prefix, format::Successor(scan.prefix)});
  if (scan.ranges.empty()) return Unite({rows});
  KeyRanges ranges;
  ranges.reserve(scan.ranges.size());
  for (const RowRange& range : scan.ranges) ranges.push_back(KeysOf(range.start, range.end));
  return Intersect(Unite(std::move(ranges)), {rows});
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

// Of a cluster it certainly looks at the rows of its largest file. A family counts if every row has
// it and if rows that are in one source alone need it: the others are read for some rows only.
Status CheckScanCost(const ReadContext& context, const std::vector<Cluster>& clusters) {
  if (context.meter == nullptr) return {};
  uint64_t rows = 0, blocks = 0, bytes = 0;
  for (const Cluster& cluster : clusters) {
    RETURN_IF_ERROR(context.cancellation.Check());
    uint64_t of_largest = 0;
    for (const FileSource& source : cluster.files) {
      for (const format::DataSection* data : source.families) {
        if (!data->is_full() || context.schema.single_source.Find(data->family()) == nullptr) {
          continue;
        }
        of_largest = std::max<uint64_t>(of_largest, source.high - source.low);
        ASSIGN_OR_RETURN(const uint32_t first, data->BlockOf(source.low));
        ASSIGN_OR_RETURN(const uint32_t last, data->BlockOf(source.high - 1, first));
        blocks += last - first + 1;
        ASSIGN_OR_RETURN(const uint64_t more, data->BytesOfBlocks(first, last + 1));
        bytes += more;
      }
    }
    rows += of_largest;
  }
  return context.meter->CheckPlan(rows, blocks, bytes);
}

Result<std::unique_ptr<RowSource>> ScanView(const ScanRequest& request, const KeyRanges& rows,
                                            TableView view, uint64_t* bytes, uint64_t* passed) {
  const ScanOptions& scan = request.scan;
  ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::Make(view, request.options));
  view.point = schema.point;
  schema.needs_cells = true;
  ASSIGN_OR_RETURN(std::vector<Cluster> clusters, FindClusters(view, rows));
  RETURN_IF_ERROR(LoadFamilies(schema.merged, &clusters));
  auto context =
      std::make_unique<ReadContext>(request.resources, std::move(view), std::move(schema));
  context->Limit(request.limits);
  context->may_end_early = scan.limit > 0;
  Skipped skipped{.left = scan.offset};
  // Of single columns a row may have none, and is left out.
  if (skipped.left > 0 && context->schema.returns_all) {
    RETURN_IF_ERROR(
        SkipByKey(context.get(), {.reverse = scan.reverse, .clusters = &clusters}, &skipped));
    if (passed != nullptr) *passed += skipped.by_counts;
  }
  context->rows_asked = RowsAsked(scan.limit, skipped.left);
  ASSIGN_OR_RETURN(context->fills_cache, FitsCache(request.resources, clusters, bytes));
  if (request.is_whole && scan.limit == 0) RETURN_IF_ERROR(CheckScanCost(*context, clusters));
  const auto prepared =
      std::make_shared<const PreparedScan>(PreparedScan{std::move(context), std::move(clusters)});
  const uint32_t threads = skipped.by_counts > 0 ? 1 : ThreadsOf(request, *prepared);
  std::unique_ptr<RowSource> source;
  if (threads > 1) {
    source = NewPartedRows({.read = NewKeyRead(prepared->clusters, scan.reverse, request.resources),
                            .context = prepared->context.get(),
                            .threads = threads},
                           scan.limit, skipped.left, passed);
    source->Keep(prepared);
    return source;
  }
  source = std::make_unique<LimitIterator>(
      ConcatenatingIterator(prepared->context.get(), prepared->clusters,
                            /*access=*/nullptr, scan.reverse),
      scan.limit, skipped.left, passed);
  source->Keep(prepared);
  return source;
}

Result<std::unique_ptr<RowSource>> ScanInParts(const ScanRequest& request, PinRegions pin,
                                               size_t regions_first) {
  auto scan = std::make_unique<RegionScan>(request, std::move(pin), regions_first);
  RETURN_IF_ERROR(scan->OpenPart());
  return std::unique_ptr<RowSource>(std::move(scan));
}

}  // namespace tandem::engine

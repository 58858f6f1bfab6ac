// Choosing the iterator of each cluster, and how many hits are found at once:
//
// 1. Of a file that nothing overlaps, the hits among some rows after the other (part_).
// 2. Of several sources, the hits of a window of keys after the other, if they are many. Memstores
//    are asked again for each window, so a window has as many rows as may be held.
// 3. Index records of rows that are not read (covered_rows.h) come all at once, if they are few
//    enough. If not, the rows are read.
#include "engine/read/concatenating_iterator.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/source/intersection.h"

namespace tandem::engine {
namespace {

constexpr uint32_t kPartGrowth = 4;
constexpr uint64_t kFirstHitsLeast = 64;
// The entries of more ranges are not counted exactly: each takes a look into leaves.
constexpr size_t kRangesCountedMax = 16;

// How many hits a read holds.
uint64_t HitsHeld(const ReadContext& context) {
  return std::max<uint64_t>(context.resources.hit_bytes / sizeof(uint32_t),
                            context.resources.hit_rows_first);
}

Result<uint64_t> EntriesOf(const FileSource& source, const AccessPath& access,
                           Precision precision) {
  uint64_t entries = 0;
  for (const IndexPath& path : access.paths) {
    ASSIGN_OR_RETURN(const uint64_t of_path, CountEntries(source, path, precision));
    entries += of_path;
  }
  return entries;
}

// Of how many rows of a file as many hits are held, if these lie anywhere among `rows`.
uint32_t RowsWithHits(const ReadContext& context, uint64_t rows, uint64_t hits) {
  const uint64_t held = HitsHeld(context);
  if (hits <= held) return static_cast<uint32_t>(rows);
  return static_cast<uint32_t>(
      std::max<uint64_t>(rows * held / hits, context.resources.hit_rows_first));
}

size_t CountRanges(const AccessPath& access) {
  size_t ranges = 0;
  for (const IndexPath& path : access.paths) ranges += path.ranges.size();
  return ranges;
}

// How many hits a read that may end early finds first: a few more than rows that are asked for, of
// which some may be dead.
uint64_t FirstHits(const ReadContext& context) {
  const uint64_t most = context.resources.hit_rows_first;
  if (context.rows_asked > most / 2) return most;
  return std::min(most, std::max(kFirstHitsLeast, 2 * context.rows_asked));
}

// Whether the read may hold so many rows that it found in indexes.
Status CheckFound(const ReadContext& context, uint64_t rows) {
  if (context.meter == nullptr) return {};
  return context.meter->CheckMemory(rows * sizeof(uint32_t));
}

Result<uint64_t> EntriesOf(const Cluster& cluster, const AccessPath& access, Precision precision) {
  uint64_t entries = 0;
  for (const FileSource& source : cluster.files) {
    ASSIGN_OR_RETURN(const uint64_t of_file, EntriesOf(source, access, precision));
    entries += of_file;
  }
  return entries;
}

// The candidates that the access leads to. `is_covered`: they come from the index's records.
Result<std::unique_ptr<RowIterator>> OpenCandidates(ReadContext* context, const Cluster& cluster,
                                                    const AccessPath& access, bool is_covered) {
  std::vector<FileCandidates> files;
  std::unique_ptr<CoveredRows> covered;
  if (is_covered) covered = std::make_unique<CoveredRows>(context, cluster, access);
  uint64_t found = 0;
  for (const FileSource& source : cluster.files) {
    RETURN_IF_ERROR(context->CheckGoOn());
    FileCandidates& candidates = files.emplace_back();
    if (covered != nullptr) {
      ASSIGN_OR_RETURN(const bool has_taken, covered->TakeAlone(source, &candidates));
      if (has_taken) continue;
    }
    ASSIGN_OR_RETURN(candidates,
                     IntersectedCandidatesOf(cluster, source, access, context->cancellation));
    found += candidates.ordinals.size();
    RETURN_IF_ERROR(CheckFound(*context, found));
    if (covered != nullptr) RETURN_IF_ERROR(covered->Take(source, &candidates));
  }
  return NewCandidateIterator(
      context, cluster, std::move(files), HitsOfMemstores(cluster, access, context->view),
      covered == nullptr || covered->empty() ? nullptr : std::move(covered));
}

}  // namespace

// Entries are not counted where the file has few rows.
Result<uint32_t> RowsOfHeldHits(const ReadContext& context, const FileSource& source,
                                const AccessPath& access) {
  const uint32_t rows = source.high - source.low;
  if (rows <= HitsHeld(context)) return rows;
  ASSIGN_OR_RETURN(const uint64_t entries, EntriesOf(source, access, Precision::kAtMost));
  return RowsWithHits(context, rows, entries);
}

Result<bool> ConcatenatingIterator::Next() {
  while (true) {
    if (iterator_ != nullptr) {
      ASSIGN_OR_RETURN(const bool is_row, iterator_->Next());
      if (is_row) return true;
    }
    ASSIGN_OR_RETURN(const bool more, OpenNext());
    if (!more) return false;
  }
}

Result<bool> ConcatenatingIterator::PassOver() {
  ASSIGN_OR_RETURN(const bool is_row, Next());
  context_->counters.passed_over += is_row ? 1 : 0;
  return is_row;
}

Status ConcatenatingIterator::Begin() {
  ASSIGN_OR_RETURN(const bool more, OpenNext());
  return more ? iterator_->Begin() : Status();
}

Result<bool> ConcatenatingIterator::NextBatch(size_t rows_max, format::RowBatch* batch) {
  while (true) {
    if (iterator_ != nullptr) {
      ASSIGN_OR_RETURN(const bool is_row, iterator_->NextBatch(rows_max, batch));
      if (is_row) return true;
    }
    ASSIGN_OR_RETURN(const bool more, OpenNext());
    if (!more) return false;
  }
}

// Opens the iterator after the current one; false when there is none.
Result<bool> ConcatenatingIterator::OpenNext() {
  iterator_.reset();
  RETURN_IF_ERROR(context_->CheckGoOn());
  if (part_ != nullptr && part_->high < parts_end_) {
    ASSIGN_OR_RETURN(iterator_, OpenNextPart());
    return true;
  }
  ASSIGN_OR_RETURN(cluster_, NextCluster());
  if (cluster_ == nullptr) return false;
  ASSIGN_OR_RETURN(iterator_, Open());
  return true;
}

// nullptr: there is none.
Result<const Cluster*> ConcatenatingIterator::NextCluster() {
  while (true) {
    if (next_of_window_ < window_.size()) return &window_[next_of_window_++];
    if (windows_.has_value()) {
      next_of_window_ = 0;
      ASSIGN_OR_RETURN(const bool has_window, windows_->Next(&window_));
      if (!has_window) windows_.reset();
      continue;
    }
    if (next_ == clusters_.size()) return nullptr;
    const size_t at = reverse_ ? clusters_.size() - 1 - next_ : next_;
    ++next_;
    is_covered_ = access_ != nullptr && access_->covered;
    if (is_covered_) {
      ASSIGN_OR_RETURN(const uint64_t hits, EntriesOf(clusters_[at], *access_, Precision::kAtMost));
      is_covered_ = MayHoldRecords(*context_, hits);
    }
    ASSIGN_OR_RETURN(const bool is_read_by_windows, BeginWindows(clusters_[at]));
    if (!is_read_by_windows) return &clusters_[at];
  }
}

// False: the hits of the cluster are few, or cannot be found apart.
Result<bool> ConcatenatingIterator::BeginWindows(const Cluster& cluster) {
  if (access_ == nullptr || is_covered_ || cluster.has_one_file()) return false;
  uint64_t rows = 0, rows_most = 0;
  for (const FileSource& source : cluster.files) {
    rows += source.high - source.low;
    rows_most = std::max<uint64_t>(rows_most, source.high - source.low);
  }
  const bool may_end_early = context_->may_end_early;
  const uint64_t hits_at_once = may_end_early ? FirstHits(*context_) : HitsHeld(*context_);
  if (rows <= hits_at_once) return false;
  ASSIGN_OR_RETURN(uint64_t hits, EntriesOf(cluster, *access_, Precision::kAtMost));
  if (hits <= hits_at_once) return false;
  if (may_end_early && CountRanges(*access_) <= kRangesCountedMax) {
    // Windows that are too small cost more than none.
    ASSIGN_OR_RETURN(hits, EntriesOf(cluster, *access_, Precision::kExact));
    if (hits <= hits_at_once) return false;
  }
  const uint32_t most = RowsWithHits(*context_, rows_most, hits);
  // That have as many hits if these lie anywhere.
  const uint64_t first = may_end_early ? rows_most * hits_at_once / hits : most;
  windows_.emplace(RowWindows::OfCluster(
      context_->view, context_->schema.merged, cluster,
      {.first = static_cast<uint32_t>(std::clamp<uint64_t>(first, 1, most)), .most = most}));
  return true;
}

Result<std::unique_ptr<RowIterator>> ConcatenatingIterator::Open() {
  part_.reset();
  const Cluster& cluster = *cluster_;
  if (access_ != nullptr && cluster.has_one_file() && !is_covered_) {
    const FileSource& source = cluster.files[0];
    ASSIGN_OR_RETURN(part_rows_max_, RowsOfHeldHits(*context_, source, *access_));
    if (context_->may_end_early || part_rows_max_ < source.high - source.low) {
      part_ = std::make_unique<FileSource>(source);
      parts_end_ = std::exchange(part_->high, part_->low);
      part_rows_ = context_->may_end_early ? context_->resources.hit_rows_first : part_rows_max_;
      return OpenNextPart();
    }
  }
  if (access_ != nullptr) return OpenCandidates(context_, cluster, *access_, is_covered_);
  if (cluster.has_one_file() && !reverse_) {
    return NewFileIterator(context_, cluster.files[0], std::nullopt);
  }
  return NewMergingIterator(context_, cluster, reverse_);
}

Result<std::unique_ptr<RowIterator>> ConcatenatingIterator::OpenNextPart() {
  part_->low = part_->high;
  const uint32_t left = parts_end_ - part_->low;
  if (first_rows_ > 0) {
    const auto rows = static_cast<uint32_t>(std::min<uint64_t>(first_rows_, left));
    part_->high = part_->low + rows;
    first_rows_ -= rows;
    if (access_->first == nullptr) return NewFileIterator(context_, *part_, std::nullopt);
    ASSIGN_OR_RETURN(FileCandidates first, CandidatesOf(*part_, *access_->first));
    return NewFileIterator(context_, *part_, std::move(first));
  }
  part_->high = part_->low + std::min(part_rows_, left);
  part_rows_ =
      part_rows_ > part_rows_max_ / kPartGrowth ? part_rows_max_ : part_rows_ * kPartGrowth;
  ASSIGN_OR_RETURN(FileCandidates candidates,
                   IntersectedCandidatesOf(*cluster_, *part_, *access_, context_->cancellation));
  RETURN_IF_ERROR(CheckFound(*context_, candidates.ordinals.size()));
  return NewFileIterator(context_, *part_, std::move(candidates));
}

// Passes over the rows of the offset; false: there are no more rows.
Result<bool> LimitIterator::Skip() {
  for (; offset_ > 0; --offset_) {
    ASSIGN_OR_RETURN(const bool is_row, chain_.PassOver());
    if (!is_row) return false;
    if (skipped_ != nullptr) ++*skipped_;
  }
  return true;
}

Result<bool> LimitIterator::NextBatch(format::RowBatch* batch) {
  if (continues_) {
    ASSIGN_OR_RETURN(const RowView piece, chain_.NextPiece());
    batch->Clear();
    batch->Add(piece);
  } else {
    batch->Clear();
    if (left_ == 0) return false;
    if (offset_ > 0) {
      ASSIGN_OR_RETURN(const bool may_have_row, Skip());
      if (!may_have_row) return false;
    }
    ASSIGN_OR_RETURN(const bool is_row, chain_.NextBatch(std::min<uint64_t>(rows_, left_), batch));
    if (!is_row) return false;
    left_ -= batch->size();
    rows_ = std::min(2 * rows_, format::RowBatch::kRowsMax);
  }
  continues_ = batch->continues();
  return true;
}

}  // namespace tandem::engine

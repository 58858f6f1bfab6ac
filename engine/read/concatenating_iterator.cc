// Choosing the iterator of each cluster.
#include "engine/read/concatenating_iterator.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/source/intersection.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

constexpr uint32_t kPartGrowth = 4;
// Of the memory of all reads, what one may hold hits in.
constexpr uint64_t kHitsPart = 4;

// Whether the read may hold so many rows that it found in indexes.
Status CheckFound(const ReadContext& context, uint64_t rows) {
  if (context.meter == nullptr) return {};
  return context.meter->CheckMemory(rows * sizeof(uint32_t));
}

}  // namespace

// Entries are not counted where the file has few rows.
Result<uint32_t> RowsOfHeldHits(const ReadContext& context, const FileSource& source,
                                const AccessPath& access) {
  const uint64_t rows = source.high - source.low;
  const uint64_t held = std::max<uint64_t>(
      context.resources.read_buffer_bytes / kHitsPart / sizeof(uint32_t), kFirstPartRows);
  uint64_t entries = 0;
  for (const IndexPath& path : access.paths) {
    if (rows <= held) break;
    ASSIGN_OR_RETURN(const uint64_t of_path, CountEntries(source, path, Precision::kAtMost));
    entries += of_path;
  }
  if (entries <= held) return static_cast<uint32_t>(rows);
  return static_cast<uint32_t>(std::max<uint64_t>(rows * held / entries, kFirstPartRows));
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
  if (next_ == clusters_.size()) return false;
  const size_t at = reverse_ ? clusters_.size() - 1 - next_ : next_;
  ++next_;
  ASSIGN_OR_RETURN(iterator_, Open(clusters_[at]));
  return true;
}

Result<std::unique_ptr<RowIterator>> ConcatenatingIterator::Open(const Cluster& cluster) {
  part_.reset();
  const bool is_covered = access_ != nullptr && access_->covered;
  if (access_ != nullptr && cluster.has_one_file() && !is_covered) {
    const FileSource& source = cluster.files[0];
    ASSIGN_OR_RETURN(part_rows_max_, RowsOfHeldHits(*context_, source, *access_));
    if (context_->may_end_early || part_rows_max_ < source.high - source.low) {
      part_ = std::make_unique<FileSource>(source);
      parts_end_ = std::exchange(part_->high, part_->low);
      part_rows_ = context_->may_end_early ? kFirstPartRows : part_rows_max_;
      return OpenNextPart();
    }
  }
  if (access_ != nullptr) return OpenAccessPath(context_, cluster, *access_);
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
  part_rows_ = std::min(part_rows_, kRowsPerFileMax / kPartGrowth) * kPartGrowth;
  part_rows_ = std::min(part_rows_, part_rows_max_);
  const Cluster& cluster = clusters_[next_ - 1];  // An access is not read in reverse.
  ASSIGN_OR_RETURN(FileCandidates candidates,
                   IntersectedCandidatesOf(cluster, *part_, *access_, context_->cancellation));
  RETURN_IF_ERROR(CheckFound(*context_, candidates.ordinals.size()));
  return NewFileIterator(context_, *part_, std::move(candidates));
}

Result<std::unique_ptr<RowIterator>> OpenAccessPath(ReadContext* context, const Cluster& cluster,
                                                    const AccessPath& access) {
  std::vector<FileCandidates> files;
  std::unique_ptr<CoveredRows> covered;
  if (access.covered) covered = std::make_unique<CoveredRows>(context, cluster, access);
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
      context, cluster, std::move(files), MemstoreCandidates(cluster, access, context->view.point),
      covered == nullptr || covered->empty() ? nullptr : std::move(covered));
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

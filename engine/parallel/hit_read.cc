// Where hits are very many, they are found for some rows after the other. A part ends with the last
// hit in a block, so that no block is in two of them.
#include "engine/parallel/hit_read.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/read/concatenating_iterator.h"
#include "engine/source/intersection.h"

namespace tandem::engine {
namespace {

// Whether the hits of the cluster are found before its rows are read. Records of an index are read
// with the hits.
bool HasHitsApart(const Cluster& cluster, const AccessPath& access) {
  return cluster.has_one_file() && !access.covered;
}

class HitPart : public ReadPart {
 public:
  Result<std::unique_ptr<RowSource>> Open(ReadContext* context) override {
    ASSIGN_OR_RETURN(ConcatenatingIterator rows, Iterate(context));
    return std::unique_ptr<RowSource>(std::make_unique<LimitIterator>(std::move(rows), 0));
  }
  Result<uint64_t> Count(ReadContext* context) override {
    ASSIGN_OR_RETURN(ConcatenatingIterator rows, Iterate(context));
    uint64_t count = 0;
    while (true) {
      ASSIGN_OR_RETURN(const bool is_row, rows.Next());
      if (!is_row) return count;
      ++count;
    }
  }

 private:
  virtual Result<ConcatenatingIterator> Iterate(ReadContext* context) = 0;
};

// All hits of a cluster.
class ClusterPart final : public HitPart {
 public:
  ClusterPart(const Cluster& cluster, const AccessPath& access)
      : cluster_(cluster), access_(access) {}

 private:
  Result<ConcatenatingIterator> Iterate(ReadContext* context) override {
    return ConcatenatingIterator(context, {&cluster_, 1}, &access_);
  }

  const Cluster& cluster_;
  const AccessPath& access_;
};

// Some hits of a file.
class FilePart final : public HitPart {
 public:
  FilePart(const FileSource& source, FileCandidates hits)
      : source_(source), hits_(std::move(hits)) {}

 private:
  Result<ConcatenatingIterator> Iterate(ReadContext* context) override {
    return ConcatenatingIterator(context, NewFileIterator(context, source_, std::move(hits_)));
  }

  const FileSource& source_;
  FileCandidates hits_;
};

class HitRead final : public PartedRead {
 public:
  HitRead(const ReadContext& context, std::span<const Cluster> clusters, const AccessPath& access)
      : context_(context),
        size_(PartSize::Of(context.resources)),
        left_(clusters),
        access_(access) {}

  Result<std::unique_ptr<ReadPart>> Cut() override {
    while (at_ == hits_.ordinals.size()) {
      if (slice_ != nullptr && slice_->high < source_->high) {
        RETURN_IF_ERROR(FindHits());
        continue;
      }
      if (left_.empty()) return std::unique_ptr<ReadPart>();
      cluster_ = &left_.front();
      left_ = left_.subspan(1);
      slice_ = nullptr;
      if (!HasHitsApart(*cluster_, access_)) {
        return std::unique_ptr<ReadPart>(std::make_unique<ClusterPart>(*cluster_, access_));
      }
      source_ = &cluster_->files[0];
      ASSIGN_OR_RETURN(slice_rows_, RowsOfHeldHits(context_, *source_, access_));
      slice_ = std::make_unique<FileSource>(*source_);
      slice_->high = slice_->low;
    }
    ASSIGN_OR_RETURN(const size_t end, EndOfPart());
    const auto first = hits_.ordinals.begin();
    FileCandidates part{.ordinals = {first + static_cast<ptrdiff_t>(std::exchange(at_, end)),
                                     first + static_cast<ptrdiff_t>(end)},
                        .decided = hits_.decided,
                        .index = hits_.index};
    return std::unique_ptr<ReadPart>(std::make_unique<FilePart>(*source_, std::move(part)));
  }

 private:
  // Those of the next rows of the file.
  Status FindHits() {
    slice_->low = slice_->high;
    slice_->high += std::min(slice_rows_, source_->high - slice_->low);
    at_ = 0;
    hits_ = {};
    ASSIGN_OR_RETURN(hits_,
                     IntersectedCandidatesOf(*cluster_, *slice_, access_, context_.cancellation));
    return {};
  }

  Result<size_t> EndOfPart() const {
    const std::vector<uint32_t>& ordinals = hits_.ordinals;
    size_t end = at_ + std::min<size_t>(RowsOfPart(size_, *source_), ordinals.size() - at_);
    if (end == ordinals.size()) return end;
    const format::DataSection& carrier = *source_->carrier;
    ASSIGN_OR_RETURN(const uint32_t block, carrier.BlockOf(ordinals[end - 1]));
    ASSIGN_OR_RETURN(const format::DataBlock last, carrier.BlockAt(block));
    while (end < ordinals.size() && ordinals[end] < last.first + last.count) ++end;
    return end;
  }

  const ReadContext& context_;
  const PartSize size_;
  std::span<const Cluster> left_;  // No row of these is in a part.
  const AccessPath& access_;
  const Cluster* cluster_ = nullptr;
  const FileSource* source_ = nullptr;  // Its file,
  std::unique_ptr<FileSource> slice_;   // and the rows whose hits were found; null: none were.
  uint32_t slice_rows_ = 0;
  FileCandidates hits_;
  size_t at_ = 0;  // The first of them that is in no part.
};

}  // namespace

uint64_t PartsOfHits(std::span<const Cluster> clusters, const AccessPath& access, uint64_t hits,
                     const PartSize& size) {
  const bool have_hits_apart = std::ranges::all_of(
      clusters, [&](const Cluster& cluster) { return HasHitsApart(cluster, access); });
  if (!have_hits_apart) return clusters.size();
  uint64_t rows = size.rows;
  for (const Cluster& cluster : clusters) rows = std::min(rows, RowsOfPart(size, cluster.files[0]));
  return hits / rows;
}

std::unique_ptr<PartedRead> NewHitRead(const ReadContext& context,
                                       std::span<const Cluster> clusters,
                                       const AccessPath& access) {
  return std::make_unique<HitRead>(context, clusters, access);
}

}  // namespace tandem::engine

// The rows of a cluster of one file: nothing is merged and no key is compared. A settled row is
// returned as it stands in its block.
#include <utility>

#include "base/status_macros.h"
#include "engine/block_walk.h"
#include "engine/row_producer.h"

namespace tandem::engine {
namespace {

class FileProducer final : public RowProducer {
 public:
  FileProducer(ReadJob* job, const FileSource& source, std::optional<FileCandidates> candidates)
      : RowProducer(job),
        source_(source),
        columns_(job->shape, source),
        walk_(source, &job->queue, {.admit = job->fills_cache, .cautious = job->may_end_early}) {
    if (candidates.has_value()) {
      candidates_ = *std::move(candidates);
      walk_.Start(candidates_.ordinals);
    } else {
      walk_.StartRange(source.low, source.high);
    }
  }

  Result<bool> Next() override {
    while (true) {
      if (at_ == count_) {
        ASSIGN_OR_RETURN(const bool more, NextBlock());
        if (!more) return false;
      }
      const uint32_t ordinal = block_.ordinals.empty() ? block_.low + at_ : block_.ordinals[at_];
      ++at_;
      ASSIGN_OR_RETURN(const bool is_row, Read(ordinal));
      if (is_row) return true;
    }
  }

 private:
  Result<bool> NextBlock() {
    ASSIGN_OR_RETURN(const bool more, walk_.Next(&block_));
    if (!more) return false;
    CountBlock(source_, block_.block);
    at_ = 0;
    count_ = block_.ordinals.empty() ? block_.high - block_.low
                                     : static_cast<uint32_t>(block_.ordinals.size());
    job_->figures.rows += count_;
    return true;
  }

  Result<bool> Read(uint32_t ordinal) {
    const uint32_t slot = ordinal - block_.rows->first();
    const bool settled = source_.IsSettledHere(ordinal);
    row_.Begin();
    RETURN_IF_ERROR(
        block_.rows->Cells(slot, settled ? columns_.settled : columns_.merged, row_.gathered()));
    RETURN_IF_ERROR(block_.rows->Key(slot, &key_));
    return Accept(settled, candidates_.decided);
  }

  const FileSource& source_;
  FileColumns columns_;
  FileCandidates candidates_;
  BlockWalk walk_;
  WalkedBlock block_;
  uint32_t at_ = 0, count_ = 0;  // Of the needed rows of block_.
};

}  // namespace

std::unique_ptr<RowProducer> NewFileProducer(ReadJob* job, const FileSource& source,
                                             std::optional<FileCandidates> candidates) {
  return std::make_unique<FileProducer>(job, source, std::move(candidates));
}

}  // namespace tandem::engine

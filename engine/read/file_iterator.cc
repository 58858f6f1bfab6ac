// The rows of a cluster of one file: nothing is merged and no key is compared. A settled row is
// returned as it is in its blocks; plain ones are decoded many at a time.
#include <utility>

#include "base/status_macros.h"
#include "engine/read/row_iterator.h"
#include "engine/read/row_walk.h"

namespace tandem::engine {
namespace {

// Whether the settled, plain rows of a file are returned as they are decoded. `decided`: they are
// known to match.
bool IsPlain(const ReadJob& job, bool decided) {
  return (decided || !job.predicate.has_value()) && job.shape.ReturnsAllDecoded(decided);
}

class FileIterator final : public RowIterator {
 public:
  FileIterator(ReadJob* job, const FileSource& source, std::optional<FileCandidates> candidates)
      : RowIterator(job),
        source_(source),
        candidates_(std::move(candidates).value_or(FileCandidates())),
        walk_(job, source, candidates_.decided),
        is_plain_(IsPlain(*job, candidates_.decided)) {
    locations_.files.push_back({source.file, 0});
    if (candidates.has_value()) {
      walk_.Start(candidates_.ordinals);
    } else {
      walk_.StartAll();
    }
  }

  Result<bool> Next() override {
    while (true) {
      ASSIGN_OR_RETURN(const bool more, Move());
      if (!more) return false;
      ASSIGN_OR_RETURN(const bool is_row, Read());
      if (is_row) return true;
    }
  }

  Result<bool> NextBatch(size_t rows_max, format::RowBatch* batch) override {
    RETURN_IF_ERROR(failure_);
    RETURN_IF_ERROR(job_->cancellation.Check());
    while (is_plain_ && batch->size() < rows_max && !batch->is_full()) {
      const Result<bool> more = Move();
      if (!more.has_value() && batch->size() > 0) {
        failure_ = more.error();  // After the rows that were read.
        return true;
      }
      RETURN_IF_ERROR(more.status());
      if (!*more) return batch->size() > 0;
      if (source_.IsSettledHere(walk_.ordinal()) && walk_.AddPlain(batch)) continue;
      is_pending_ = true;
      break;
    }
    if (batch->size() > 0) return true;
    return RowIterator::NextBatch(rows_max, batch);
  }

 private:
  // Moves to the next row, or to the one that is pending.
  Result<bool> Move() {
    if (std::exchange(is_pending_, false)) return true;
    return walk_.Next();
  }

  Result<bool> Read() {
    const bool settled = source_.IsSettledHere(walk_.ordinal());
    row_.Begin();
    RETURN_IF_ERROR(walk_.Append(settled, &row_));
    RETURN_IF_ERROR(walk_.Key(&key_));
    locations_.files[0].ordinal = walk_.ordinal();
    job_->counters.unsettled += !settled;
    return Accept(settled, candidates_.decided);
  }

  const FileSource& source_;
  FileCandidates candidates_;
  RowWalk walk_;
  const bool is_plain_;      // A plain row is returned as it is decoded.
  bool is_pending_ = false;  // The walk is at a row that was not read.
  Status failure_;           // Of the walk.
};

}  // namespace

std::unique_ptr<RowIterator> NewFileIterator(ReadJob* job, const FileSource& source,
                                             std::optional<FileCandidates> candidates) {
  return std::make_unique<FileIterator>(job, source, std::move(candidates));
}

}  // namespace tandem::engine

// The rows of a cluster of one file: nothing is merged and no key is compared. A single-source row
// is returned as it is in its blocks; plain ones are decoded many at a time.
#include <utility>

#include "base/status_macros.h"
#include "engine/read/row_iterator.h"
#include "engine/read/row_walk.h"

namespace tandem::engine {
namespace {

class FileIterator final : public RowIterator {
 public:
  FileIterator(ReadContext* context, const FileSource& source,
               std::optional<FileCandidates> candidates)
      : RowIterator(context),
        source_(source),
        candidates_(std::move(candidates).value_or(FileCandidates())),
        walk_(context, source, candidates_.decided),
        returns_plain_(ReturnsPlain(*context, candidates_.decided)) {
    locations_.files.push_back({source.file, 0});
    if (candidates.has_value()) {
      walk_.Start(candidates_.ordinals);
    } else {
      walk_.StartAll();
    }
  }

  Status Begin() override { return walk_.Begin(); }

 private:
  Result<bool> Find() override {
    if (!found_) {
      ASSIGN_OR_RETURN(found_, walk_.Next());
    }
    return found_;
  }

  bool Take(format::RowBatch* batch) override {
    const bool taken =
        returns_plain_ && source_.MayBeSingleSource(walk_.ordinal()) && walk_.AddPlain(batch);
    found_ = !taken;
    return taken;
  }

  Result<bool> Read() override {
    found_ = false;
    const bool single_source = source_.MayBeSingleSource(walk_.ordinal());
    row_.Begin();
    RETURN_IF_ERROR(walk_.Append(single_source, &row_));
    RETURN_IF_ERROR(walk_.Key(&key_));
    locations_.files[0].ordinal = walk_.ordinal();
    context_->counters.merged += !single_source;
    return Accept(single_source, candidates_.decided);
  }

  const FileSource& source_;
  FileCandidates candidates_;
  RowWalk walk_;
  const bool returns_plain_;
  bool found_ = false;  // The walk is at a row that was neither taken nor read.
};

}  // namespace

std::unique_ptr<RowIterator> NewFileIterator(ReadContext* context, const FileSource& source,
                                             std::optional<FileCandidates> candidates) {
  return std::make_unique<FileIterator>(context, source, std::move(candidates));
}

}  // namespace tandem::engine

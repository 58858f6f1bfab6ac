// The rows of a cluster of one file: nothing is merged and no key is compared. A single-source row
// is returned as it is in its blocks; plain ones are decoded many at a time. Of one that is not
// known to match, the columns that decide are decoded first.
#include <cstdint>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "engine/read/row_iterator.h"
#include "engine/read/row_walk.h"
#include "engine/read/single_source_filter.h"

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
        filters_(Filters(*context, candidates_.decided)),
        returns_plain_(ReturnsPlain(*context, candidates_.decided || filters_)) {
    if (filters_) filter_.emplace(context, &walk_);
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
    while (!found_) {
      ASSIGN_OR_RETURN(found_, walk_.Next());
      if (!found_) break;
      if (!filters_) continue;
      ASSIGN_OR_RETURN(found_, MayMatch());
      if (!found_) RETURN_IF_ERROR(context_->CheckGoOn());  // A condition may cost much.
    }
    return found_;
  }

  // False: the row does not match. Sets `matches_` where it is certain that it does.
  Result<bool> MayMatch() {
    matches_ = false;
    if (!source_.MayBeSingleSource(walk_.ordinal())) return true;
    ASSIGN_OR_RETURN(const bool may_match, filter_->MayMatch());
    matches_ = filter_->is_certain();
    return may_match;
  }

  bool Take(size_t rows_max, format::RowBatch* batch) override {
    const bool taken = returns_plain_ && (!filters_ || matches_) &&
                       source_.MayBeSingleSource(walk_.ordinal()) && walk_.AddPlain(batch);
    found_ = !taken;
    if (taken && !filters_) walk_.AddPlainRun(rows_max, batch);
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
    return Accept(single_source, single_source && (candidates_.decided || matches_));
  }

  const FileSource& source_;
  FileCandidates candidates_;
  RowWalk walk_;
  const bool filters_;  // Rows that do not match are passed over by Find.
  std::optional<SingleSourceFilter> filter_;
  const bool returns_plain_;
  bool found_ = false;    // The walk is at a row that was neither taken nor read.
  bool matches_ = false;  // That row, if it is single-source.
};

}  // namespace

std::unique_ptr<RowIterator> NewFileIterator(ReadContext* context, const FileSource& source,
                                             std::optional<FileCandidates> candidates) {
  return std::make_unique<FileIterator>(context, source, std::move(candidates));
}

}  // namespace tandem::engine

// A plain row is filtered by its bytes; of another one the columns that decide are decoded.
#include "engine/read/single_source_filter.h"

namespace tandem::engine {

SingleSourceFilter::SingleSourceFilter(ReadContext* context, RowWalk* walk)
    : context_(context), walk_(walk), decides_by_key_(AsksRowKey(context->predicate->root())) {
  walk_->AddMatched();
  const format::DataSection* const only = walk_->only_family();
  if (only != nullptr) plain_filter_ = PlainFilter::Of(context->predicate->root(), only->family());
  if (!plain_filter_.has_value()) return;
  walk_->DecidePlain(plain_filter_->columns());
  values_.resize(plain_filter_->columns().size());
}

Result<bool> SingleSourceFilter::MayMatch() {
  is_certain_ = false;
  if (plain_filter_.has_value() && walk_->FindPlain(values_)) {
    return is_certain_ = plain_filter_->Matches(values_);
  }
  if (!decides_) walk_->Decide(context_->predicate->Columns());
  decides_ = true;
  deciding_.clear();
  ASSIGN_OR_RETURN(const bool is_known, walk_->AppendDeciding(&deciding_));
  if (!is_known) return true;
  if (decides_by_key_) RETURN_IF_ERROR(walk_->Key(&key_));
  ASSIGN_OR_RETURN(is_certain_, context_->predicate->Matches(key_, deciding_));
  return is_certain_;
}

}  // namespace tandem::engine

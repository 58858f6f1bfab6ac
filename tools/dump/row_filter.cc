// The three ways to choose rows become a lower bound and a test for the end.
#include "tools/dump/row_filter.h"

#include <algorithm>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"

namespace tandem::tools {

Result<RowFilter> RowFilter::Of(const DumpOptions& options) {
  const RangeArguments& range = options.range;
  const bool has_range = !range.start.empty() || !range.end.empty() || !range.prefix.empty();
  if (!options.key.empty() && has_range) {
    return Status::InvalidArgument("--key and a range: a key is one row; leave one of them out");
  }
  RowFilter filter;
  filter.family_ = options.family;
  if (!options.key.empty()) {
    ASSIGN_OR_RETURN(filter.key_, ParseBytes(options.key));
    filter.low_ = *filter.key_;
    return filter;
  }
  ASSIGN_OR_RETURN(const std::string start, ParseBytes(range.start));
  ASSIGN_OR_RETURN(filter.end_, ParseBytes(range.end));
  ASSIGN_OR_RETURN(filter.prefix_, ParseBytes(range.prefix));
  filter.low_ = std::max(start, filter.prefix_);
  return filter;
}

bool RowFilter::IsPast(std::string_view row) const {
  if (key_.has_value()) return row > *key_;
  if (!end_.empty() && row >= end_) return true;
  return !prefix_.empty() && row > prefix_ && !row.starts_with(prefix_);
}

}  // namespace tandem::tools

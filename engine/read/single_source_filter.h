// Which rows of a file match a predicate, found out before anything else is decoded of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "engine/predicate/plain_filter.h"
#include "engine/read/row_walk.h"
#include "engine/source/read_context.h"
#include "format/cell/cell.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: context and walk outlive it.
class SingleSourceFilter {
 public:
  /// From here on the walk's AddPlain takes rows to match. Requires: the context has a predicate.
  SingleSourceFilter(ReadContext* context, RowWalk* walk);

  /// Whether the walk's row, which is single-source, may match; is_certain() then says whether it
  /// does. Errors: kCorruption, and those of the predicate.
  Result<bool> MayMatch();
  bool is_certain() const { return is_certain_; }

 private:
  ReadContext* context_;
  RowWalk* walk_;
  const bool decides_by_key_;
  bool is_certain_ = false;
  // Of rows that are plain, where the predicate allows it.
  std::optional<PlainFilter> plain_filter_;
  std::vector<std::string_view> values_;
  // Of rows that are not; their columns are found for the first of them.
  bool decides_ = false;
  std::vector<format::Cell> deciding_;
  std::string key_;
};

}  // namespace tandem::engine

// Beginning a read at the row with a number: by counts, as far as rows can be counted, and by
// reading the rest (docs/decisions/0045).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/counting/skipped.h"
#include "engine/source/candidates.h"
#include "engine/source/position.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"
#include "format/schema.h"
#include "index/key.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A read of clusters in key order.
struct ReadByKey {
  const AccessPath* access = nullptr;  ///< Null: all rows of the clusters are asked for.
  uint64_t entries = 0;                ///< That it leads to.
  bool reverse = false;
  std::vector<Cluster>* clusters = nullptr;  ///< Are cut to the rows from the row on.
};
/// Begins the read at the row number skipped->left, from 0, or where counts end.
/// Errors: kCorruption, kIoError, kCancelled, kOverBudget.
Status SkipByKey(ReadContext* context, const ReadByKey& read, Skipped* skipped);

/// A read in the order of an index: of all rows with an entry in the ranges. Lifetime: the call's.
struct ReadInOrder {
  const format::IndexRecord& index;
  bool backward = false;  ///< Against the order of the index's keys; those of one entry rise.
  const std::vector<format::KeyRange>& ranges;  ///< Ascending, disjoint.
  const std::vector<Cluster>& clusters;
};
/// The same: sets `*position` to the one where the read begins, if it is not the first. Requires:
/// MayCountEntries(index).
Status SkipInOrder(ReadContext* context, const ReadInOrder& read, std::optional<Position>* position,
                   Skipped* skipped);

}  // namespace tandem::engine

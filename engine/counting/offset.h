// Beginning a read at the row with a number: by counts, as far as rows can be counted, and by
// reading the rest (docs/decisions/0045).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/source/candidates.h"
#include "engine/source/position.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"
#include "format/schema.h"
#include "index/key.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What became of the rows of an offset.
struct Skipped {
  uint64_t left = 0;          ///< Those that have to be read.
  uint64_t by_counts = 0;     ///< Those that were passed over; the read begins after them.
  uint64_t decided = 0;       ///< Rows that were looked at for that.
  bool is_all = false;        ///< There are no more rows.
  std::string why_read = {};  ///< Why some are left; empty: none are.

  /// Whether to decide on `rows` rows costs less than to read those that are left; to read
  /// `read_per_decided` rows costs as much as to decide on one. A few are always decided.
  bool PaysToDecide(uint64_t rows, uint64_t read_per_decided) const;
  /// Reads what is left, since to decide on `rows` rows costs more.
  void ReadInsteadOf(uint64_t rows);
};

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

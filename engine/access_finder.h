// Finding the ways to the rows of a predicate: which indexes can be asked what, and what it costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/bound_predicate.h"
#include "engine/candidates.h"
#include "engine/sources.h"

namespace tandem::engine {

struct CostedAccess {
  Access access;
  uint64_t entries = 0;  ///< In files, exact.
};

/// Lifetime: what it is given outlives it.
class AccessFinder {
 public:
  /// `only` (when not null) is the one index that may be used.
  AccessFinder(const format::TableRecord& table, const std::vector<Cluster>& clusters,
               const format::IndexRecord* only)
      : table_(table), clusters_(clusters), only_(only) {}

  /// The cheapest access to the rows that may satisfy `node`; nullopt when no index leads to all of
  /// them. `rows_decided`: conditions on the row key are taken care of.
  Result<std::optional<CostedAccess>> Find(const BoundNode& node, bool rows_decided) const;

  /// Whether the index may be asked about conditions on the leaf's column.
  static bool Serves(const format::IndexRecord& index, const BoundLeaf& leaf);
  /// The conditions on the index's column that every match of `node` satisfies, as one in
  /// `*together`; returns how many they are.
  static ptrdiff_t LeavesServed(const BoundNode& node, const format::IndexRecord& index,
                                BoundLeaf* together);

 private:
  using Found = Result<std::optional<CostedAccess>>;
  Found FindLeaf(const BoundLeaf& leaf) const;
  Found FindOr(const BoundNode& node) const;
  Found FindAnd(const BoundNode& node, bool rows_decided) const;
  Found FindPath(const BoundNode& node, size_t position, ptrdiff_t conditions) const;
  bool MayUse(const format::IndexRecord& index) const;
  Result<uint64_t> Count(const Access& access) const;

  const format::TableRecord& table_;
  const std::vector<Cluster>& clusters_;
  const format::IndexRecord* only_;
};

}  // namespace tandem::engine

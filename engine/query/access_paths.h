// Finding access paths for a predicate: which indexes can serve it, and at what cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "engine/predicate/bound.h"
#include "engine/query/composite_ranges.h"
#include "engine/source/candidates.h"
#include "engine/source/sources.h"

namespace tandem::engine {

/// The index entries that an access touches, and its look-ups of row keys.
struct EntryCount {
  uint64_t in_files = 0;
  uint64_t in_memstores = 0;
  uint64_t total() const { return in_files + in_memstores; }
};

/// The entries of the paths in all sources: of whole files, whatever part of them is read, and of
/// memstores including later writes. Costs a look-up for each range in each file and in each sorted
/// run of a memstore. Errors: kCorruption, kIoError, kCancelled.
Result<EntryCount> CountEntries(const std::vector<Cluster>& clusters, const AccessPath& access,
                                Precision precision, const base::Cancellation& cancellation);

/// An access to the rows that satisfy some of the conditions of an AND.
struct AndWay {
  /// Exact if it covers its own conditions. It is an intersection if its index has several columns
  /// and entries that leave some out.
  AccessPath access;
  /// In BoundNode::children; none for all entries of a partial index.
  std::vector<size_t> conditions;
};

/// Lifetime: table, clusters and indexes outlive it.
class AccessPathFinder {
 public:
  using Indexes = std::vector<const format::IndexRecord*>;

  /// What a query lets the finder choose from. Lifetime: `root` outlives the finder.
  struct Request {
    const BoundNode& root;      ///< Every match satisfies it.
    const ColumnSet& returned;  ///< Of each match; an index that has them all is preferred.
    Indexes only = {};          ///< When not empty, those that may be used.
  };
  AccessPathFinder(const format::TableRecord& table, const std::vector<Cluster>& clusters,
                   Request request, const base::Cancellation& cancellation);

  /// The cheapest access to the rows that may satisfy `node`; nullopt when indexes and single row
  /// keys do not lead to all of them. `rows_decided`: conditions on the row key are already
  /// satisfied, so that no key is looked up. Each range of keys is
  /// sorted once for each OR above it, and counted once for each AND that has a choice.
  Result<std::optional<AccessPath>> Find(const BoundNode& node, bool rows_decided) const;

  /// The accesses that an AND leaves to choose from: those by one index, those that have all
  /// returned columns first, then the others.
  Result<std::vector<AndWay>> FindWays(const BoundNode& node, bool rows_decided) const;
  /// The conditions of an AND that an access has to cover to be exact.
  static size_t CountConditions(const BoundNode& node, bool rows_decided);

  /// Whether the index can serve conditions on the leaf's column: as its first one.
  static bool Serves(const format::IndexRecord& index, const BoundLeaf& leaf);
  /// Whether it is over the trigrams of what the leaf looks for a part in. There may be none to
  /// look up.
  static bool HasTrigrams(const format::IndexRecord& index, const BoundLeaf& leaf);
  /// The index with the fewest columns that serves the leaf, of those that `may_use` is true of;
  /// nullptr: there is none.
  template <typename MayUse>
  static const format::IndexRecord* IndexFor(const format::TableRecord& table,
                                             const BoundLeaf& leaf, MayUse&& may_use) {
    const format::IndexRecord* best = nullptr;
    for (const format::IndexRecord& index : table.indexes) {
      if (!Serves(index, leaf) || !may_use(index)) continue;
      if (best == nullptr || index.columns.size() < best->columns.size()) best = &index;
    }
    return best;
  }
  /// The condition on the index's column that every match of `node` satisfies; nullptr: there is
  /// none.
  static const BoundLeaf* LeafServed(const BoundNode& node, const format::IndexRecord& index);

 private:
  using Found = Result<std::optional<AccessPath>>;
  Found FindLeaf(const BoundNode& node) const;
  Found FindOfAllRows(const BoundNode& node) const;
  Found FindTrigrams(const BoundLeaf& leaf) const;
  Found AccessByTrigrams(const format::IndexRecord& index, const BoundLeaf& leaf) const;
  struct CountedPath {
    uint64_t entries = 0;
    IndexPath path;
  };
  /// Paths to the rows with one of the parts, the one with the fewest entries first.
  Result<std::vector<CountedPath>> PathsToParts(const format::IndexRecord& index,
                                                const LiteralParts& parts,
                                                size_t trigrams_max) const;
  /// By each trigram of the part, at most that many of them.
  Result<std::vector<CountedPath>> PathsToPart(const format::IndexRecord& index,
                                               const LiteralPart& part, size_t trigrams_max) const;
  /// `group`: the AND that the leaf is in, whose conditions on the first column serve better.
  Found FindSkipScan(const BoundLeaf& leaf, const BoundNode* group) const;
  Found FindOr(const BoundNode& node) const;
  Found FindAnd(const BoundNode& node, bool rows_decided) const;
  Found Cheapest(std::vector<AndWay> ways) const;
  Result<AndWay> WayByComposite(const format::IndexRecord& index, CompositeRanges found) const;
  Result<bool> LeavesOutColumns(const format::IndexRecord& index,
                                const std::vector<format::KeyRange>& partial) const;
  std::optional<AccessPath> AccessByKeys(const BoundLeaf& leaf) const;
  static AccessPath AccessBy(const format::IndexRecord& index, const BoundLeaf& leaf);
  /// As far as it does not depend on conditions.
  bool IsAskedFor(const format::IndexRecord& index) const;
  /// Whether the index may be used for rows that satisfy `node`.
  bool MayUse(const format::IndexRecord& index, const BoundNode& node) const;
  Result<std::optional<AndWay>> WayInOrder(const format::IndexRecord& index,
                                           const BoundNode& node) const;

  const format::TableRecord& table_;
  const std::vector<Cluster>& clusters_;
  Indexes indexes_;  // All, those that have the returned columns first.
  size_t covering_;  // How many these are.
  Indexes only_;
  Indexes partial_;  // Those that have all rows which satisfy the root.
  base::Cancellation cancellation_;
};

}  // namespace tandem::engine

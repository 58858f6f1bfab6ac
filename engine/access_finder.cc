// A leaf is served by an index over its column. An OR needs an access to each of its parts and
// takes them all; an AND needs one of its parts and takes the cheapest, after the conditions on one
// column were taken together.
#include "engine/access_finder.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/key_ranges.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;

void AddPath(IndexPath path, Access* access) {
  for (IndexPath& other : access->paths) {
    if (other.index != path.index) continue;
    other.ranges = Unite(std::move(other.ranges), path.ranges);
    other.nulls |= path.nulls;
    return;
  }
  access->paths.push_back(std::move(path));
}

void KeepCheaper(std::optional<CostedAccess> other, std::optional<CostedAccess>* best) {
  if (!other.has_value()) return;
  if (!best->has_value() || other->entries < (*best)->entries) *best = std::move(other);
}

}  // namespace

bool AccessFinder::Serves(const format::IndexRecord& index, const BoundLeaf& leaf) {
  if (leaf.is_row_key || index.columns.size() != 1) return false;
  const format::IndexColumnRecord& column = index.columns[0];
  return column.family == leaf.column.family && column.qualifier == leaf.column.qualifier &&
         column.type == leaf.column.type;
}

bool AccessFinder::MayUse(const format::IndexRecord& index) const {
  return index.state != format::IndexState::kDropping && (only_ == nullptr || only_ == &index);
}

AccessFinder::Found AccessFinder::Find(const BoundNode& node, bool rows_decided) const {
  switch (node.kind) {
    case Kind::kLeaf:
      return FindLeaf(node.leaf);
    case Kind::kOr:
      return FindOr(node);
    default:
      return FindAnd(node, rows_decided);
  }
}

AccessFinder::Found AccessFinder::FindLeaf(const BoundLeaf& leaf) const {
  for (size_t i = 0; i < table_.indexes.size(); ++i) {
    const format::IndexRecord& index = table_.indexes[i];
    if (!MayUse(index) || !Serves(index, leaf)) continue;
    CostedAccess found{.access = {.paths = {}, .exact = true}};
    found.access.paths.push_back({&index, i, RangesOf(leaf, index.columns[0]), leaf.accepts_null});
    ASSIGN_OR_RETURN(found.entries, Count(found.access));
    return std::optional(std::move(found));
  }
  return std::optional<CostedAccess>();
}

AccessFinder::Found AccessFinder::FindOr(const BoundNode& node) const {
  CostedAccess all{.access = {.paths = {}, .exact = true}};
  for (const BoundNode& child : node.children) {
    ASSIGN_OR_RETURN(std::optional<CostedAccess> found, Find(child, /*rows_decided=*/false));
    if (!found.has_value()) return found;
    for (IndexPath& path : found->access.paths) AddPath(std::move(path), &all.access);
    all.access.exact &= found->access.exact;
  }
  ASSIGN_OR_RETURN(all.entries, Count(all.access));
  return std::optional(std::move(all));
}

AccessFinder::Found AccessFinder::FindAnd(const BoundNode& node, bool rows_decided) const {
  // What is decided on is the children that an access has to cover to be exact.
  const auto conditions =
      std::count_if(node.children.begin(), node.children.end(), [=](const BoundNode& child) {
        return child.kind != Kind::kLeaf || !child.leaf.is_row_key || !rows_decided;
      });
  std::optional<CostedAccess> best;
  for (size_t i = 0; i < table_.indexes.size(); ++i) {
    if (!MayUse(table_.indexes[i])) continue;
    ASSIGN_OR_RETURN(std::optional<CostedAccess> found, FindPath(node, i, conditions));
    KeepCheaper(std::move(found), &best);
  }
  for (const BoundNode& child : node.children) {
    if (child.kind == Kind::kLeaf) continue;
    ASSIGN_OR_RETURN(std::optional<CostedAccess> found, Find(child, /*rows_decided=*/false));
    if (found.has_value()) found->access.exact &= conditions == 1;
    KeepCheaper(std::move(found), &best);
  }
  return best;
}

// All conditions of an AND on the column of one index, taken together.
AccessFinder::Found AccessFinder::FindPath(const BoundNode& node, size_t position,
                                           ptrdiff_t conditions) const {
  const format::IndexRecord& index = table_.indexes[position];
  BoundLeaf together;
  const ptrdiff_t served = LeavesServed(node, index, &together);
  if (served == 0) return std::optional<CostedAccess>();
  CostedAccess found{.access = {.paths = {}, .exact = served == conditions}};
  found.access.paths.push_back(
      {&index, position, RangesOf(together, index.columns[0]), together.accepts_null});
  ASSIGN_OR_RETURN(found.entries, Count(found.access));
  return std::optional(std::move(found));
}

ptrdiff_t AccessFinder::LeavesServed(const BoundNode& node, const format::IndexRecord& index,
                                     BoundLeaf* together) {
  ptrdiff_t served = 0;
  const auto add = [&](const BoundNode& child) {
    if (child.kind != Kind::kLeaf || !Serves(index, child.leaf)) return;
    if (++served == 1) {
      *together = child.leaf;
    } else {
      together->values = together->values.Intersect(child.leaf.values);
      together->accepts_null &= child.leaf.accepts_null;
    }
  };
  if (node.kind == Kind::kLeaf) add(node);
  if (node.kind == Kind::kAnd) std::for_each(node.children.begin(), node.children.end(), add);
  return served;
}

Result<uint64_t> AccessFinder::Count(const Access& access) const {
  uint64_t entries = 0;
  for (const Cluster& cluster : clusters_) {
    for (const FileSource& source : cluster.files) {
      for (const IndexPath& path : access.paths) {
        ASSIGN_OR_RETURN(const uint64_t count, CountEntries(source, path));
        entries += count;
      }
    }
  }
  return entries;
}

}  // namespace tandem::engine

// A leaf is served by an index over its column. An OR needs an access to each of its children and
// uses all of them; an AND needs an access to one child and uses the cheapest. (An AND that is the
// whole predicate may use more: engine/query/intersection_choice.h.) Binding has combined the
// conditions of a group on one column.
#include "engine/query/access_paths.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/key_ranges.h"
#include "engine/query/partial_index.h"
#include "engine/query/skip_scan.h"
#include "engine/read/covered_rows.h"
#include "format/functions.h"
#include "format/registry/registered.h"
#include "format/value_text.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;

// Of parts that are looked for: how many trigrams are counted, and how many are read. The rest
// would rule out little.
constexpr size_t kTrigramsMax = 32;
constexpr size_t kTrigramsIntersected = 4;
// Reading this many entries costs less than reading a row.
constexpr uint64_t kEntriesPerRow = 16;

// Adds the path. Its ranges join those of the same index, unsorted.
void AddPath(IndexPath path, AccessPath* access) {
  for (IndexPath& other : access->paths) {
    if (other.index != path.index) continue;
    if (path.narrow.has_value() || other.narrow.has_value()) {
      if (!other.narrow.has_value()) other.narrow = other.ranges;
      const std::vector<format::KeyRange>& narrow = path.RangesIn(/*in_order=*/true);
      other.narrow->insert(other.narrow->end(), narrow.begin(), narrow.end());
    }
    std::move(path.ranges.begin(), path.ranges.end(), std::back_inserter(other.ranges));
    other.nulls |= path.nulls;
    other.of_single_keys &= path.of_single_keys;
    if (!path.parts.empty()) other.parts += (other.parts.empty() ? "" : ", ") + path.parts;
    if (path.skipped_values.has_value()) other.skipped_values = path.skipped_values;
    // A skip scan has entries of rows without the first column, which `nulls` counts too.
    other.repeats_rows =
        other.skipped_values.has_value() || format::IsMultiValued(path.index->columns[0]);
    return;
  }
  access->paths.push_back(std::move(path));
}

// The keys of the leaf; nullopt: it accepts others than single ones.
std::optional<std::vector<std::string>> SingleKeys(const BoundLeaf& leaf) {
  std::vector<std::string> keys;
  keys.reserve(leaf.values.intervals().size());
  for (const ValueInterval& interval : leaf.values.intervals()) {
    if (!interval.is_single()) return std::nullopt;
    keys.push_back(interval.low->key);
  }
  return keys;
}

// Look-ups of keys, in every source that may have them.
EntryCount CountKeys(const Cluster& cluster, const RowKeys& keys) {
  const KeySpan here = KeysIn(keys.span(), cluster.rows);
  EntryCount count;
  for (const FileSource& source : cluster.files) count.in_files += KeysWithin(here, source).size();
  count.in_memstores = here.size() * cluster.memstores.size();
  return count;
}

}  // namespace

Result<EntryCount> CountEntries(const std::vector<Cluster>& clusters, const AccessPath& access,
                                Precision precision, const base::Cancellation& cancellation) {
  EntryCount entries;
  for (const Cluster& cluster : clusters) {
    if (access.keys != nullptr) {
      const EntryCount keys = CountKeys(cluster, *access.keys);
      entries.in_files += keys.in_files;
      entries.in_memstores += keys.in_memstores;
    }
    for (const IndexPath& path : access.paths) {
      RETURN_IF_ERROR(cancellation.Check());
      for (const FileSource& source : cluster.files) {
        RETURN_IF_ERROR(cancellation.Check());
        ASSIGN_OR_RETURN(const uint64_t count, CountEntries(source, path, precision));
        entries.in_files += count;
      }
      entries.in_memstores += CountMemstoreEntries(cluster, path);
    }
  }
  return entries;
}

AccessPathFinder::AccessPathFinder(const format::TableRecord& table,
                                   const std::vector<Cluster>& clusters, Request request,
                                   const base::Cancellation& cancellation)
    : table_(table),
      clusters_(clusters),
      only_(std::move(request.only)),
      cancellation_(cancellation) {
  for (const format::IndexRecord& index : table.indexes) {
    indexes_.push_back(&index);
    if (index.where.has_value() && CoversRows(table, index, request.root)) {
      partial_.push_back(&index);
    }
  }
  const auto others =
      std::ranges::stable_partition(indexes_, [&request](const format::IndexRecord* index) {
        return HasRecordsOf(*index, request.returned);
      });
  covering_ = indexes_.size() - others.size();
}

bool AccessPathFinder::Serves(const format::IndexRecord& index, const BoundLeaf& leaf) {
  if (leaf.is_row_key || !leaf.has_ranges()) return false;
  return format::HasSameValues(index.columns[0], leaf.column);
}

const BoundLeaf* AccessPathFinder::LeafServed(const BoundNode& node,
                                              const format::IndexRecord& index) {
  if (node.kind == Kind::kLeaf) return Serves(index, node.leaf) ? &node.leaf : nullptr;
  if (node.kind == Kind::kOr) return nullptr;
  const auto found =
      std::find_if(node.children.begin(), node.children.end(), [&](const BoundNode& child) {
        return child.kind == Kind::kLeaf && Serves(index, child.leaf);
      });
  return found == node.children.end() ? nullptr : &found->leaf;
}

bool AccessPathFinder::IsAskedFor(const format::IndexRecord& index) const {
  return index.state != format::IndexState::kDropping && !format::IsUnusable(index) &&
         (only_.empty() || std::ranges::find(only_, &index) != only_.end());
}

bool AccessPathFinder::MayUse(const format::IndexRecord& index, const BoundNode& node) const {
  if (!IsAskedFor(index)) return false;
  return !index.where.has_value() || std::ranges::find(partial_, &index) != partial_.end() ||
         CoversRows(table_, index, node);
}

AccessPathFinder::Found AccessPathFinder::Find(const BoundNode& node, bool rows_decided) const {
  RETURN_IF_ERROR(cancellation_.Check());
  switch (node.kind) {
    case Kind::kLeaf:
      if (node.leaf.is_row_key && rows_decided) return std::optional<AccessPath>();
      return FindLeaf(node);
    case Kind::kOr:
      return FindOr(node);
    default:
      return FindAnd(node, rows_decided);
  }
}

AccessPath AccessPathFinder::AccessBy(const format::IndexRecord& index, const BoundLeaf& leaf) {
  AccessPath access{.paths = {}, .exact = true};
  const std::vector<ValueInterval>& intervals = leaf.values.intervals();
  const bool is_single = intervals.size() == 1 && intervals[0].is_single();
  access.paths.push_back(
      {.index = &index,
       .ranges = RangesOf(leaf, index.columns[0]),
       .nulls = leaf.accepts_null,
       .repeats_rows = !is_single && format::IsMultiValued(index.columns[0]),
       .of_single_keys = std::ranges::all_of(intervals, &ValueInterval::is_single)});
  return access;
}

std::optional<AccessPath> AccessPathFinder::AccessByKeys(const BoundLeaf& leaf) const {
  std::optional<std::vector<std::string>> keys = SingleKeys(leaf);
  if (!keys.has_value()) return std::nullopt;
  return AccessPath{.paths = {},
                    .exact = false,
                    .keys = std::make_shared<RowKeys>(*std::move(keys), table_.hash_secret)};
}

AccessPathFinder::Found AccessPathFinder::FindLeaf(const BoundNode& node) const {
  const BoundLeaf& leaf = node.leaf;
  if (leaf.is_row_key) return AccessByKeys(leaf);
  std::vector<AndWay> ways;
  for (const format::IndexRecord& index : table_.indexes) {
    if (!index.needs_order() || !MayUse(index, node)) continue;
    ASSIGN_OR_RETURN(std::optional<AndWay> way, WayInOrder(index, node));
    if (!way.has_value()) continue;
    way->access.exact &= !way->access.is_intersection();
    ways.push_back(*std::move(way));
  }
  Found whole = FindOfAllRows(node);
  if (!whole.has_value() || ways.empty()) return whole;
  if (whole->has_value()) ways.push_back({.access = **std::move(whole), .conditions = {0}});
  return Cheapest(std::move(ways));
}

AccessPathFinder::Found AccessPathFinder::FindOfAllRows(const BoundNode& node) const {
  const BoundLeaf& leaf = node.leaf;
  if (leaf.test.has_value()) return FindTrigrams(leaf);
  const auto may_use = [&](const format::IndexRecord& candidate) {
    return !candidate.needs_order() && MayUse(candidate, node);
  };
  const auto may_cover = [&](const format::IndexRecord& candidate) {
    const auto covering = std::span(indexes_).first(covering_);
    return std::ranges::find(covering, &candidate) != covering.end() && may_use(candidate);
  };
  const format::IndexRecord* index = covering_ > 0 ? IndexFor(table_, leaf, may_cover) : nullptr;
  if (index == nullptr) index = IndexFor(table_, leaf, may_use);
  if (index == nullptr) return FindSkipScan(leaf, nullptr);
  return std::optional(AccessBy(*index, leaf));
}

// By its conditions on the first columns, else by all entries of a partial index, unless rows
// without any cell that the index depends on may match.
Result<std::optional<AndWay>> AccessPathFinder::WayInOrder(const format::IndexRecord& index,
                                                           const BoundNode& node) const {
  if (std::optional<CompositeRanges> ranges = FindCompositeRanges(index, node)) {
    ASSIGN_OR_RETURN(AndWay way, WayByComposite(index, *std::move(ranges)));
    return std::optional(std::move(way));
  }
  if (!index.where.has_value() || HasRowsWithoutCells(index)) return std::optional<AndWay>();
  AndWay way{.access = {.paths = {}, .exact = false}, .conditions = {}};
  way.access.paths.push_back({.index = &index,
                              .ranges = {format::KeyRange()},
                              .columns = 0,
                              .repeats_rows = format::IsMultiValued(index.columns[0])});
  return std::optional(std::move(way));
}

AccessPathFinder::Found AccessPathFinder::FindSkipScan(const BoundLeaf& leaf,
                                                       const BoundNode* group) const {
  for (const format::IndexRecord& index : table_.indexes) {
    if (!IsOnSecondColumn(index, leaf) || !IsAskedFor(index)) continue;
    if (group != nullptr && LeafServed(*group, index) != nullptr) continue;
    ASSIGN_OR_RETURN(std::optional<SkipRanges> skip,
                     FindSkipRanges(index, leaf, clusters_, cancellation_));
    if (!skip.has_value()) continue;
    AccessPath access{.paths = {}, .exact = true};
    access.paths.push_back({.index = &index,
                            .ranges = {format::KeyRange()},
                            .narrow = std::move(skip->ranges),
                            .columns = 2,
                            .skipped_values = skip->first_values});
    return std::optional(std::move(access));
  }
  return std::optional<AccessPath>();
}

AccessPathFinder::Found AccessPathFinder::FindTrigrams(const BoundLeaf& leaf) const {
  for (const format::IndexRecord& index : table_.indexes) {
    if (!IsAskedFor(index)) continue;
    ASSIGN_OR_RETURN(std::optional<AccessPath> found, AccessByTrigrams(index, leaf));
    if (found.has_value()) return found;
  }
  return std::optional<AccessPath>();
}

bool AccessPathFinder::HasTrigrams(const format::IndexRecord& index, const BoundLeaf& leaf) {
  const format::IndexColumnRecord& column = index.columns[0];
  if (!leaf.test.has_value() || leaf.test->negated || !format::IsUtf8(leaf.test->part))
    return false;
  Functions functions = leaf.column.functions;
  functions.push_back(Function::Trigrams());
  format::PinFunctions(functions);
  return column.family == leaf.column.family && column.qualifier == leaf.column.qualifier &&
         column.type == ColumnType::kText && column.functions == functions;
}

// A row that contains a part has all trigrams of it. The rarest one finds the candidates; others
// rule out some, as long as they are not much more frequent.
AccessPathFinder::Found AccessPathFinder::AccessByTrigrams(const format::IndexRecord& index,
                                                           const BoundLeaf& leaf) const {
  if (!HasTrigrams(index, leaf)) return std::optional<AccessPath>();
  const std::vector<LiteralParts> needed = PartsNeededBy(*leaf.test);
  size_t part_count = 0;
  for (const LiteralParts& parts : needed) part_count += parts.size();
  std::vector<CountedPath> counted;
  for (const LiteralParts& parts : needed) {
    const size_t trigrams_max = std::max<size_t>(1, kTrigramsMax / part_count);
    ASSIGN_OR_RETURN(std::vector<CountedPath> paths, PathsToParts(index, parts, trigrams_max));
    if (leaf.test->regexp != nullptr) {
      for (CountedPath& each : paths) each.path.parts = Described(parts);
    }
    std::ranges::move(paths, std::back_inserter(counted));
  }
  if (counted.empty()) return std::optional<AccessPath>();
  std::ranges::stable_sort(counted, {}, &CountedPath::entries);
  AccessPath access;
  access.paths.push_back(std::move(counted[0].path));
  for (size_t i = 1; i < std::min(counted.size(), kTrigramsIntersected); ++i) {
    if (counted[i].entries / kEntriesPerRow > counted[0].entries) break;
    access.intersected.push_back({std::move(counted[i].path)});
  }
  access.own = access.intersected.size();
  return std::optional(std::move(access));
}

// Of several parts the rarest trigrams of each are one path, the second ones another; of a part
// with fewer trigrams than others the last one counts again.
Result<std::vector<AccessPathFinder::CountedPath>> AccessPathFinder::PathsToParts(
    const format::IndexRecord& index, const LiteralParts& parts, size_t trigrams_max) const {
  std::vector<std::vector<CountedPath>> by_part;
  size_t longest = 0;
  for (const LiteralPart& part : parts) {
    ASSIGN_OR_RETURN(by_part.emplace_back(), PathsToPart(index, part, trigrams_max));
    if (by_part.back().empty()) return std::vector<CountedPath>();
    longest = std::max(longest, by_part.back().size());
  }
  if (by_part.size() == 1) return std::move(by_part[0]);
  std::vector<CountedPath> paths(std::min(longest, kTrigramsIntersected));
  for (size_t i = 0; i < paths.size(); ++i) {
    std::vector<format::KeyRange> ranges;
    for (const std::vector<CountedPath>& of_part : by_part) {
      const CountedPath& next = of_part[std::min(i, of_part.size() - 1)];
      paths[i].entries += next.entries;
      ranges.insert(ranges.end(), next.path.ranges.begin(), next.path.ranges.end());
    }
    paths[i].path = {.index = &index,
                     .ranges = Unite(std::move(ranges)),
                     .repeats_rows = true,
                     .of_single_keys = true};
  }
  return paths;
}

Result<std::vector<AccessPathFinder::CountedPath>> AccessPathFinder::PathsToPart(
    const format::IndexRecord& index, const LiteralPart& part, size_t trigrams_max) const {
  std::set<std::set<std::string>> keys;
  for (const TrigramForms& forms : part.trigrams) {
    if (keys.size() == trigrams_max) break;
    std::set<std::string> keys_of_forms;
    const bool fit = std::ranges::all_of(forms, [&](const std::string& form) {
      std::string key;
      if (!format::AppendKeyIfFits(index.columns[0], form, &key)) return false;
      keys_of_forms.insert(std::move(key));
      return true;
    });
    if (fit) keys.insert(std::move(keys_of_forms));
  }
  std::vector<CountedPath> paths;
  for (const std::set<std::string>& forms : keys) {
    std::vector<format::KeyRange> ranges;
    for (const std::string& key : forms) ranges.push_back(format::EqualRange(key));
    AccessPath access;
    access.paths.push_back({.index = &index,
                            .ranges = std::move(ranges),
                            .repeats_rows = forms.size() > 1,
                            .of_single_keys = true});
    ASSIGN_OR_RETURN(const EntryCount entries,
                     CountEntries(clusters_, access, Precision::kExact, cancellation_));
    paths.push_back({entries.total(), std::move(access.paths[0])});
  }
  std::ranges::stable_sort(paths, {}, &CountedPath::entries);
  return paths;
}

AccessPathFinder::Found AccessPathFinder::FindOr(const BoundNode& node) const {
  AccessPath all{.paths = {}, .exact = true};
  std::vector<std::string> keys;
  for (const BoundNode& child : node.children) {
    ASSIGN_OR_RETURN(std::optional<AccessPath> found, Find(child, /*rows_decided=*/false));
    if (!found.has_value()) return found;
    for (IndexPath& path : found->paths) AddPath(std::move(path), &all);
    all.exact &= found->exact;
    if (found->keys == nullptr) continue;
    keys.insert(keys.end(), found->keys->bytes().begin(), found->keys->bytes().end());
  }
  if (!keys.empty()) all.keys = std::make_shared<RowKeys>(std::move(keys), table_.hash_secret);
  for (IndexPath& path : all.paths) {
    path.ranges = Unite(std::move(path.ranges));
    if (path.narrow.has_value()) path.narrow = Unite(*std::move(path.narrow));
  }
  return std::optional(std::move(all));
}

size_t AccessPathFinder::CountConditions(const BoundNode& node, bool rows_decided) {
  return static_cast<size_t>(
      std::count_if(node.children.begin(), node.children.end(), [=](const BoundNode& child) {
        return child.kind != Kind::kLeaf || !child.leaf.is_row_key || !rows_decided;
      }));
}

Result<std::vector<AndWay>> AccessPathFinder::FindWays(const BoundNode& node,
                                                       bool rows_decided) const {
  std::vector<AndWay> ways;
  for (const format::IndexRecord* const each : indexes_) {
    const format::IndexRecord& index = *each;
    if (!MayUse(index, node)) continue;
    if (index.needs_order()) {
      ASSIGN_OR_RETURN(std::optional<AndWay> way, WayInOrder(index, node));
      if (way.has_value()) ways.push_back(*std::move(way));
      continue;
    }
    if (std::optional<CompositeRanges> composite = FindCompositeRanges(index, node)) {
      ASSIGN_OR_RETURN(ways.emplace_back(), WayByComposite(index, *std::move(composite)));
      continue;
    }
    for (size_t i = 0; i < node.children.size(); ++i) {
      const BoundNode& child = node.children[i];
      if (child.kind != Kind::kLeaf) continue;
      if (Serves(index, child.leaf)) ways.push_back({AccessBy(index, child.leaf), {i}});
      ASSIGN_OR_RETURN(std::optional<AccessPath> by_trigrams, AccessByTrigrams(index, child.leaf));
      if (by_trigrams.has_value()) ways.push_back({*std::move(by_trigrams), {i}});
    }
  }
  for (size_t i = 0; i < node.children.size(); ++i) {
    const BoundNode& child = node.children[i];
    if (child.kind == Kind::kLeaf && !child.leaf.is_row_key) {
      const bool is_served = std::ranges::any_of(ways, [i](const AndWay& way) {
        return std::ranges::find(way.conditions, i) != way.conditions.end();
      });
      if (is_served) continue;
      ASSIGN_OR_RETURN(std::optional<AccessPath> skip, FindSkipScan(child.leaf, &node));
      if (skip.has_value()) ways.push_back({*std::move(skip), {i}});
      continue;
    }
    if (child.is_bounded || (child.kind == Kind::kLeaf && rows_decided)) continue;
    ASSIGN_OR_RETURN(std::optional<AccessPath> found, Find(child, /*rows_decided=*/false));
    if (found.has_value() && (only_.empty() || !found->paths.empty())) {
      ways.push_back({*std::move(found), {i}});
    }
  }
  return ways;
}

AccessPathFinder::Found AccessPathFinder::FindAnd(const BoundNode& node, bool rows_decided) const {
  ASSIGN_OR_RETURN(std::vector<AndWay> ways, FindWays(node, rows_decided));
  const size_t conditions = CountConditions(node, rows_decided);
  for (AndWay& way : ways) {
    // Only the root of a predicate is intersected.
    way.access.exact &= way.conditions.size() == conditions && !way.access.is_intersection();
    way.access.intersected.clear();
    way.access.own = 0;
  }
  return Cheapest(std::move(ways));
}

Result<AndWay> AccessPathFinder::WayByComposite(const format::IndexRecord& index,
                                                CompositeRanges found) const {
  AndWay way{.access = {.paths = {}, .exact = true}, .conditions = std::move(found.conditions)};
  ASSIGN_OR_RETURN(const bool leaves_out, LeavesOutColumns(index, found.partial));
  // A row that has the columns nowhere else satisfies nothing by an entry that leaves one out.
  if (leaves_out) way.access.intersected.push_back({{&index, found.whole}});
  way.access.own = way.access.intersected.size();
  std::vector<format::KeyRange> narrow = std::move(found.whole);
  std::move(found.partial.begin(), found.partial.end(), std::back_inserter(narrow));
  way.access.paths.push_back({.index = &index,
                              .ranges = std::move(found.of_first),
                              .narrow = Unite(std::move(narrow)),
                              .columns = way.conditions.size(),
                              .repeats_rows = format::IsMultiValued(index.columns[0])});
  return way;
}

// Whether some file has entries that are candidates without having all columns.
Result<bool> AccessPathFinder::LeavesOutColumns(
    const format::IndexRecord& index, const std::vector<format::KeyRange>& partial) const {
  const IndexPath path{&index, partial};
  for (const Cluster& cluster : clusters_) {
    if (!cluster.in_order && !cluster.files.empty()) return true;
    for (const FileSource& source : cluster.files) {
      RETURN_IF_ERROR(cancellation_.Check());
      ASSIGN_OR_RETURN(const uint64_t entries, CountEntries(source, path, Precision::kExact));
      if (entries > 0) return true;
    }
  }
  return false;
}

// The access with the fewest entries, the first one if several have as few.
AccessPathFinder::Found AccessPathFinder::Cheapest(std::vector<AndWay> ways) const {
  if (ways.empty()) return std::optional<AccessPath>();
  size_t best = 0;
  uint64_t fewest = 0;
  for (size_t i = 0; i < ways.size() && ways.size() > 1; ++i) {
    ASSIGN_OR_RETURN(const EntryCount entries,
                     CountEntries(clusters_, ways[i].access, Precision::kExact, cancellation_));
    if (i > 0 && entries.total() >= fewest) continue;
    best = i;
    fewest = entries.total();
  }
  return std::optional(std::move(ways[best].access));
}

}  // namespace tandem::engine

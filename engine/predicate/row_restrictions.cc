// A condition on the row key that is there already is narrowed, so that there is one.
#include "engine/predicate/row_restrictions.h"

#include <algorithm>
#include <utility>

#include "engine/predicate/field_ranges.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;

bool IsOnRows(const BoundNode& node) { return node.kind == Kind::kLeaf && node.leaf.is_row_key; }

void Narrow(const ValueSet& rows, BoundNode* condition) {
  const ValueSet* const both[] = {&rows, &condition->leaf.values};
  condition->leaf.values = ValueSet::IntersectionOf(both);
}

BoundPredicate Restrict(const BoundPredicate& predicate, ValueSet rows) {
  BoundNode root = predicate.root();
  if (IsOnRows(root)) {
    Narrow(rows, &root);
    return BoundPredicate::Of(std::move(root));
  }
  BoundNode both;
  if (root.kind == Kind::kAnd) {
    both = std::move(root);
  } else {
    both.children.push_back(std::move(root));
  }
  const auto on_rows = std::ranges::find_if(both.children, IsOnRows);
  if (on_rows != both.children.end()) {
    Narrow(rows, &*on_rows);
    return BoundPredicate::Of(std::move(both));
  }
  BoundNode leaf{.kind = Kind::kLeaf, .leaf = {}, .children = {}};
  leaf.leaf.is_row_key = true;
  leaf.leaf.values = std::move(rows);
  if (both.children.empty()) return BoundPredicate::Of(std::move(leaf));
  both.children.push_back(std::move(leaf));
  return BoundPredicate::Of(std::move(both));
}

ValueInterval IntervalOf(const format::KeyRange& range) {
  ValueInterval interval;
  if (!range.low.empty()) interval.low = ValueBound{.key = range.low};
  if (range.high.has_value()) interval.high = ValueBound{.key = *range.high, .inclusive = false};
  return interval;
}

}  // namespace

BoundPredicate AmongRows(const BoundPredicate& predicate, const std::vector<std::string>& rows) {
  std::vector<ValueInterval> keys;
  keys.reserve(rows.size());
  for (const std::string& row : rows) {
    const ValueBound bound{.key = row};
    keys.push_back(ValueInterval{.low = bound, .high = bound});
  }
  return Restrict(predicate, ValueSet(std::move(keys)));
}

BoundPredicate WithinRows(const BoundPredicate& predicate, const KeyRanges& ranges) {
  std::vector<ValueInterval> keys;
  keys.reserve(ranges.size());
  for (const format::KeyRange& range : ranges) keys.push_back(IntervalOf(range));
  return Restrict(predicate, ValueSet(std::move(keys)));
}

BoundPredicate WithinFields(BoundPredicate predicate) {
  if (!NamesFields(predicate.root())) return predicate;
  const KeyRanges ranges = RowsByFields(predicate.root());
  const bool are_all = ranges.size() == 1 && ranges[0].low.empty() && !ranges[0].high.has_value();
  if (are_all) return predicate;
  std::vector<ValueInterval> keys;
  keys.reserve(ranges.size());
  for (const format::KeyRange& range : ranges) {
    ValueInterval& interval = keys.emplace_back(IntervalOf(range));
    // A single key, which is looked up.
    if (range.high == range.low + '\0') interval.high = interval.low;
  }
  return Restrict(predicate, ValueSet(std::move(keys)));
}

}  // namespace tandem::engine

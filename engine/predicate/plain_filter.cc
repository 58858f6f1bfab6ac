// Text that does not fit an index is absent for a condition, which is seen only where that changes
// what the condition says: seldom is a value looked at twice.
#include "engine/predicate/plain_filter.h"

#include <algorithm>

namespace tandem::engine {
namespace {

bool IsOfStoredPut(const BoundLeaf& leaf, format::FamilyId family) {
  const format::IndexColumnRecord& column = leaf.column;
  return !leaf.is_row_key && leaf.key_fields == nullptr && !leaf.any_version &&
         !column.is_of_row_key() && !column.is_of_family() && column.functions.empty() &&
         column.joined.empty() && !format::IsMultiValued(column) && column.family == family;
}

// The value that the set is made of.
const std::string* OneValueOf(const format::ValueSet& set) {
  if (set.intervals().size() != 1 || !set.intervals()[0].is_single()) return nullptr;
  return &set.intervals()[0].low->key;
}

// The only value that the set has not.
const std::string* OtherValueOf(const format::ValueSet& set) {
  if (set.intervals().size() != 2) return nullptr;
  const format::ValueInterval &below = set.intervals()[0], &above = set.intervals()[1];
  if (below.low.has_value() || above.high.has_value()) return nullptr;
  const bool is_one = !below.high->inclusive && !above.low->inclusive;
  return is_one && below.high->key == above.low->key ? &above.low->key : nullptr;
}

}  // namespace

std::optional<PlainFilter> PlainFilter::Of(const BoundNode& root, format::FamilyId family) {
  PlainFilter filter;
  if (!filter.AddColumns(root, family)) return std::nullopt;
  std::vector<std::string>& columns = filter.columns_;
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  filter.root_ = filter.Made(root);
  return filter;
}

// Adds the columns of the conditions. False: one of these is not of a stored Put.
bool PlainFilter::AddColumns(const BoundNode& node, format::FamilyId family) {
  if (node.kind != BoundNode::Kind::kLeaf) {
    return std::ranges::all_of(
        node.children, [=, this](const BoundNode& child) { return AddColumns(child, family); });
  }
  if (!IsOfStoredPut(node.leaf, family)) return false;
  columns_.push_back(node.leaf.column.qualifier);
  return true;
}

PlainFilter::Node PlainFilter::Made(const BoundNode& node) const {
  Node made{.kind = node.kind};
  if (node.kind != BoundNode::Kind::kLeaf) {
    made.children.reserve(node.children.size());
    for (const BoundNode& child : node.children) made.children.push_back(Made(child));
    return made;
  }
  const BoundLeaf& leaf = node.leaf;
  made.leaf = &leaf;
  const auto column = std::ranges::lower_bound(columns_, leaf.column.qualifier);
  made.column = static_cast<size_t>(column - columns_.begin());
  if (!ComparesAsBytes(leaf.column.type)) {
    made.by = By::kKey;
  } else if (leaf.test.has_value()) {
    made.by = By::kSet;
  } else if (const std::string* value = OneValueOf(leaf.values)) {
    made.by = By::kOneValue;
    made.value = *value;
  } else if (const std::string* other = OtherValueOf(leaf.values)) {
    made.by = By::kOtherValues;
    made.value = *other;
  }
  return made;
}

bool PlainFilter::Matches(const Node& node, std::span<const std::string_view> values) {
  if (node.kind == BoundNode::Kind::kLeaf) return MatchesLeaf(node, values[node.column]);
  const bool is_and = node.kind == BoundNode::Kind::kAnd;
  for (const Node& child : node.children) {
    if (Matches(child, values) != is_and) return !is_and;
  }
  return is_and;
}

bool PlainFilter::MatchesLeaf(const Node& node, std::string_view value) {
  const BoundLeaf& leaf = *node.leaf;
  if (value.data() == nullptr) return leaf.accepts_null;
  bool accepts = false;
  switch (node.by) {
    case By::kOneValue:
      accepts = value == node.value;
      break;
    case By::kOtherValues:
      accepts = value != node.value;
      break;
    case By::kSet:
      accepts = leaf.Accepts(value);
      break;
    case By::kKey:
      key_.clear();
      return format::AppendKeyIfFits(leaf.column, value, &key_) ? leaf.values.Contains(key_)
                                                                : leaf.accepts_null;
  }
  // All bytes fit.
  if (accepts == leaf.accepts_null || leaf.column.type == ColumnType::kBytes) return accepts;
  return format::FitsIndex(leaf.column, value) ? accepts : leaf.accepts_null;
}

}  // namespace tandem::engine

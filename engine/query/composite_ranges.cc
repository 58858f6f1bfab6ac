// Each column has a list of parts of keys: those of its values, and that of an absent one. Ranges
// are made of each combination of parts.
#include "engine/query/composite_ranges.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "index/key.h"

namespace tandem::engine {
namespace {

// Keys of one column, as a range where only the last column that is used has one.
struct ColumnParts {
  KeyRanges values;
  std::string absent;
};

bool HasSingleValues(const BoundLeaf& leaf) {
  return std::ranges::all_of(leaf.values.intervals(),
                             [](const ValueInterval& interval) { return interval.is_single(); });
}

class RangeMaker {
 public:
  RangeMaker(const std::vector<ColumnParts>& columns, bool all_may_be_absent, CompositeRanges* out)
      : columns_(columns), all_may_be_absent_(all_may_be_absent), out_(*out) {}

  // `known` of the columns before are in the prefix with a value.
  void Extend(size_t column, size_t known, const std::string& prefix) {
    const ColumnParts& parts = columns_[column];
    const bool is_last = column + 1 == columns_.size();
    for (const format::KeyRange& value : parts.values) {
      if (is_last) {
        Add({prefix + value.low, EndOf(prefix, value)}, known + 1);
      } else {
        Extend(column + 1, known + 1, prefix + value.low);
      }
    }
    const std::string without = prefix + parts.absent;
    if (!is_last) {
      Extend(column + 1, known, without);
    } else if (known > 0 || all_may_be_absent_) {
      Add(format::StartingWith(without), known);
    }
  }

 private:
  static std::optional<std::string> EndOf(const std::string& prefix,
                                          const format::KeyRange& value) {
    return value.high.has_value() ? prefix + *value.high : format::Successor(prefix);
  }

  void Add(format::KeyRange range, size_t known) {
    (known == columns_.size() ? out_.whole : out_.partial).push_back(std::move(range));
  }

  const std::vector<ColumnParts>& columns_;
  const bool all_may_be_absent_;
  CompositeRanges& out_;
};

// The conditions of an AND, or a single one.
std::span<const BoundNode> ConditionsOf(const BoundNode& node) {
  if (node.kind == BoundNode::Kind::kLeaf) return {&node, 1};
  return node.kind == BoundNode::Kind::kAnd ? std::span(node.children)
                                            : std::span<const BoundNode>();
}

// The one that is on the column.
std::optional<size_t> ConditionOn(std::span<const BoundNode> conditions,
                                  const format::IndexColumnRecord& column) {
  for (size_t i = 0; i < conditions.size(); ++i) {
    const BoundNode& child = conditions[i];
    if (child.kind != BoundNode::Kind::kLeaf || child.leaf.is_row_key || !child.leaf.has_ranges()) {
      continue;
    }
    if (format::HasSameValues(column, child.leaf.column)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CompositeRanges> FindCompositeRanges(const format::IndexRecord& index,
                                                   const BoundNode& node) {
  if (!index.is_of_several()) return std::nullopt;
  const std::span<const BoundNode> conditions = ConditionsOf(node);
  const bool needs_order = index.needs_order();
  CompositeRanges found;
  std::vector<ColumnParts> columns;
  size_t ranges = 1;
  for (const format::IndexColumnRecord& column : index.columns) {
    const std::optional<size_t> condition = ConditionOn(conditions, column);
    if (!condition.has_value()) break;
    const BoundLeaf& leaf = conditions[*condition].leaf;
    if (leaf.accepts_null) break;
    ColumnParts parts{.values = RangesOf(leaf, column), .absent = {}};
    ranges *= parts.values.size() + 1;
    const bool is_first = columns.empty();
    if (ranges > kCompositeRangesMax && !(needs_order && is_first)) break;
    format::AppendAbsentKey(column, &parts.absent);
    columns.push_back(std::move(parts));
    found.conditions.push_back(*condition);
    if (!HasSingleValues(leaf) || columns.size() == kCompositeColumnsMax) break;
  }
  if (columns.size() < (needs_order ? 1 : 2)) return std::nullopt;
  found.of_first = columns.front().values;
  RangeMaker(columns, needs_order, &found).Extend(0, 0, {});
  found.whole = Unite(std::move(found.whole));
  found.partial = Unite(std::move(found.partial));
  return found;
}

}  // namespace tandem::engine

// Evaluating a bound predicate on a row, and translating it to index key ranges.
#include "engine/predicate/bound.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/key_ranges.h"
#include "format/cell/overflow_value.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;

bool NodeMayAcceptAbsent(const BoundNode& node) {
  if (node.kind == Kind::kLeaf) {
    return node.leaf.is_row_key || node.leaf.column.is_of_row_key() || node.leaf.accepts_null;
  }
  const bool is_and = node.kind == Kind::kAnd;
  for (const BoundNode& child : node.children) {
    if (NodeMayAcceptAbsent(child) != is_and) return !is_and;
  }
  return is_and;
}

using ColumnNames = std::vector<std::pair<format::FamilyId, std::string_view>>;

void AddNodeColumns(const BoundNode& node, ColumnNames* columns) {
  if (node.kind == Kind::kLeaf && !node.leaf.is_row_key && !node.leaf.column.is_of_row_key()) {
    columns->emplace_back(node.leaf.column.family, node.leaf.column.qualifier);
  }
  for (const BoundNode& child : node.children) AddNodeColumns(child, columns);
}

// The index key of a bound. No stored value need have it.
std::string Encode(const ValueBound& bound, const format::IndexColumnRecord& column) {
  if (ComparesAsBytes(column.type)) return format::BoundKey(column, bound.key);
  std::string key = bound.key;
  if (column.descending) format::InvertIndexKey(&key);
  return key;
}

// The range between two ends given in the order of the index.
format::KeyRange Between(const std::optional<ValueBound>& low,
                         const std::optional<ValueBound>& high,
                         const format::IndexColumnRecord& column) {
  format::KeyRange range = format::PresentRange(column);
  if (low.has_value()) {
    std::string key = Encode(*low, column);
    // Every encoded key has a successor: the largest is that of an absent value in a descending
    // column.
    range.low = low->inclusive ? std::move(key) : *format::Successor(key);
  }
  if (high.has_value()) {
    std::string key = Encode(*high, column);
    range.high = high->inclusive ? *format::Successor(key) : std::move(key);
  }
  return range;
}

}  // namespace

ColumnType TextType(ColumnType type) {
  switch (type) {
    case ColumnType::kInt64Be:
      return ColumnType::kInt64;
    case ColumnType::kUint64Be:
      return ColumnType::kUint64;
    case ColumnType::kDoubleBe:
      return ColumnType::kDouble;
    case ColumnType::kBoolBe:
      return ColumnType::kBool;
    case ColumnType::kTimestampBe:
      return ColumnType::kTimestamp;
    default:
      return type;
  }
}

const format::Cell* FindNewest(const format::IndexColumnRecord& column,
                               std::span<const format::Cell> cells) {
  for (const format::Cell& cell : cells) {
    if (cell.qualifier == column.qualifier && cell.family == column.family) return &cell;
  }
  return nullptr;
}

std::vector<format::KeyRange> RangesOf(const BoundLeaf& leaf,
                                       const format::IndexColumnRecord& column) {
  std::vector<format::KeyRange> ranges;
  for (const ValueInterval& interval : leaf.values.intervals()) {
    format::KeyRange range = column.descending ? Between(interval.high, interval.low, column)
                                               : Between(interval.low, interval.high, column);
    // A range next to a bound that is not a value may be empty.
    if (!IsEmpty(range)) ranges.push_back(std::move(range));
  }
  if (column.descending) std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

ColumnSet BoundPredicate::Columns() const {
  ColumnNames names;
  AddNodeColumns(root_, &names);
  std::sort(names.begin(), names.end());  // In rising order each is added at the end.
  ColumnSet columns;
  for (const auto& [family, qualifier] : names) columns.Add(family, qualifier);
  return columns;
}

bool BoundPredicate::MayAcceptAbsent() const { return NodeMayAcceptAbsent(root_); }

Result<bool> BoundPredicate::Matches(std::string_view row, std::span<const format::Cell> cells) {
  values_cell_ = nullptr;
  row_put_ = format::RowKeyPut(row);
  return Matches(root_, row, cells);
}

Result<bool> BoundPredicate::Matches(const BoundNode& node, std::string_view row,
                                     std::span<const format::Cell> cells) {
  if (node.kind != Kind::kLeaf) {
    const bool is_and = node.kind == Kind::kAnd;
    for (const BoundNode& child : node.children) {
      ASSIGN_OR_RETURN(const bool matches, Matches(child, row, cells));
      if (matches != is_and) return !is_and;
    }
    return is_and;
  }
  const BoundLeaf& leaf = node.leaf;
  if (leaf.is_row_key) return leaf.values.Contains(row);
  if (leaf.any_version) [[unlikely]]
    return MatchesVersions(leaf, cells);
  const format::Cell* cell =
      leaf.column.is_of_row_key() ? &row_put_ : FindNewest(leaf.column, cells);
  if (cell == nullptr) return leaf.accepts_null;
  ASSIGN_OR_RETURN(const Verdict verdict, Judge(leaf, *cell));
  return verdict == Verdict::kAbsent ? leaf.accepts_null : verdict == Verdict::kTrue;
}

// The column's versions are values of one column.
Result<bool> BoundPredicate::MatchesVersions(const BoundLeaf& leaf,
                                             std::span<const format::Cell> cells) {
  bool has_any = false;
  for (const format::Cell& cell : cells) {
    if (cell.qualifier != leaf.column.qualifier || cell.family != leaf.column.family) continue;
    ASSIGN_OR_RETURN(const Verdict verdict, Judge(leaf, cell));
    if (verdict == Verdict::kAbsent) continue;
    has_any = true;
    if ((verdict == Verdict::kTrue) != leaf.every) return !leaf.every;
  }
  return has_any ? leaf.every : leaf.accepts_null;
}

// A value that does not fit the type is absent. All bytes fit, at any length.
Result<BoundPredicate::Verdict> BoundPredicate::Judge(const BoundLeaf& leaf,
                                                      const format::Cell& cell) {
  scratch_.clear();
  if (format::IsMultiValued(leaf.column)) return JudgeValues(leaf, cell);
  if (leaf.column.type == ColumnType::kText) return JudgeText(leaf, cell);
  if (leaf.column.type != ColumnType::kBytes) {
    const bool fits = format::AppendPutKey(leaf.column, cell, &scratch_);
    return fits ? Of(leaf.values.Contains(scratch_)) : Verdict::kAbsent;
  }
  if (leaf.values.is_all() && !leaf.test.has_value()) return Verdict::kTrue;
  if (leaf.values.empty()) return Verdict::kFalse;
  if (!cell.is_overflow()) return Of(leaf.Accepts(cell.value));
  RETURN_IF_ERROR(format::ReadOverflowValue(cell, &scratch_));
  return Of(leaf.Accepts(scratch_));
}

BoundPredicate::Verdict BoundPredicate::JudgeValues(const BoundLeaf& leaf,
                                                    const format::Cell& cell) {
  if (values_cell_ != &cell || *values_functions_ != leaf.column.functions) {
    format::ValuesOfPut(leaf.column, cell, &values_);
    values_cell_ = &cell;
    values_functions_ = &leaf.column.functions;
  }
  bool has_any = false;
  for (size_t i = 0; i < values_.size(); ++i) {
    std::string_view value = values_[i];
    scratch_.clear();
    if (leaf.column.type == ColumnType::kText) {
      if (!format::FitsIndex(leaf.column, value)) continue;
    } else {
      if (!format::AppendKeyIfFits(leaf.column, value, &scratch_)) continue;
      value = scratch_;
    }
    has_any = true;
    if (leaf.Accepts(value) != leaf.every) return Of(!leaf.every);
  }
  return has_any ? Of(leaf.every) : Verdict::kAbsent;
}

BoundPredicate::Verdict BoundPredicate::JudgeText(const BoundLeaf& leaf, const format::Cell& cell) {
  std::string_view text = cell.value;
  if (!leaf.column.functions.empty()) {
    if (!format::ValueOfPut(leaf.column, cell, &scratch_)) return Verdict::kAbsent;
    text = scratch_;
  } else if (cell.is_overflow()) {
    return Verdict::kAbsent;
  }
  return format::FitsIndex(leaf.column, text) ? Of(leaf.Accepts(text)) : Verdict::kAbsent;
}

}  // namespace tandem::engine

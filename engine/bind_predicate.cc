// BoundPredicate::Bind: from the user's tree to the bound one.
//
// 1. A column is looked up: its family must exist, its type is that of the first index over it.
// 2. A leaf becomes a set of values; literals become keys that compare as the column's values do.
// 3. NOT wanders down: AND and OR change places, a leaf becomes the complement of itself.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "engine/bound_predicate.h"

namespace tandem::engine {
namespace {

using Kind = Predicate::Kind;

const format::IndexColumnRecord* FindIndexColumn(const format::TableRecord& table,
                                                 format::FamilyId family,
                                                 std::string_view qualifier) {
  for (const format::IndexRecord& index : table.indexes) {
    if (index.state == format::IndexState::kDropping || index.columns.size() != 1) continue;
    const format::IndexColumnRecord& column = index.columns[0];
    if (column.family == family && column.qualifier == qualifier) return &column;
  }
  return nullptr;
}

size_t ValuesNeeded(Kind kind) {
  switch (kind) {
    case Kind::kBetween:
      return 2;
    case Kind::kIsNull:
    case Kind::kIsNotNull:
      return 0;
    default:
      return 1;
  }
}

class Binder {
 public:
  explicit Binder(const format::TableRecord& table) : table_(table) {}

  Result<BoundNode> Bind(const Predicate& predicate, bool negated) {
    BoundNode node;
    switch (predicate.kind()) {
      case Kind::kTrue:
        node.kind = negated ? BoundNode::Kind::kOr : BoundNode::Kind::kAnd;
        return node;
      case Kind::kNot:
        return Bind(predicate.children()[0], !negated);
      case Kind::kAnd:
      case Kind::kOr:
        node.kind = (predicate.kind() == Kind::kAnd) != negated ? BoundNode::Kind::kAnd
                                                                : BoundNode::Kind::kOr;
        for (const Predicate& child : predicate.children()) {
          ASSIGN_OR_RETURN(BoundNode bound, Bind(child, negated));
          Add(std::move(bound), &node);
        }
        return node;
      default:
        break;
    }
    node.kind = BoundNode::Kind::kLeaf;
    RETURN_IF_ERROR(BindLeaf(predicate, &node.leaf));
    if (negated) {
      node.leaf.values = node.leaf.values.Complement();
      node.leaf.accepts_null = !node.leaf.accepts_null;
    }
    return node;
  }

 private:
  // A group within a group of its kind is one with it.
  static void Add(BoundNode child, BoundNode* group) {
    if (child.kind != group->kind) {
      group->children.push_back(std::move(child));
      return;
    }
    std::move(child.children.begin(), child.children.end(), std::back_inserter(group->children));
  }

  Status BindLeaf(const Predicate& predicate, BoundLeaf* leaf) {
    const size_t count = predicate.values().size();
    if (predicate.kind() != Kind::kIn && count != ValuesNeeded(predicate.kind())) {
      return Status::InvalidArgument("a condition on column '" + predicate.qualifier() + "' has " +
                                     std::to_string(count) + " values, expected " +
                                     std::to_string(ValuesNeeded(predicate.kind())));
    }
    RETURN_IF_ERROR(BindColumn(predicate, leaf));
    leaf->accepts_null = predicate.kind() == Kind::kIsNull;
    ASSIGN_OR_RETURN(leaf->values, ValuesOf(predicate, *leaf));
    return {};
  }

  Status BindColumn(const Predicate& predicate, BoundLeaf* leaf) {
    leaf->is_row_key = predicate.is_row_key();
    if (leaf->is_row_key) return {};
    const format::FamilyRecord* family = predicate.family().empty()
                                             ? &table_.families.front()
                                             : table_.FindFamily(predicate.family());
    if (family == nullptr) {
      return Status::NotFound("table '" + table_.name + "' has no family '" + predicate.family() +
                              "'");
    }
    leaf->column.family = family->id;
    leaf->column.qualifier = predicate.qualifier();
    const format::IndexColumnRecord* indexed =
        FindIndexColumn(table_, family->id, predicate.qualifier());
    is_indexed_ = indexed != nullptr;
    if (is_indexed_) leaf->column.type = indexed->type;
    return {};
  }

  Result<ValueSet> ValuesOf(const Predicate& predicate, const BoundLeaf& leaf) const {
    if (predicate.kind() == Kind::kIsNull) return ValueSet();
    if (predicate.kind() == Kind::kIsNotNull) return ValueSet::All();
    if (predicate.kind() == Kind::kPrefix) return PrefixOf(predicate, leaf);
    std::vector<ValueBound> bounds;
    for (const std::string& literal : predicate.values()) {
      ASSIGN_OR_RETURN(ValueBound bound, BoundOf(literal, leaf));
      bounds.push_back(std::move(bound));
    }
    std::vector<ValueInterval> intervals;
    if (predicate.kind() == Kind::kIn) {
      for (const ValueBound& bound : bounds) intervals.push_back({bound, bound});
    } else if (predicate.kind() == Kind::kBetween) {
      intervals.push_back({bounds[0], bounds[1]});
    } else {
      intervals.push_back(Comparison(predicate.kind(), std::move(bounds[0])));
    }
    ValueSet values(std::move(intervals));
    return predicate.kind() == Kind::kNotEqual ? values.Complement() : values;
  }

  static ValueInterval Comparison(Kind kind, ValueBound bound) {
    bound.inclusive = kind != Kind::kLess && kind != Kind::kGreater;
    if (kind == Kind::kLess || kind == Kind::kLessOrEqual) return {std::nullopt, std::move(bound)};
    if (kind == Kind::kGreater || kind == Kind::kGreaterOrEqual) {
      return {std::move(bound), std::nullopt};
    }
    return {bound, bound};
  }

  Result<ValueSet> PrefixOf(const Predicate& predicate, const BoundLeaf& leaf) const {
    const std::string& prefix = predicate.values()[0];
    if (!leaf.is_row_key) {
      if (!ComparesAsBytes(leaf.column.type)) {
        return Status::InvalidArgument("column '" + leaf.column.qualifier +
                                       "' is neither bytes nor text: it has no prefixes");
      }
      format::IndexColumnRecord as_bytes = leaf.column;
      as_bytes.type = ColumnType::kBytes;
      RETURN_IF_ERROR(CheckFits(as_bytes, prefix));
    }
    ValueInterval interval{ValueBound{prefix, prefix, true}, std::nullopt};
    if (const auto after = format::Successor(prefix); after.has_value()) {
      interval.high = ValueBound{*after, *after, false};
    }
    return ValueSet({std::move(interval)});
  }

  Result<ValueBound> BoundOf(const std::string& literal, const BoundLeaf& leaf) const {
    if (leaf.is_row_key) return ValueBound{literal, literal, true};
    format::IndexColumnRecord column = leaf.column;
    column.type = TextType(column.type);
    RETURN_IF_ERROR(CheckFits(column, literal));
    if (ComparesAsBytes(column.type)) return ValueBound{literal, literal, true};
    ValueBound bound{{}, literal, true};
    RETURN_IF_ERROR(format::AppendIndexKey(column, literal, &bound.key));
    return bound;
  }

  // A column without an index takes any bytes.
  Status CheckFits(const format::IndexColumnRecord& column, const std::string& literal) const {
    if (!is_indexed_) return {};
    std::string key;
    const Status status = format::AppendIndexKey(column, literal, &key);
    if (status.ok()) return status;
    return Status::InvalidArgument("column '" + column.qualifier +
                                   "': " + std::string(status.message()));
  }

  const format::TableRecord& table_;
  bool is_indexed_ = false;  // The column of the leaf being bound.
};

}  // namespace

Result<BoundPredicate> BoundPredicate::Bind(const Predicate& predicate,
                                            const format::TableRecord& table) {
  BoundPredicate bound;
  ASSIGN_OR_RETURN(bound.root_, Binder(table).Bind(predicate, /*negated=*/false));
  return bound;
}

}  // namespace tandem::engine

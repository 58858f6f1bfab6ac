// See index_predicate.h.
#include "engine/predicate/index_predicate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/predicate/bound.h"
#include "index/put_key.h"
#include "tandem/limits.h"
#include "tandem/predicate.h"

namespace tandem::engine {
namespace {

bool NamesRowKey(const Predicate& predicate) {
  return predicate.is_row_key() || std::ranges::any_of(predicate.children(), NamesRowKey);
}

// The condition of what was bound. Adds its columns to `*columns`. Errors: kInvalidArgument.
Result<format::Condition> ConditionOf(const BoundNode& node,
                                      std::vector<format::IndexColumnRecord>* columns) {
  format::Condition condition;
  if (node.kind != BoundNode::Kind::kLeaf) {
    condition.kind = node.kind == BoundNode::Kind::kAnd ? format::Condition::Kind::kAnd
                                                        : format::Condition::Kind::kOr;
    for (const BoundNode& child : node.children) {
      ASSIGN_OR_RETURN(condition.children.emplace_back(), ConditionOf(child, columns));
    }
    return condition;
  }
  const BoundLeaf& leaf = node.leaf;
  if (format::IsMultiValued(leaf.column)) {
    return Status::InvalidArgument(
        format::Described(leaf.column) +
        " has several values in a row: WHERE of an index cannot be over it");
  }
  if (leaf.test.has_value() && leaf.test->regexp != nullptr) {
    return Status::InvalidArgument("it takes no REGEXP, as " + format::Described(leaf.column) +
                                   " has: use CONTAINS or PREFIX, or leave the condition out");
  }
  if (!leaf.column.joined.empty()) {
    return Status::InvalidArgument(
        format::Described(leaf.column) +
        " is of several columns: WHERE of an index compares one at a time");
  }
  const auto known =
      std::ranges::find_if(*columns, [&leaf](const format::IndexColumnRecord& column) {
        return format::HasSameValues(column, leaf.column);
      });
  condition.kind = format::Condition::Kind::kLeaf;
  condition.column = static_cast<size_t>(known - columns->begin());
  condition.values = leaf.values;
  condition.accepts_null = leaf.accepts_null;
  if (leaf.test.has_value()) {
    condition.part = leaf.test->part;
    condition.lacks_part = leaf.test->negated;
  }
  if (known == columns->end()) columns->push_back(leaf.column);
  return condition;
}

// The predicate with the families and types that its columns have now.
Predicate WithTypes(const Predicate& predicate, const format::TableRecord& table) {
  std::vector<Predicate> children;
  for (const Predicate& child : predicate.children()) children.push_back(WithTypes(child, table));
  switch (predicate.kind()) {
    case Predicate::Kind::kTrue:
      return predicate;
    case Predicate::Kind::kAnd:
      return Predicate::And(std::move(children));
    case Predicate::Kind::kOr:
      return Predicate::Or(std::move(children));
    case Predicate::Kind::kNot:
      return Predicate::Not(std::move(children.front()));
    default:
      break;
  }
  const format::FamilyRecord& family =
      predicate.family().empty() ? table.first_family() : *table.FindFamily(predicate.family());
  std::string column = family.options.name + ":" + predicate.qualifier();
  Predicate typed = Predicate::Compare(predicate.kind(), std::move(column), predicate.values());
  if (!predicate.functions().empty()) typed = typed.WithFunctions(predicate.functions());
  if (predicate.type().has_value()) return typed.As(*predicate.type());
  if (!predicate.functions().empty()) return typed;
  return typed.As(table.TypeOf(family.id, predicate.qualifier()));
}

}  // namespace

Result<format::IndexPredicate> BindIndexPredicate(const std::string& text,
                                                  const format::FunctionRegistry& functions,
                                                  const format::TableRecord& table) {
  if (text.size() > kIndexWhereBytesMax) {
    return Status::InvalidArgument("it has " + std::to_string(text.size()) +
                                   " bytes, the limit is " + std::to_string(kIndexWhereBytesMax));
  }
  ASSIGN_OR_RETURN(const Predicate predicate, Predicate::Parse(text));
  if (predicate.depth() > kIndexWhereDepthMax) {
    return Status::InvalidArgument("it has " + std::to_string(predicate.depth()) +
                                   " levels of AND, OR and NOT, the limit is " +
                                   std::to_string(kIndexWhereDepthMax));
  }
  if (predicate.parameter_count() > 0) return Status::InvalidArgument("it has a parameter");
  if (NamesRowKey(predicate)) return Status::InvalidArgument("it is over _row, which is no column");
  ASSIGN_OR_RETURN(const BoundPredicate bound,
                   BoundPredicate::Bind(predicate, table, {.functions = &functions}));
  format::IndexPredicate where{.text = WithTypes(predicate, table).ToString()};
  if (where.text.size() > kIndexWhereBytesMax) {
    return Status::InvalidArgument("with families and types it has " +
                                   std::to_string(where.text.size()) + " bytes, the limit is " +
                                   std::to_string(kIndexWhereBytesMax));
  }
  ASSIGN_OR_RETURN(where.root, ConditionOf(bound.root(), &where.columns));
  return where;
}

}  // namespace tandem::engine

// A partial index leaves out a row by what a source knew when it was written. If a column of the
// predicate expires later and the predicate becomes true by that, nothing is written that could
// have an entry, so the index serves no query (rule 31).
#include "engine/query/partial_index.h"

#include <algorithm>
#include <optional>

#include "engine/predicate/implication.h"
#include "engine/source/column_order.h"
#include "format/registry/registered.h"
#include "index/key.h"

namespace tandem::engine {
namespace {

using format::Condition;

// A column whose absence, once its Put vanished, may make the condition true; nullptr: none.
const format::IndexColumnRecord* FindVanishing(const format::TableRecord& table,
                                               const format::IndexPredicate& predicate,
                                               const Condition& condition) {
  if (condition.kind == Condition::Kind::kLeaf) {
    const format::IndexColumnRecord& column = predicate.columns[condition.column];
    const bool may_vanish = MayVanish(*table.FindFamily(column.family));
    return condition.accepts_null && may_vanish ? &column : nullptr;
  }
  for (const Condition& child : condition.children) {
    const format::IndexColumnRecord* column = FindVanishing(table, predicate, child);
    if (column != nullptr) return column;
  }
  return nullptr;
}

bool IsTrueOfAbsent(const Condition& condition) {
  if (condition.kind == Condition::Kind::kLeaf) return condition.accepts_null;
  return condition.kind == Condition::Kind::kAnd
             ? std::ranges::all_of(condition.children, IsTrueOfAbsent)
             : std::ranges::any_of(condition.children, IsTrueOfAbsent);
}

}  // namespace

bool CoversRows(const format::TableRecord& table, const format::IndexRecord& index,
                const BoundNode& node) {
  if (!index.where.has_value()) return true;
  const format::IndexPredicate& predicate = *index.where;
  return !format::IsUnusable(index) && FindVanishing(table, predicate, predicate.root) == nullptr &&
         Implies(node, predicate);
}

bool HasRowsWithoutCells(const format::IndexRecord& index) {
  return IsTrueOfAbsent(index.where->root);
}

std::string WhyNotCovering(const format::TableRecord& table, const format::IndexRecord& index) {
  const format::IndexPredicate& predicate = *index.where;
  if (format::IsUnusable(index)) return format::WhyUnusable(index);
  const format::IndexColumnRecord* column = FindVanishing(table, predicate, predicate.root);
  if (column != nullptr) {
    return "rows may come to satisfy its WHERE " + predicate.text + " when cells of " +
           format::Described(*column) + " expire, and it would not have them";
  }
  return "its rows are those WHERE " + predicate.text + ", which the query does not imply";
}

}  // namespace tandem::engine

// By recursion over both trees. What is known of a pair of nodes is kept: it would be asked for
// once for each way that leads there.
#include "engine/predicate/implication.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tandem::engine {
namespace {

using format::Condition;

bool IsSubset(const ValueSet& some, const ValueSet& all) {
  if (all.is_all()) return true;
  const ValueSet others = all.Complement();
  const std::array<const ValueSet*, 2> both = {&some, &others};
  return ValueSet::IntersectionOf(both).empty();
}

class Implication {
 public:
  explicit Implication(const format::IndexPredicate& predicate) : columns_(predicate.columns) {}

  bool Holds(const BoundNode& node, const Condition& condition) {
    const auto [known, is_new] = known_.try_emplace({&node, &condition}, false);
    if (is_new) known->second = Find(node, condition);
    return known->second;
  }

 private:
  bool Find(const BoundNode& node, const Condition& condition) {
    const auto implies_it = [&](const BoundNode& child) { return Holds(child, condition); };
    const auto is_implied = [&](const Condition& child) { return Holds(node, child); };
    if (condition.kind == Condition::Kind::kAnd) {
      return std::ranges::all_of(condition.children, is_implied);
    }
    if (node.kind == BoundNode::Kind::kOr) return std::ranges::all_of(node.children, implies_it);
    if (condition.kind == Condition::Kind::kOr &&
        std::ranges::any_of(condition.children, is_implied)) {
      return true;
    }
    if (node.kind == BoundNode::Kind::kAnd) return std::ranges::any_of(node.children, implies_it);
    return condition.kind == Condition::Kind::kLeaf && HoldsOfLeaves(node.leaf, condition);
  }

  bool HoldsOfLeaves(const BoundLeaf& leaf, const Condition& condition) const {
    if (leaf.is_row_key || !format::HasSameValues(leaf.column, columns_[condition.column])) {
      return false;
    }
    if (leaf.accepts_null && !condition.accepts_null) return false;
    if (condition.part.has_value()) {
      return leaf.test.has_value() && leaf.test->regexp == nullptr &&
             leaf.test->part == *condition.part && leaf.test->negated == condition.lacks_part;
    }
    // Of a test of texts, all values may satisfy it.
    return IsSubset(leaf.test.has_value() ? ValueSet::All() : leaf.values, condition.values);
  }

  const std::vector<format::IndexColumnRecord>& columns_;
  std::map<std::pair<const BoundNode*, const Condition*>, bool> known_;
};

}  // namespace

bool Implies(const BoundNode& node, const format::IndexPredicate& predicate) {
  return Implication(predicate).Holds(node, predicate.root);
}

}  // namespace tandem::engine

// Random predicates; see comparison.h.
#include <algorithm>

#include "tools/stress/comparison.h"
#include "tools/stress/schema.h"

namespace tandem::stress {
namespace {

using Kind = Predicate::Kind;

std::string ValueOf(Dice* dice, const std::string& column) {
  if (column == "d:word") return RandomWord(dice);
  if (column == "h:tag") return RandomTag(dice);
  if (column == "d:note") return std::string(dice->Below(4), 'a');
  return std::to_string(static_cast<int64_t>(dice->Below(120)) - 25);
}

Predicate Leaf(Dice* dice, const TableOptions& table, const std::vector<std::string>& keys) {
  static const std::vector<Kind> kKinds = {
      Kind::kEqual,   Kind::kEqual,          Kind::kNotEqual, Kind::kLess,    Kind::kLessOrEqual,
      Kind::kGreater, Kind::kGreaterOrEqual, Kind::kBetween,  Kind::kBetween, Kind::kIn,
      Kind::kPrefix,  Kind::kIsNull,         Kind::kIsNotNull};
  std::vector<std::string> columns = {"d:word", "d:gen", "d:note", "_row"};
  if (table.families.size() > 1) columns.insert(columns.end(), {"h:tag", "w:size"});
  const std::string column = dice->Pick(columns);
  const bool is_row = column == "_row";
  const bool is_number = column == "d:gen" || column == "w:size";
  Kind kind = dice->Pick(kKinds);
  if (is_row && (kind == Kind::kIsNull || kind == Kind::kIsNotNull)) kind = Kind::kLess;
  if (is_number && kind == Kind::kPrefix) kind = Kind::kEqual;
  const auto value = [&] { return is_row ? dice->Pick(keys) : ValueOf(dice, column); };
  uint64_t count = kind == Kind::kIsNull || kind == Kind::kIsNotNull ? 0 : 1;
  if (kind == Kind::kBetween) count = 2;
  if (kind == Kind::kIn) count = 1 + dice->Below(4);
  std::vector<std::string> values;
  while (values.size() < count) values.push_back(value());
  if (kind == Kind::kPrefix && column != "d:word") {
    values[0].resize(dice->Below(values[0].size() + 1));
  }
  return Predicate::Compare(kind, column, std::move(values));
}

}  // namespace

Predicate RandomPredicate(Dice* dice, const TableOptions& table,
                          const std::vector<std::string>& keys, int depth) {
  if (depth == 0 || dice->Chance(50)) return Leaf(dice, table, keys);
  if (dice->Chance(20)) return Predicate::Not(RandomPredicate(dice, table, keys, depth - 1));
  std::vector<Predicate> children;
  for (uint64_t count = 2 + dice->Below(2); count > 0; --count) {
    children.push_back(RandomPredicate(dice, table, keys, depth - 1));
  }
  return dice->Chance(65) ? Predicate::And(std::move(children))
                          : Predicate::Or(std::move(children));
}

}  // namespace tandem::stress

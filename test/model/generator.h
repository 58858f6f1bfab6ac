// Random tables, operations, predicates and queries for the model test. Values and keys come from
// small sets on purpose, so that rows are written again, index entries become stale, and the edges
// of the encodings (empty, 0x00, 0xFF, equal prefixes, extreme integers) are common.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/schema.h"
#include "tools/simulation/model.h"

namespace tandem::test {

/// One seed, one sequence of choices.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  uint64_t Next() { return random_(); }
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  bool Chance(uint64_t of_hundred) { return Below(100) < of_hundred; }
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[Below(items.size())];
  }

 private:
  std::mt19937_64 random_;
};

/// A table and what is written to it.
struct TablePlan {
  TableOptions options;
  std::vector<std::string> keys;
  std::vector<std::string> qualifiers;  ///< Of any family, as often as they shall come up.
  std::vector<std::string> values;      ///< Empty: what fits each column's name.
  bool user_timestamps = true;          ///< Some; small ones, extreme ones.
  bool unlogged = false;                ///< Written at kMemory mostly; the others never are.
  bool large = false;                   ///< Rows of many cells, and long values; written rarely.
};

/// The tables of one database: one version; three versions, three families and several regions; a
/// time to live in one of two families; one that is never logged; one of large rows. `rows` is how
/// many keys each has, as far as its kind allows.
std::vector<TablePlan> NewTables(Dice* dice, uint64_t rows);

/// `count` keys of 1 to some 60 bytes: short, long, with equal prefixes, of 0x00 and 0xFF.
std::vector<std::string> NewKeys(Dice* dice, uint64_t count);

class Generator {
 public:
  Generator(Dice* dice, const TablePlan* plan) : dice_(*dice), plan_(*plan) {}

  /// An operation on one row; `now_micros` is where timestamps near the present lie.
  ModelOperation Operation(int64_t now_micros);
  /// One that makes a row wide, or a value overflow.
  ModelOperation LargePut(int64_t now_micros);
  ModelOperation Put(int64_t now_micros);
  /// A Put that an index has to refuse.
  ModelOperation BadPut();
  Predicate NewPredicate() { return NewPredicate(3); }
  ScanOptions NewScan();
  /// Options that a query with `predicate` may have: any limit, any order, any index.
  QueryOptions NewQuery();
  ReadOptions NewRead(int64_t now_micros);
  /// The same over all columns.
  void BoundByTime(int64_t now_micros, ReadOptions* read);

 private:
  Predicate NewPredicate(int depth);
  Predicate Leaf();
  std::string Value(std::string_view qualifier);
  std::string Qualifier();
  const FamilyOptions& Family() { return dice_.Pick(plan_.options.families); }
  /// The family's name, or nothing where that means it.
  std::string NameOf(const FamilyOptions& family);
  std::string ColumnText(const std::string& qualifier);
  std::optional<int64_t> Timestamp(const FamilyOptions& family, int64_t now_micros);
  std::optional<int64_t> Bound(int64_t now_micros);
  const std::string& Key() { return dice_.Pick(plan_.keys); }

  Dice& dice_;
  const TablePlan& plan_;
};

}  // namespace tandem::test

// Random operations, predicates and queries over a table, for every tester of whole databases: the
// model test and its small world, the reliability suites, the stress harness. What differs between
// them is in the table's plan; which steps they take, and when, is their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/schema.h"
#include "tools/generator/dice.h"
#include "tools/generator/values.h"
#include "tools/simulation/model.h"

namespace tandem::test {

/// A column that operations write and predicates name.
struct ColumnPlan {
  std::string qualifier{};
  ValueKind kind = ValueKind::kPlain;
  std::string family{};  ///< Empty: of each.
  uint64_t weight = 1;   ///< How often it comes up, beside the others of its family.
};

/// The timestamps that operations give.
enum class Timestamps : uint8_t {
  kNone,
  kSmall,     ///< 1 to 7, mostly.
  kExpiring,  ///< In a family with a time to live some near the border of expiry.
  kAny,       ///< As kExpiring; and small ones, extreme ones, some near the present.
};

/// A table and what is written to it.
struct TablePlan {
  TableOptions options{};
  std::vector<std::string> keys{};
  std::vector<ColumnPlan> columns{};  ///< Some of each family.
  std::vector<std::string> values{};  ///< Of every column; empty: what fits its kind.
  Timestamps timestamps = Timestamps::kAny;
  uint64_t puts = 75;          ///< Of a hundred operations; the others delete.
  uint64_t large_puts = 0;     ///< Of a hundred: they make a row wide, or a value overflow.
  std::string large_family{};  ///< Of those; empty: any.
  bool casts = false;          ///< Conditions may cast their columns to any of three types.
  bool functions = false;      ///< Conditions may be of functions of their columns.
  bool unlogged = false;       ///< Written at Durability::kMemory mostly; the others never are.
};

/// Threads: one. Lifetime: dice and plan outlive it.
class Generator {
 public:
  Generator(Dice* dice, const TablePlan* plan) : dice_(*dice), plan_(*plan) {}

  /// An operation on one row; `now_micros` is where timestamps near the present lie.
  ModelOperation Operation(int64_t now_micros);
  ModelOperation Put(int64_t now_micros);
  /// One that makes a row wide, or a value overflow.
  ModelOperation LargePut(int64_t now_micros);
  /// A Put that an index has to refuse. Requires: the first family has an indexed column of each of
  /// text, integers and bytes, and one without an index.
  ModelOperation BadPut();
  Predicate NewPredicate() { return dice_.Chance(15) ? Conjunction() : NewPredicate(3); }
  /// An AND of two to four conditions, most of them on one column.
  Predicate Conjunction();
  ScanOptions NewScan();
  /// Options that a query may have: any limit, any order, any index.
  QueryOptions NewQuery();
  /// The same for this predicate: sometimes all indexes that can serve a condition of its AND.
  QueryOptions NewQuery(const Predicate& predicate);
  /// Any columns, families and number of versions; not bounded by time.
  ReadOptions NewRead();
  void BoundByTime(int64_t now_micros, ReadOptions* read);

 private:
  std::vector<RowRange> MergedRanges();
  std::vector<RowRange> Ranges();
  Predicate NewPredicate(int depth);
  Predicate Leaf();
  std::optional<Predicate> CompositeAnd();
  /// Sometimes the predicate of a partial index, and conditions besides.
  std::optional<Predicate> PartialAnd();
  std::optional<ColumnType> Cast();
  std::optional<Predicate> LeafOfTrigrams(Predicate::Kind kind);
  Predicate FunctionLeaf(Predicate::Kind kind);
  std::optional<Predicate> TupleLeaf();
  Predicate RowKeyLeaf(Predicate::Kind kind);
  Predicate KeyPartLeaf(Predicate::Kind kind, const Functions& functions,
                        std::optional<ColumnType> asked);
  bool AskForCovered(ReadOptions* read);
  std::string Value(ValueKind kind);
  const FamilyOptions& Family() { return dice_.Pick(plan_.options.families); }
  const ColumnPlan& Column(const FamilyOptions& family);
  const ColumnPlan& ColumnOf(ValueKind kind) const;
  /// The family's name, or nothing where that means it.
  std::string NameOf(const FamilyOptions& family);
  std::string ColumnText(const FamilyOptions& family, const std::string& qualifier);
  ModelOperation Update(ModelOperation::Kind kind, int64_t now_micros);
  ModelOperation NewOperation(ModelOperation::Kind kind, const FamilyOptions& family,
                              int64_t now_micros);
  std::optional<int64_t> Timestamp(const FamilyOptions& family, int64_t now_micros);
  std::optional<int64_t> Bound(int64_t now_micros);
  const std::string& Key() { return dice_.Pick(plan_.keys); }

  Dice& dice_;
  const TablePlan& plan_;
};

/// One function of a column, or two.
Functions RandomFunctions(Dice* dice);
/// Such that an index may have them of the row key.
Functions RandomKeyFunctions(Dice* dice);
/// Of all columns of a family.
Functions RandomFamilyFunctions(Dice* dice);
/// The predicate of a partial index: over one to three columns of the plan.
std::string RandomWhere(Dice* dice, const TablePlan& plan);
/// Whether the index depends on a column of the family, which is not the first.
bool DependsOn(const IndexOptions& index, const std::string& family);
/// Whether rows have an order by the index.
bool HasOrder(const IndexOptions& index);

/// A column that only the large Puts of a generator write.
std::string LargeColumn(uint64_t number);

/// The indexes of the table that serve each the predicate or, where it is an AND, one of its
/// conditions; a cast to a type is not looked at.
std::vector<std::string> IndexesOf(const Predicate& predicate, const TableOptions& table);

/// The predicate with parameters in the place of the values of some comparisons. Adds their values
/// to `*values`, the first parameter's first.
Predicate WithParameters(Dice* dice, const Predicate& predicate, std::vector<std::string>* values);

}  // namespace tandem::test

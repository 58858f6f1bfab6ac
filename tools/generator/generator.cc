// See generator.h.
#include "tools/generator/generator.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "format/functions.h"
#include "format/ordered_bytes.h"
#include "format/value_text.h"
#include "tools/generator/regexps.h"
#include "tools/simulation/program_functions.h"

namespace tandem::test {
namespace {

using Kind = ModelOperation::Kind;

constexpr uint64_t kColumnsMax = 4;  // Of one Put.

bool IsOf(const ColumnPlan& column, const FamilyOptions& family) {
  return column.family.empty() || column.family == family.name;
}

const std::string& FamilyMeant(const TableOptions& table, const std::string& name) {
  return name.empty() ? table.families[0].name : name;
}

// Of bytes and text alone.
bool IsOfText(Predicate::Kind kind) {
  using Kind = Predicate::Kind;
  return kind == Kind::kPrefix || kind == Kind::kContains || kind == Kind::kRegexp;
}

// Whether the index may lead to what has a text or matches a pattern.
bool HasTrigramsOf(const IndexColumn& column, const Predicate& predicate) {
  return IsOfText(predicate.kind()) && column.functions == Functions{Function::Trigrams()} &&
         predicate.functions().empty() && predicate.qualifier() == column.qualifier &&
         predicate.family() == column.family;
}

size_t ValueCount(Dice* dice, Predicate::Kind kind) {
  using Kind = Predicate::Kind;
  if (kind == Kind::kIsNull || kind == Kind::kIsNotNull) return 0;
  if (kind == Kind::kIn) return dice->Below(5);
  return kind == Kind::kBetween ? 2 : 1;
}

Function RandomMultiValued(Dice* dice) {
  switch (dice->Below(4)) {
    case 0:
      return Function::Words();
    case 1:
      return Function::Trigrams();
    case 2:
      return Function::JsonEach("$");
    default:
      return Function::Split(dice->Pick(std::vector<std::string>{"a", "e", "1", "\xff"}));
  }
}

size_t CountJoined(const Functions& functions) {
  size_t count = 0;
  for (const Function& function : functions) {
    count += static_cast<size_t>(
        std::ranges::count(function.parts, ConcatPart::Kind::kColumn, &ConcatPart::kind));
  }
  return count;
}

// What functions make of a stored value, one of several; nullopt: nothing. `other`: the value of
// the columns that they join.
std::optional<std::string> OneMadeOf(const Functions& asked, const std::string& stored, Dice* dice,
                                     const std::string& other = {}) {
  const Functions functions = Resolved(asked);
  const auto timestamp = static_cast<int64_t>(dice->Below(9));
  const std::vector<std::string_view> joined(CountJoined(functions), other);
  std::string value;
  if (!format::AreMultiValued(functions)) {
    const bool is_made = format::ApplyFunctions(functions, stored, timestamp, &value, joined);
    return is_made ? std::optional(std::move(value)) : std::nullopt;
  }
  format::ValueList values;
  format::ApplyMultiValued(functions, stored, timestamp, &values, joined);
  if (values.empty()) return std::nullopt;
  return std::string(values[dice->Below(values.size())]);
}

}  // namespace

namespace {

Predicate RandomWhereLeaf(Dice* dice, const TablePlan& plan) {
  using Kind = Predicate::Kind;
  static const std::vector<Kind> kKinds = {Kind::kEqual,  Kind::kEqual,    Kind::kEqual,
                                           Kind::kIsNull, Kind::kIsNull,   Kind::kIsNotNull,
                                           Kind::kIn,     Kind::kNotEqual, Kind::kGreaterOrEqual};
  const ColumnPlan& column = dice->Pick(plan.columns);
  const std::string family =
      column.family.empty() ? dice->Pick(plan.options.families).name : column.family;
  const Kind kind = dice->Pick(kKinds);
  std::vector<std::string> values(ValueCount(dice, kind));
  for (std::string& value : values) {
    value = plan.values.empty() ? RandomValue(dice, column.kind) : dice->Pick(plan.values);
    constexpr size_t kBytesMax = 40;
    if (column.kind != ValueKind::kText && value.size() > kBytesMax) value.resize(kBytesMax);
  }
  Predicate leaf = Predicate::Compare(kind, family + ":" + column.qualifier, std::move(values));
  if (plan.functions && column.kind == ValueKind::kText && dice->Chance(15)) {
    leaf = leaf.WithFunctions({Function::Lower()});
  }
  return dice->Chance(20) ? Predicate::Not(std::move(leaf)) : leaf;
}

bool NamesFamily(const Predicate& predicate, const std::string& family) {
  return predicate.family() == family ||
         std::ranges::any_of(predicate.children(), [&family](const Predicate& child) {
           return NamesFamily(child, family);
         });
}

}  // namespace

std::string RandomWhere(Dice* dice, const TablePlan& plan) {
  Predicate where = RandomWhereLeaf(dice, plan);
  for (uint64_t more = dice->Below(3); more > 0; --more) {
    std::vector<Predicate> both = {RandomWhereLeaf(dice, plan), std::move(where)};
    where = dice->Chance(50) ? Predicate::And(std::move(both)) : Predicate::Or(std::move(both));
  }
  if (dice->Chance(10)) where = Predicate::Not(std::move(where));
  return where.ToString();
}

bool DependsOn(const IndexOptions& index, const std::string& family) {
  const auto is_over = [&](const IndexColumn& column) {
    return column.family == family ||
           std::ranges::any_of(column.functions, [&](const Function& function) {
             return std::ranges::find(function.parts, family, &ConcatPart::family) !=
                    function.parts.end();
           });
  };
  return std::ranges::any_of(index.columns, is_over) ||
         (!index.where.empty() && NamesFamily(Predicate::Parse(index.where).value(), family));
}

bool HasOrder(const IndexOptions& index) {
  return !format::AreMultiValued(index.columns[0].functions);
}

Functions RandomFunctions(Dice* dice) {
  Functions functions;
  for (uint64_t count = dice->Chance(70) ? 1 : 2; count > 0; --count) {
    if (dice->Chance(25) && !format::AreMultiValued(functions)) {
      functions.push_back(RandomMultiValued(dice));
      continue;
    }
    switch (dice->Below(12)) {
      case 0:
        functions.push_back(Function::Lower());
        break;
      case 1:
        functions.push_back(Function::Upper());
        break;
      case 2:
        functions.push_back(Function::Reverse());
        break;
      case 3:
      case 4:
        functions.push_back(Function::Substring(1 + dice->Below(3), dice->Below(3)));
        break;
      case 5:
        functions.push_back(Function::Length());
        break;
      case 6:
        functions.push_back(Function::Bucket(1 + dice->Below(6)));
        break;
      case 7:
        functions.push_back(Function::Json("$"));  // Integers are JSON.
        break;
      case 8:
        functions.push_back(Function::SubstringBytes(1 + dice->Below(3), dice->Below(3)));
        break;
      case 9:
        functions.push_back(Function::SplitPart(dice->Chance(50) ? "1" : "a", 1 + dice->Below(3)));
        break;
      case 10:
        functions.push_back(Function::Concat(
            {functions.empty() && dice->Chance(50) ? ConcatPart::Value() : ConcatPart::Text("a"),
             ConcatPart::Value()}));
        break;
      default:
        if (functions.empty()) functions.push_back(Function::TimestampOf());
        if (dice->Chance(50)) functions.push_back(Function::DateTrunc("second"));
    }
  }
  return functions;
}

Functions RandomKeyFunctions(Dice* dice) {
  Functions functions;
  do {
    functions = RandomFunctions(dice);
  } while (format::AreMultiValued(functions) ||
           functions.front().kind == FunctionKind::kTimestampOf);
  return functions;
}

Functions RandomFamilyFunctions(Dice* dice) {
  Functions functions = {dice->Chance(60) ? Function::MapKeys() : Function::MapValues()};
  if (dice->Chance(60)) return functions;
  Functions more = RandomKeyFunctions(dice);
  // What a function returns is joined once.
  std::erase_if(more, [](const Function& f) { return f.kind == FunctionKind::kConcat; });
  functions.insert(functions.end(), more.begin(), more.end());
  return functions;
}

std::string LargeColumn(uint64_t number) { return "column-" + std::to_string(number); }

const ColumnPlan& Generator::Column(const FamilyOptions& family) {
  uint64_t weights = 0;
  for (const ColumnPlan& column : plan_.columns) weights += IsOf(column, family) * column.weight;
  uint64_t at = dice_.Below(weights);
  for (const ColumnPlan& column : plan_.columns) {
    const uint64_t weight = IsOf(column, family) * column.weight;
    if (at < weight) return column;
    at -= weight;
  }
  return plan_.columns.back();
}

const ColumnPlan& Generator::ColumnOf(ValueKind kind) const {
  return *std::find_if(plan_.columns.begin(), plan_.columns.end(),
                       [kind](const ColumnPlan& column) { return column.kind == kind; });
}

std::string Generator::Value(ValueKind kind) {
  return plan_.values.empty() ? RandomValue(&dice_, kind) : dice_.Pick(plan_.values);
}

std::string Generator::NameOf(const FamilyOptions& family) {
  const bool is_first = family.name == plan_.options.families[0].name;
  return is_first && dice_.Chance(50) ? "" : family.name;
}

// A column as a predicate names it.
std::string Generator::ColumnText(const FamilyOptions& family, const std::string& qualifier) {
  const std::string name = NameOf(family);
  if (!name.empty()) return name + ":" + qualifier;
  return qualifier.empty() ? family.name + ":" : qualifier;
}

std::optional<int64_t> Generator::Timestamp(const FamilyOptions& family, int64_t now_micros) {
  if (plan_.timestamps == Timestamps::kNone) return std::nullopt;
  const auto small = [&] { return 1 + static_cast<int64_t>(dice_.Below(7)); };
  if (plan_.timestamps == Timestamps::kSmall) {
    if (dice_.Chance(12)) return std::nullopt;
    return small();
  }
  if (family.ttl_micros > 0 && dice_.Chance(40)) {
    // Around the border of expiry, and now and then in the future.
    return now_micros + 20'000 - static_cast<int64_t>(dice_.Below(300'000));
  }
  if (plan_.timestamps == Timestamps::kExpiring || dice_.Chance(60)) return std::nullopt;
  if (dice_.Chance(3)) return std::numeric_limits<int64_t>::max();
  if (dice_.Chance(3)) return std::numeric_limits<int64_t>::min();
  if (dice_.Chance(40)) return now_micros - static_cast<int64_t>(dice_.Below(2000));
  return small();
}

ModelOperation Generator::NewOperation(Kind kind, const FamilyOptions& family, int64_t now_micros) {
  const bool is_of_family = kind != Kind::kDeleteRow;
  return {kind, plan_.options.name,           Key(), is_of_family ? NameOf(family) : "",
          {},   Timestamp(family, now_micros)};
}

ModelOperation Generator::Put(int64_t now_micros) {
  const FamilyOptions& family = Family();
  ModelOperation put = NewOperation(Kind::kPut, family, now_micros);
  const uint64_t columns = dice_.Chance(60) ? 1 : 1 + dice_.Below(kColumnsMax);
  // A small table has fewer columns than that.
  for (uint64_t tries = 0; put.columns.size() < columns && tries < 4 * kColumnsMax; ++tries) {
    const ColumnPlan& column = Column(family);
    const bool is_new =
        std::none_of(put.columns.begin(), put.columns.end(),
                     [&](const auto& other) { return other.first == column.qualifier; });
    if (is_new) put.columns.emplace_back(column.qualifier, Value(column.kind));
  }
  return put;
}

ModelOperation Generator::LargePut(int64_t now_micros) {
  ModelOperation put = Put(now_micros);
  if (!plan_.large_family.empty()) put.family = plan_.large_family;
  if (dice_.Chance(40)) {
    put.columns = {{ColumnOf(ValueKind::kPlain).qualifier,
                    std::string(65'000 + dice_.Below(dice_.Chance(5) ? 2'000'000 : 2'000),
                                static_cast<char>('a' + dice_.Below(20)))}};
    return put;
  }
  put.columns.clear();
  // Neighbours of what was written before, and over it.
  const uint64_t first = dice_.Below(400), count = 250 + dice_.Below(250);
  for (uint64_t number = first; number < first + count; ++number) {
    put.columns.emplace_back(LargeColumn(number), std::string(dice_.Below(400), 'l'));
  }
  return put;
}

ModelOperation Generator::BadPut() {
  ModelOperation put = Put(0);
  put.family = plan_.options.families[0].name;
  switch (dice_.Below(3)) {
    case 0:
      put.columns = {{ColumnOf(ValueKind::kInteger).qualifier, "12x"}};
      break;
    case 1:
      put.columns = {{ColumnOf(ValueKind::kPlain).qualifier, "fine"},
                     {ColumnOf(ValueKind::kText).qualifier, "\xc3("}};
      break;
    default:
      put.columns = {{ColumnOf(ValueKind::kBytes).qualifier, std::string(2046, 'b')}};
  }
  return put;
}

// Columns of their own, which hold integers, or grow in small steps.
ModelOperation Generator::Update(Kind kind, int64_t now_micros) {
  ModelOperation update = NewOperation(kind, Family(), now_micros);
  update.timestamp.reset();
  if (kind == Kind::kAppend) {
    update.columns = {{"list", std::to_string(dice_.Below(100)) + ","}};
    return update;
  }
  update.columns = {{"count", std::to_string(static_cast<int64_t>(dice_.Below(20)) - 5)}};
  if (dice_.Chance(20)) {  // Perhaps a version of the future, which increments must not miss.
    ModelOperation put = NewOperation(Kind::kPut, Family(), now_micros);
    put.columns = std::move(update.columns);
    return put;
  }
  if (dice_.Chance(20)) update.columns.emplace_back("more", "1");
  return update;
}

ModelOperation Generator::Operation(int64_t now_micros) {
  if (dice_.Chance(plan_.large_puts)) return LargePut(now_micros);
  if (dice_.Chance(plan_.puts)) return Put(now_micros);
  const uint64_t choice = dice_.Below(13);
  if (choice >= 10) return Update(choice < 12 ? Kind::kIncrement : Kind::kAppend, now_micros);
  const Kind kind = choice < 4   ? Kind::kDeleteCell
                    : choice < 7 ? Kind::kDeleteColumn
                    : choice < 8 ? Kind::kDeleteFamily
                                 : Kind::kDeleteRow;
  const FamilyOptions& family = Family();
  ModelOperation operation = NewOperation(kind, family, now_micros);
  const bool names_column = kind == Kind::kDeleteCell || kind == Kind::kDeleteColumn;
  if (names_column) operation.columns = {{Column(family).qualifier, ""}};
  return operation;
}

Predicate Generator::Conjunction() {
  std::vector<Predicate> conditions;
  for (uint64_t count = 2 + dice_.Below(3); count > 0; --count) {
    const uint64_t choice = dice_.Below(100);
    conditions.push_back(choice < 75   ? Leaf()
                         : choice < 90 ? Predicate::Or({Leaf(), Leaf()})
                                       : Predicate::Not(Leaf()));
  }
  return Predicate::And(std::move(conditions));
}

Predicate Generator::NewPredicate(int depth) {
  if (std::optional<Predicate> conditions = CompositeAnd()) return *std::move(conditions);
  if (std::optional<Predicate> conditions = PartialAnd()) return *std::move(conditions);
  if (depth == 0 || dice_.Chance(45)) return dice_.Chance(3) ? Predicate() : Leaf();
  if (dice_.Chance(25)) return Predicate::Not(NewPredicate(depth - 1));
  std::vector<Predicate> children;
  for (uint64_t count = 2 + dice_.Below(2); count > 0; --count) {
    children.push_back(NewPredicate(depth - 1));
  }
  return dice_.Chance(60) ? Predicate::And(std::move(children))
                          : Predicate::Or(std::move(children));
}

// Sometimes conditions on the first columns of an index over several, mostly of single values.
std::optional<Predicate> Generator::CompositeAnd() {
  std::vector<const IndexOptions*> composite;
  for (const IndexOptions& index : plan_.options.indexes) {
    if (index.columns.size() > 1) composite.push_back(&index);
  }
  if (composite.empty() || !dice_.Chance(15)) return std::nullopt;
  const IndexOptions& index = *dice_.Pick(composite);
  const size_t count = 2 + dice_.Below(index.columns.size() - 1);
  std::vector<Predicate> conditions;
  for (size_t i = 0; i < count; ++i) {
    const IndexColumn& column = index.columns[i];
    if (column.is_row_key) {
      conditions.push_back(KeyPartLeaf(Predicate::Kind::kEqual, column.functions, column.type));
      continue;
    }
    if (!column.functions.empty()) {
      conditions.push_back(Leaf());
      continue;
    }
    using Kind = Predicate::Kind;
    static const std::vector<Kind> kKinds = {Kind::kEqual,  Kind::kEqual,   Kind::kEqual,
                                             Kind::kIn,     Kind::kLess,    Kind::kGreaterOrEqual,
                                             Kind::kIsNull, Kind::kBetween, Kind::kIsNotNull};
    const Kind kind = dice_.Chance(i + 1 < count ? 70 : 30) ? Kind::kEqual : dice_.Pick(kKinds);
    std::vector<std::string> values(ValueCount(&dice_, kind));
    const ValueKind literals =
        column.type == ColumnType::kInt64
            ? ValueKind::kInteger
            : (column.type == ColumnType::kText ? ValueKind::kText : ValueKind::kBytes);
    for (std::string& value : values) value = Value(literals);
    conditions.push_back(
        Predicate::Compare(kind, FamilyMeant(plan_.options, column.family) + ":" + column.qualifier,
                           std::move(values))
            .As(column.type));
  }
  if (dice_.Chance(20)) conditions.push_back(Leaf());
  return Predicate::And(std::move(conditions));
}

std::optional<Predicate> Generator::PartialAnd() {
  std::vector<const IndexOptions*> partial;
  for (const IndexOptions& index : plan_.options.indexes) {
    if (!index.where.empty()) partial.push_back(&index);
  }
  if (partial.empty() || !dice_.Chance(15)) return std::nullopt;
  const IndexOptions& index = *dice_.Pick(partial);
  const IndexColumn& column = index.columns[0];
  std::vector<Predicate> conditions = {Predicate::Parse(index.where).value()};
  if (dice_.Chance(80) && column.functions.empty()) {
    const auto planned = std::ranges::find(plan_.columns, column.qualifier, &ColumnPlan::qualifier);
    const ValueKind kind = column.type == ColumnType::kInt64  ? ValueKind::kInteger
                           : column.type == ColumnType::kText ? ValueKind::kText
                           : planned == plan_.columns.end()   ? ValueKind::kBytes
                                                              : planned->kind;
    const std::string name = FamilyMeant(plan_.options, column.family) + ":" + column.qualifier;
    conditions.push_back((dice_.Chance(60) ? Predicate::Equal(name, Value(kind))
                                           : Predicate::GreaterOrEqual(name, Value(kind)))
                             .As(column.type));
  }
  if (dice_.Chance(30)) conditions.push_back(Leaf());
  return Predicate::And(std::move(conditions));
}

// A comparison of tuples: of the columns of an index, and often of the row key after them.
std::optional<Predicate> Generator::TupleLeaf() {
  using Kind = Predicate::Kind;
  static const std::vector<Kind> kKinds = {Kind::kEqual,          Kind::kLess,
                                           Kind::kLessOrEqual,    Kind::kGreater,
                                           Kind::kGreaterOrEqual, Kind::kBetween};
  const Kind kind = dice_.Pick(kKinds);
  std::vector<Predicate> columns;
  for (const IndexColumn& column : dice_.Pick(plan_.options.indexes).columns) {
    if (!column.functions.empty()) continue;
    std::vector<std::string> values(ValueCount(&dice_, kind));
    const ValueKind literals = column.type == ColumnType::kInt64  ? ValueKind::kInteger
                               : column.type == ColumnType::kText ? ValueKind::kText
                                                                  : ValueKind::kBytes;
    for (std::string& value : values) value = Value(literals);
    columns.push_back(
        Predicate::Compare(kind, FamilyMeant(plan_.options, column.family) + ":" + column.qualifier,
                           std::move(values))
            .As(column.type));
    if (dice_.Chance(30)) break;
  }
  if (dice_.Chance(70)) columns.push_back(RowKeyLeaf(kind));
  if (columns.size() < 2) return std::nullopt;
  if (dice_.Chance(20)) std::swap(columns.front(), columns.back());
  return Predicate::Tuple(std::move(columns));
}

Predicate Generator::Leaf() {
  using Kind = Predicate::Kind;
  static const std::vector<Kind> kKinds = {
      Kind::kEqual,   Kind::kEqual,       Kind::kEqual,    Kind::kNotEqual,
      Kind::kLess,    Kind::kLessOrEqual, Kind::kGreater,  Kind::kGreaterOrEqual,
      Kind::kBetween, Kind::kIn,          Kind::kPrefix,   Kind::kIsNull,
      Kind::kIsNull,  Kind::kIsNotNull,   Kind::kContains, Kind::kRegexp};
  if (dice_.Chance(6)) {
    if (std::optional<Predicate> tuple = TupleLeaf()) return *std::move(tuple);
  }
  Kind kind = dice_.Pick(kKinds);
  if (dice_.Chance(8)) return RowKeyLeaf(kind);
  if (IsOfText(kind) && dice_.Chance(40)) {
    if (std::optional<Predicate> leaf = LeafOfTrigrams(kind)) return *std::move(leaf);
  }
  if (plan_.functions && dice_.Chance(5)) {
    return KeyPartLeaf(kind, RandomKeyFunctions(&dice_), std::nullopt);
  }
  if (plan_.functions && dice_.Chance(25)) return FunctionLeaf(kind);
  const FamilyOptions& family = Family();
  const ColumnPlan& column = Column(family);
  const std::optional<ColumnType> cast = Cast();
  const ValueKind literals = cast == ColumnType::kInt64 ? ValueKind::kInteger : column.kind;
  bool is_part = IsOfText(kind);
  if (literals == ValueKind::kInteger && std::exchange(is_part, false)) kind = Kind::kEqual;
  const bool is_outside = dice_.Chance(8);
  std::vector<std::string> values(ValueCount(&dice_, kind));
  for (std::string& value : values) {
    value = is_outside && dice_.Chance(70) ? RandomOutsider(&dice_, literals) : Value(literals);
  }
  if (kind == Kind::kRegexp) {
    values[0] = RandomRegexp(&dice_, values[0]);
  } else if (is_part && !is_outside && !values.empty()) {
    values[0].resize(dice_.Below(values[0].size() + 1));
    if (kind == Kind::kContains) values[0].erase(0, dice_.Below(3));
  }
  const Predicate leaf =
      Predicate::Compare(kind, ColumnText(family, column.qualifier), std::move(values));
  return cast.has_value() ? leaf.As(*cast) : leaf;
}

// Of what an index has the trigrams of; nullopt: there is no such index.
std::optional<Predicate> Generator::LeafOfTrigrams(Predicate::Kind kind) {
  for (const IndexOptions& index : plan_.options.indexes) {
    const IndexColumn& column = index.columns[0];
    if (column.functions != Functions{Function::Trigrams()}) continue;
    std::string value = Value(dice_.Chance(80) ? ValueKind::kText : ValueKind::kBytes);
    if (kind == Predicate::Kind::kRegexp) value = RandomRegexp(&dice_, value);
    std::string name = FamilyMeant(plan_.options, column.family) + ":" + column.qualifier;
    const Predicate leaf = Predicate::Compare(kind, std::move(name), {std::move(value)});
    return leaf.As(dice_.Chance(60) ? ColumnType::kText : ColumnType::kBytes);
  }
  return std::nullopt;
}

// Of any functions of any column, or of those of an index. Values are what they make of others.
Predicate Generator::FunctionLeaf(Predicate::Kind kind) {
  const FamilyOptions& family = Family();
  const ColumnPlan& plan = Column(family);
  Functions functions = RandomFunctions(&dice_);
  std::string column = ColumnText(family, plan.qualifier);
  const IndexColumn& indexed = dice_.Pick(plan_.options.indexes).columns[0];
  std::optional<ColumnType> cast = Cast();
  if (indexed.is_row_key) return KeyPartLeaf(kind, indexed.functions, indexed.type);
  const ColumnPlan& other = Column(family);
  const bool may_join = !format::AreMultiValued(functions) && other.qualifier != plan.qualifier;
  if (may_join && dice_.Chance(15)) {
    functions.push_back(
        Function::Concat({ConcatPart::Value(), ConcatPart::Column(family.name, other.qualifier)}));
    if (dice_.Chance(20)) functions.push_back(Function::Split("1"));
  }
  if (dice_.Chance(15)) {
    functions = RandomFamilyFunctions(&dice_);
    column = family.name + ":";
  } else if (!indexed.functions.empty()) {
    functions = indexed.functions;
    column = FamilyMeant(plan_.options, indexed.family) + ":" + indexed.qualifier;
    cast = indexed.type;
  }
  const ColumnType type = *format::TypeOfFunctions(functions, cast);
  const bool is_text = type == ColumnType::kText || type == ColumnType::kBytes;
  if (!is_text && IsOfText(kind)) kind = Predicate::Kind::kEqual;
  const bool is_of_qualifiers = functions.front().kind == FunctionKind::kMapKeys;
  std::vector<std::string> values(ValueCount(&dice_, kind));
  for (std::string& value : values) {
    const std::string input = is_of_qualifiers ? Column(Family()).qualifier : Value(plan.kind);
    const std::optional<std::string> made = OneMadeOf(functions, input, &dice_, Value(other.kind));
    const bool fits = is_text || (made.has_value() && format::ParseInt64(*made).has_value());
    value = made.has_value() && fits ? *made : std::to_string(dice_.Below(9));
    if (kind == Predicate::Kind::kRegexp) value = RandomRegexp(&dice_, value);
  }
  return Predicate::Compare(kind, column, std::move(values)).WithFunctions(functions).As(type);
}

Predicate Generator::KeyPartLeaf(Predicate::Kind kind, const Functions& functions,
                                 std::optional<ColumnType> asked) {
  const ColumnType type = *format::TypeOfFunctions(functions, asked);
  if (type != ColumnType::kText && IsOfText(kind)) kind = Predicate::Kind::kEqual;
  std::vector<std::string> values(ValueCount(&dice_, kind));
  for (std::string& value : values) {
    const std::optional<std::string> made = OneMadeOf(functions, Key(), &dice_);
    const bool fits =
        type == ColumnType::kText || (made.has_value() && format::ParseInt64(*made).has_value());
    value = made.has_value() && fits ? *made : std::to_string(dice_.Below(9));
    if (kind == Predicate::Kind::kRegexp) value = RandomRegexp(&dice_, value);
  }
  return Predicate::Compare(kind, "_row", std::move(values)).WithFunctions(functions).As(type);
}

// The type that a condition casts its column to, sometimes.
std::optional<ColumnType> Generator::Cast() {
  static const std::vector<ColumnType> kTypes = {ColumnType::kBytes, ColumnType::kText,
                                                 ColumnType::kInt64, ColumnType::kInt64};
  if (!plan_.casts || !dice_.Chance(25)) return std::nullopt;
  return dice_.Pick(kTypes);
}

Predicate Generator::RowKeyLeaf(Predicate::Kind kind) {
  using Kind = Predicate::Kind;
  if (kind >= Kind::kContains) kind = Kind::kLess;
  std::vector<std::string> keys(ValueCount(&dice_, kind));
  for (std::string& key : keys) key = Key();
  if (kind == Kind::kPrefix) keys[0].resize(dice_.Below(keys[0].size() + 1));
  return Predicate::Compare(kind, "_row", std::move(keys));
}

// Keys that begin with some byte, which may be cut further, each byte in one or two ranges.
std::vector<RowRange> Generator::MergedRanges() {
  std::vector<RowRange> ranges;
  std::set<std::string> leads;
  for (uint64_t count = 1 + dice_.Below(5); count > 0; --count) leads.insert(Key().substr(0, 1));
  for (const std::string& lead : leads) {
    RowRange& range = ranges.emplace_back();
    range.leading_bytes = 1;
    range.start = lead;
    range.end = format::Successor(lead).value_or("");
    const std::string inside = lead + Key().substr(1);
    if (dice_.Chance(20)) range.start = inside;
    if (dice_.Chance(20)) ranges.push_back({lead, inside, 1});
  }
  return ranges;
}

std::vector<RowRange> Generator::Ranges() {
  std::vector<RowRange> ranges(1 + dice_.Below(5));
  for (RowRange& range : ranges) {
    if (dice_.Chance(90)) range.start = Key();
    if (dice_.Chance(90)) range.end = Key();
  }
  return ranges;
}

ScanOptions Generator::NewScan() {
  ScanOptions scan;
  if (dice_.Chance(40)) scan.start = Key();
  if (dice_.Chance(40)) scan.end = Key();
  if (dice_.Chance(20)) scan.prefix = Key().substr(0, dice_.Below(4));
  if (dice_.Chance(30)) scan.limit = 1 + dice_.Below(20);
  if (dice_.Chance(25)) scan.offset = dice_.Below(20);
  scan.reverse = dice_.Chance(50);
  if (dice_.Chance(15)) {
    scan.ranges = MergedRanges();
  } else if (dice_.Chance(25)) {
    scan.ranges = Ranges();
  }
  return scan;
}

QueryOptions Generator::NewQuery() {
  QueryOptions query;
  if (dice_.Chance(30)) {
    const IndexOptions& index = dice_.Pick(plan_.options.indexes);
    if (HasOrder(index)) query.order_by = index.name;
  }
  query.descending = dice_.Chance(query.order_by.empty() ? 25 : 50);
  if (query.order_by.empty() && dice_.Chance(12)) {
    query.ranges = MergedRanges();
  } else if (dice_.Chance(8)) {
    query.ranges = Ranges();
  }
  if (dice_.Chance(30)) query.limit = 1 + dice_.Below(20);
  if (dice_.Chance(25)) query.offset = dice_.Below(dice_.Chance(20) ? 2000 : 20);
  if (dice_.Chance(30)) query.use_index = dice_.Pick(plan_.options.indexes).name;
  query.no_index = query.use_index.empty() && query.order_by.empty() && dice_.Chance(20);
  return query;
}

QueryOptions Generator::NewQuery(const Predicate& predicate) {
  QueryOptions query = NewQuery();
  for (const IndexOptions& index : plan_.options.indexes) {
    // Most of those that have all matches.
    const bool has_where =
        !index.where.empty() && predicate.kind() == Predicate::Kind::kAnd &&
        predicate.ToString().find(Predicate::Parse(index.where)->ToString()) != std::string::npos;
    const bool is_asked_for =
        has_where || (HasTrigramsOf(index.columns[0], predicate) && query.order_by.empty());
    if (!is_asked_for || !dice_.Chance(60)) continue;
    query.use_index = index.name;
    query.no_index = false;
    return query;
  }
  std::vector<std::string> indexes = IndexesOf(predicate, plan_.options);
  if (indexes.empty()) return query;
  // Any other one is likely to be refused.
  if (!query.use_index.empty() && dice_.Chance(70)) query.use_index = dice_.Pick(indexes);
  const bool is_and = predicate.kind() == Predicate::Kind::kAnd;
  if (!is_and || indexes.size() < 2 || dice_.Chance(50)) return query;
  query.use_index.clear();
  query.no_index = false;
  query.use_indexes = std::move(indexes);
  return query;
}

// Sometimes only columns that an index has cells of.
bool Generator::AskForCovered(ReadOptions* read) {
  std::vector<const IndexOptions*> covering;
  for (const IndexOptions& index : plan_.options.indexes) {
    if (!index.include.empty()) covering.push_back(&index);
  }
  if (covering.empty() || dice_.Chance(60)) return false;
  const IndexOptions& index = *dice_.Pick(covering);
  std::vector<ColumnName> columns = index.include;
  for (const IndexColumn& column : index.columns) {
    if (column.is_row_key) continue;
    columns.push_back({.family = column.family, .qualifier = column.qualifier});
  }
  for (const ColumnName& column : columns) {
    if (dice_.Chance(60)) read->columns.push_back(column);
  }
  if (read->columns.empty()) read->columns.push_back(dice_.Pick(columns));
  return true;
}

ReadOptions Generator::NewRead() {
  ReadOptions read;
  if (dice_.Chance(40)) read.threads = 2 + static_cast<uint32_t>(dice_.Below(3));
  if (AskForCovered(&read)) return read;
  if (dice_.Chance(50)) read.versions = 1 + static_cast<uint32_t>(dice_.Below(4));
  if (dice_.Chance(30)) {
    for (uint64_t count = 1 + dice_.Below(2); count > 0; --count) {
      const FamilyOptions& family = Family();
      read.columns.push_back({NameOf(family), Column(family).qualifier});
    }
  }
  if (dice_.Chance(20)) read.families.push_back(Family().name);
  return read;
}

std::optional<int64_t> Generator::Bound(int64_t now_micros) {
  if (dice_.Chance(60)) return std::nullopt;
  if (dice_.Chance(50)) return static_cast<int64_t>(dice_.Below(9));
  return now_micros - static_cast<int64_t>(dice_.Below(20'000));
}

void Generator::BoundByTime(int64_t now_micros, ReadOptions* read) {
  if (!dice_.Chance(20)) return;
  read->as_of = Bound(now_micros);
  read->since = Bound(now_micros);
}

std::vector<std::string> IndexesOf(const Predicate& predicate, const TableOptions& table) {
  using Kind = Predicate::Kind;
  const bool is_and = predicate.kind() == Kind::kAnd;
  const std::span<const Predicate> leaves =
      is_and ? std::span(predicate.children()) : std::span(&predicate, 1);
  std::vector<std::string> names;
  for (const IndexOptions& index : table.indexes) {
    const IndexColumn& column = index.columns[0];
    const std::string& family = FamilyMeant(table, column.family);
    const bool serves = std::ranges::any_of(leaves, [&](const Predicate& leaf) {
      const bool is_of_words =
          !leaf.functions().empty() && leaf.functions().back().kind == FunctionKind::kWords;
      if (leaf.kind() == Kind::kContains && !is_of_words) return false;
      if (leaf.kind() == Kind::kRegexp || leaf.kind() == Kind::kTrue) return false;
      return leaf.is_row_key() == column.is_row_key && leaf.children().empty() &&
             leaf.qualifier() == column.qualifier && leaf.functions() == column.functions &&
             FamilyMeant(table, leaf.family()) == family;
    });
    if (serves) names.push_back(index.name);
  }
  return names;
}

Predicate WithParameters(Dice* dice, const Predicate& predicate, std::vector<std::string>* values) {
  using Kind = Predicate::Kind;
  std::vector<Predicate> children;
  for (const Predicate& child : predicate.children()) {
    children.push_back(WithParameters(dice, child, values));
  }
  if (predicate.kind() == Kind::kAnd) return Predicate::And(std::move(children));
  if (predicate.kind() == Kind::kOr) return Predicate::Or(std::move(children));
  if (predicate.kind() == Kind::kNot) return Predicate::Not(std::move(children[0]));
  if (predicate.kind() == Kind::kTuple) return Predicate::Tuple(std::move(children));
  if (predicate.values().empty() || dice->Chance(25)) return predicate;
  std::string column = "_row";
  if (!predicate.is_row_key()) column = predicate.family() + ":" + predicate.qualifier();
  if (!predicate.is_row_key() && predicate.family().empty()) column = predicate.qualifier();
  std::vector<Parameter> parameters;
  for (const std::string& value : predicate.values()) {
    // Two comparisons with one value may share a parameter.
    const auto same =
        dice->Chance(50) ? std::find(values->begin(), values->end(), value) : values->end();
    const auto number = static_cast<uint32_t>(same - values->begin()) + 1;
    if (same == values->end()) values->push_back(value);
    parameters.emplace_back(number);
  }
  const Predicate compared = Predicate::CompareWith(predicate.kind(), column, parameters);
  const Predicate applied = compared.WithFunctions(predicate.functions());
  return predicate.type().has_value() ? applied.As(*predicate.type()) : applied;
}

}  // namespace tandem::test

// Random operations and predicates; see generator.h.
#include "test/model/generator.h"

#include <algorithm>
#include <limits>
#include <set>

namespace tandem::test {
namespace {

using std::string_literals::operator""s;

constexpr const char* kText = "section";
constexpr const char* kInteger = "size";
constexpr const char* kBytes = "tag";
constexpr const char* kPlain = "note";  // No index; neither has the column without a name.

std::string RandomText(Dice* dice) {
  static const std::vector<std::string> kWords = {"",
                                                  "a",
                                                  "ab",
                                                  "abc",
                                                  "a\0b"s,
                                                  "games",
                                                  "gam",
                                                  "game",
                                                  "z\xc3\xa9",
                                                  "\xe2\x82",
                                                  "very/equal/1",
                                                  "very/equal/2",
                                                  "~",
                                                  "\0"s,
                                                  "b",
                                                  "c",
                                                  "d",
                                                  "e",
                                                  "\xf0\x9f\x98\x80"};
  const std::string& word = dice->Pick(kWords);
  return word == "\xe2\x82" ? "\xe2\x82\xac" : word;
}

std::string RandomInteger(Dice* dice) {
  static const std::vector<std::string> kEdges = {
      "-9223372036854775808", "9223372036854775807", "-1", "0", "007", "7", "-0"};
  if (dice->Chance(15)) return dice->Pick(kEdges);
  return std::to_string(static_cast<int64_t>(dice->Below(40)) - 10);
}

std::string RandomBytes(Dice* dice) {
  static const std::vector<char> kBytesUsed = {'\0', '\1', 'a', '\xff'};
  if (dice->Chance(3)) return std::string(100 + dice->Below(600), dice->Pick(kBytesUsed));
  if (dice->Chance(20)) return "the same prefix of every value " + std::to_string(dice->Below(9));
  std::string value(dice->Below(4), '\0');
  for (char& byte : value) byte = dice->Pick(kBytesUsed);
  return value;
}

// What no row can have, and yet has its place among the values.
std::string RandomOutsider(Dice* dice, std::string_view qualifier) {
  static const std::vector<std::string> kFarIntegers = {"9223372036854775808",
                                                        "-9223372036854775809",
                                                        "100000000000000000000000000",
                                                        "-100000000000000000000000000",
                                                        "+3",
                                                        "+0",
                                                        "-000"};
  static const std::vector<std::string> kNoText = {"\xc3(", "\xff", "a\x80", "gam\xed\xa0\x80"};
  if (qualifier == kInteger) return dice->Pick(kFarIntegers);
  if (qualifier == kText && dice->Chance(50)) return dice->Pick(kNoText);
  static const std::vector<std::string> kStarts = {"", "games", "\xff", "the same prefix"};
  return dice->Pick(kStarts) + std::string(2000 + dice->Below(3000), dice->Chance(50) ? '\0' : 'a');
}

std::string RandomPlain(Dice* dice) {
  if (dice->Chance(1)) return std::string(dice->Below(9000), 'x');
  return std::to_string(dice->Below(1000));
}

IndexOptions Index(std::string name, const char* family, const char* qualifier, ColumnType type) {
  return {std::move(name), {{family, qualifier, type, false}}};
}

FamilyOptions Family(Dice* dice, std::string name, uint32_t max_versions, int64_t ttl_micros) {
  return {.name = std::move(name),
          .max_versions = max_versions,
          .ttl_micros = ttl_micros,
          .compression = dice->Chance(50) ? Compression::kZstd : Compression::kNone,
          .block_size_bytes = dice->Chance(50) ? 512u : 4096u};
}

TablePlan NewTable(Dice* dice, std::string name, std::vector<FamilyOptions> families) {
  TablePlan plan;
  plan.options.name = std::move(name);
  plan.qualifiers = {kText, kText, kInteger, kInteger, kBytes, kBytes, kPlain, ""};
  plan.options.families = std::move(families);
  plan.options.indexes = {Index("by_section", "", kText, ColumnType::kText),
                          Index("by_size", "", kInteger, ColumnType::kInt64),
                          Index("by_tag", "", kBytes, ColumnType::kBytes),
                          Index("by_tag_falling", "", kBytes, ColumnType::kBytes)};
  plan.options.indexes[1].columns[0].descending = dice->Chance(50);
  plan.options.indexes[3].columns[0].descending = true;
  return plan;
}

void Split(Dice* dice, TablePlan* plan) {
  std::set<std::string> keys;
  for (uint64_t count = dice->Below(4); count > 0; --count) keys.insert(dice->Pick(plan->keys));
  plan->options.split_keys.assign(keys.begin(), keys.end());
}

std::string LargeColumn(uint64_t number) { return "column-" + std::to_string(number); }

}  // namespace

std::vector<TablePlan> NewTables(Dice* dice, uint64_t rows) {
  std::vector<TablePlan> tables = {
      NewTable(dice, "one", {Family(dice, "d", 1, 0)}),
      NewTable(dice, "three",
               {Family(dice, "d", 3, 0), Family(dice, "m", 1, 0), Family(dice, "w", 2, 0)}),
      NewTable(dice, "brief", {Family(dice, "d", 2, 200'000), Family(dice, "k", 1, 0)}),
      NewTable(dice, "unlogged", {Family(dice, "d", 1, 0)}),
      NewTable(dice, "large", {Family(dice, "d", 2, 0), Family(dice, "w", 1, 0)}),
  };
  for (TablePlan& plan : tables) plan.keys = NewKeys(dice, rows);
  tables[1].options.indexes.push_back(Index("by_m_size", "m", kInteger, ColumnType::kInt64));
  tables[1].options.indexes.push_back(Index("by_w_section", "w", kText, ColumnType::kText));
  Split(dice, &tables[1]);
  tables[2].user_timestamps = false;
  tables[2].options.indexes.push_back(Index("by_k_tag", "k", kBytes, ColumnType::kBytes));
  tables[3].unlogged = true;
  tables[3].keys = NewKeys(dice, std::min<uint64_t>(rows, 60));
  tables[4].large = true;
  tables[4].keys = NewKeys(dice, 6);
  for (const uint64_t number : {3, 250}) tables[4].qualifiers.push_back(LargeColumn(number));
  return tables;
}

std::vector<std::string> NewKeys(Dice* dice, uint64_t count) {
  std::set<std::string> keys;
  while (keys.size() < count) {
    const std::string number = std::to_string(dice->Below(10 * count));
    switch (dice->Below(5)) {
      case 0:
        keys.insert(number);
        break;
      case 1:
        keys.insert("packages/main/and/a/long/equal/prefix/" + number);
        break;
      case 2:
        keys.insert("k\0"s + number + "\0"s);
        break;
      case 3: {
        std::string key(1 + dice->Below(12), '\0');
        for (char& byte : key) byte = dice->Chance(50) ? '\0' : '\xff';
        keys.insert(key);
        break;
      }
      default:
        keys.insert("\xff" + number);
    }
  }
  return {keys.begin(), keys.end()};
}

std::string Generator::Qualifier() { return dice_.Pick(plan_.qualifiers); }

std::string Generator::Value(std::string_view qualifier) {
  if (!plan_.values.empty()) return dice_.Pick(plan_.values);
  if (qualifier == kText) return RandomText(&dice_);
  if (qualifier == kInteger) return RandomInteger(&dice_);
  if (qualifier == kBytes) return RandomBytes(&dice_);
  return RandomPlain(&dice_);
}

std::string Generator::NameOf(const FamilyOptions& family) {
  const bool is_first = family.name == plan_.options.families[0].name;
  return is_first && dice_.Chance(50) ? "" : family.name;
}

// A column as a predicate names it.
std::string Generator::ColumnText(const std::string& qualifier) {
  const std::string family = NameOf(Family());
  if (!family.empty()) return family + ":" + qualifier;
  return qualifier.empty() ? plan_.options.families[0].name + ":" : qualifier;
}

std::optional<int64_t> Generator::Timestamp(const FamilyOptions& family, int64_t now_micros) {
  if (family.ttl_micros > 0 && dice_.Chance(40)) {
    // Around the border of expiry, and now and then in the future.
    return now_micros + 20'000 - static_cast<int64_t>(dice_.Below(300'000));
  }
  if (!plan_.user_timestamps || dice_.Chance(60)) return std::nullopt;
  if (dice_.Chance(3)) return std::numeric_limits<int64_t>::max();
  if (dice_.Chance(3)) return std::numeric_limits<int64_t>::min();
  if (dice_.Chance(40)) return now_micros - static_cast<int64_t>(dice_.Below(2000));
  return 1 + static_cast<int64_t>(dice_.Below(7));
}

ModelOperation Generator::Put(int64_t now_micros) {
  const FamilyOptions& family = Family();
  ModelOperation put{ModelOperation::Kind::kPut,   plan_.options.name, Key(), NameOf(family), {},
                     Timestamp(family, now_micros)};
  const uint64_t columns = dice_.Chance(60) ? 1 : 1 + dice_.Below(4);
  while (put.columns.size() < columns) {
    const std::string qualifier = Qualifier();
    const bool is_new = std::none_of(put.columns.begin(), put.columns.end(),
                                     [&](const auto& column) { return column.first == qualifier; });
    if (is_new) put.columns.emplace_back(qualifier, Value(qualifier));
  }
  return put;
}

ModelOperation Generator::LargePut(int64_t now_micros) {
  ModelOperation put = Put(now_micros);
  if (dice_.Chance(40)) {
    put.columns = {{kPlain, std::string(65'000 + dice_.Below(dice_.Chance(5) ? 2'000'000 : 2'000),
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
      put.columns = {{kInteger, "12x"}};
      break;
    case 1:
      put.columns = {{kPlain, "fine"}, {kText, "\xc3("}};
      break;
    default:
      put.columns = {{kBytes, std::string(2046, 'b')}};
  }
  return put;
}

ModelOperation Generator::Operation(int64_t now_micros) {
  using Kind = ModelOperation::Kind;
  if (plan_.large && dice_.Chance(30)) return LargePut(now_micros);
  if (dice_.Chance(75)) return Put(now_micros);
  const FamilyOptions& family = Family();
  ModelOperation operation{Kind::kDeleteCell,
                           plan_.options.name,
                           Key(),
                           NameOf(family),
                           {},
                           Timestamp(family, now_micros)};
  const uint64_t kind = dice_.Below(10);
  if (kind < 4) {
    operation.columns = {{Qualifier(), ""}};
  } else if (kind < 7) {
    operation.kind = Kind::kDeleteColumn;
    operation.columns = {{Qualifier(), ""}};
  } else {
    operation.kind = kind < 8 ? Kind::kDeleteFamily : Kind::kDeleteRow;
  }
  return operation;
}

Predicate Generator::NewPredicate(int depth) {
  if (depth == 0 || dice_.Chance(45)) return dice_.Chance(3) ? Predicate() : Leaf();
  if (dice_.Chance(25)) return Predicate::Not(NewPredicate(depth - 1));
  std::vector<Predicate> children;
  for (uint64_t count = 2 + dice_.Below(2); count > 0; --count) {
    children.push_back(NewPredicate(depth - 1));
  }
  return dice_.Chance(60) ? Predicate::And(std::move(children))
                          : Predicate::Or(std::move(children));
}

Predicate Generator::Leaf() {
  using Kind = Predicate::Kind;
  static const std::vector<Kind> kKinds = {
      Kind::kEqual,       Kind::kEqual,   Kind::kEqual,          Kind::kNotEqual, Kind::kLess,
      Kind::kLessOrEqual, Kind::kGreater, Kind::kGreaterOrEqual, Kind::kBetween,  Kind::kIn,
      Kind::kPrefix,      Kind::kIsNull,  Kind::kIsNull,         Kind::kIsNotNull};
  Kind kind = dice_.Pick(kKinds);
  const bool is_row_key = dice_.Chance(8);
  const std::string qualifier = Qualifier();
  if (is_row_key && (kind == Kind::kIsNull || kind == Kind::kIsNotNull)) kind = Kind::kLess;
  if (!is_row_key && qualifier == kInteger && kind == Kind::kPrefix) kind = Kind::kEqual;
  const bool is_outside = !is_row_key && dice_.Chance(8);
  const auto value = [&] {
    if (is_row_key) return Key();
    return is_outside && dice_.Chance(70) ? RandomOutsider(&dice_, qualifier) : Value(qualifier);
  };
  std::vector<std::string> values;
  uint64_t count = kind == Kind::kIsNull || kind == Kind::kIsNotNull ? 0 : 1;
  if (kind == Kind::kBetween) count = 2;
  if (kind == Kind::kIn) count = dice_.Below(5);
  while (values.size() < count) values.push_back(value());
  if (kind == Kind::kPrefix) {
    std::string& prefix = values[0];
    if (!is_outside) prefix.resize(dice_.Below(prefix.size() + 1));
  }
  return Predicate::Compare(kind, is_row_key ? "_row" : ColumnText(qualifier), std::move(values));
}

ScanOptions Generator::NewScan() {
  ScanOptions scan;
  if (dice_.Chance(40)) scan.start = Key();
  if (dice_.Chance(40)) scan.end = Key();
  if (dice_.Chance(20)) scan.prefix = Key().substr(0, dice_.Below(4));
  if (dice_.Chance(30)) scan.limit = 1 + dice_.Below(20);
  scan.reverse = dice_.Chance(50);
  return scan;
}

QueryOptions Generator::NewQuery() {
  QueryOptions query;
  if (dice_.Chance(30)) query.order_by = dice_.Pick(plan_.options.indexes).name;
  query.descending = !query.order_by.empty() && dice_.Chance(50);
  if (dice_.Chance(30)) query.limit = 1 + dice_.Below(20);
  if (dice_.Chance(30)) query.use_index = dice_.Pick(plan_.options.indexes).name;
  query.no_index = query.use_index.empty() && query.order_by.empty() && dice_.Chance(20);
  return query;
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

ReadOptions Generator::NewRead(int64_t now_micros) {
  ReadOptions read;
  if (dice_.Chance(50)) read.versions = 1 + static_cast<uint32_t>(dice_.Below(4));
  if (dice_.Chance(30)) {
    for (uint64_t count = 1 + dice_.Below(2); count > 0; --count) {
      read.columns.push_back({NameOf(Family()), Qualifier()});
    }
  }
  if (dice_.Chance(20)) read.families.push_back(Family().name);
  BoundByTime(now_micros, &read);
  return read;
}

}  // namespace tandem::test

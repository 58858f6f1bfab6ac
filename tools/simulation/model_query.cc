// The model's answers to predicates: every row is looked at, every comparison is made on the values
// as they are stored.
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "format/functions.h"
#include "tandem/limits.h"
#include "tools/simulation/model.h"
#include "tools/simulation/program_functions.h"

namespace tandem::test {
namespace {

bool IsRange(Predicate::Kind kind) {
  return kind != Predicate::Kind::kPrefix && kind != Predicate::Kind::kContains &&
         kind != Predicate::Kind::kRegexp && kind != Predicate::Kind::kIn;
}

// By RE2 without the engine's wrapper. Text is matched by characters, other bytes as Latin-1.
bool MatchesRegexp(ColumnType type, const std::string& value, const std::string& pattern) {
  re2::RE2::Options options(re2::RE2::Quiet);
  if (type != ColumnType::kText) options.set_encoding(re2::RE2::Options::EncodingLatin1);
  const re2::RE2 regexp(pattern, options);
  CHECK(regexp.ok());
  return re2::RE2::PartialMatch(value, regexp);
}

bool Holds(Predicate::Kind kind, ColumnType type, const std::string& value,
           const std::vector<std::string>& operands) {
  const auto compare = [&](size_t i) { return CompareValues(type, value, operands[i]); };
  if (!IsRange(kind)) {
    if (kind == Predicate::Kind::kPrefix) return value.starts_with(operands[0]);
    if (kind == Predicate::Kind::kContains) return value.find(operands[0]) != std::string::npos;
    if (kind == Predicate::Kind::kRegexp) return MatchesRegexp(type, value, operands[0]);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (compare(i) == 0) return true;
    }
    return false;
  }
  switch (kind) {
    case Predicate::Kind::kEqual:
      return compare(0) == 0;
    case Predicate::Kind::kNotEqual:
      return compare(0) != 0;
    case Predicate::Kind::kLess:
      return compare(0) < 0;
    case Predicate::Kind::kLessOrEqual:
      return compare(0) <= 0;
    case Predicate::Kind::kGreater:
      return compare(0) > 0;
    case Predicate::Kind::kGreaterOrEqual:
      return compare(0) >= 0;
    case Predicate::Kind::kBetween:
      return compare(0) >= 0 && compare(1) <= 0;
    default:
      return false;
  }
}

/// The decimal digits of an integer of any size after its sign, without zeros before them; nullopt:
/// the text is no integer.
std::optional<std::pair<bool, std::string>> Integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  while (text.starts_with('0')) text.remove_prefix(1);
  return std::pair(is_negative && !text.empty(), std::string(text));
}

int CompareIntegers(std::string_view a, std::string_view b) {
  const auto [a_negative, a_digits] = *Integer(a);
  const auto [b_negative, b_digits] = *Integer(b);
  if (a_negative != b_negative) return a_negative ? -1 : 1;
  int order = a_digits.compare(b_digits);
  if (a_digits.size() != b_digits.size()) order = a_digits.size() < b_digits.size() ? -1 : 1;
  return a_negative ? -order : order;
}

bool FitsInt64(std::string_view text) {
  return !text.starts_with('+') && Integer(text).has_value() &&
         CompareIntegers(text, "-9223372036854775808") >= 0 &&
         CompareIntegers(text, "9223372036854775807") <= 0;
}

/// Length of the UTF-8 sequence at the start of `text`; 0 when it is malformed.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  uint32_t point = byte(0) & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = (point << 6) | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  return point < kLeast[length] || point > 0x10ffff || surrogate ? 0 : length;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Of bytes or text in an index: a tag, the bytes with each 0x00 doubled, two bytes at the end.
size_t EncodedSize(std::string_view value) {
  return 3 + value.size() + static_cast<size_t>(std::count(value.begin(), value.end(), '\0'));
}

/// The same point in time, for all data.
ModelRead WholeRow(const ModelRead& read) {
  ModelRead whole = read;
  whole.versions = 1;
  whole.columns.clear();
  whole.families.clear();
  return whole;
}

// Whether an index of the type takes a stored value.
bool FitsType(ColumnType type, std::string_view value) {
  switch (type) {
    case ColumnType::kInt64:
      return FitsInt64(value);
    case ColumnType::kUint64:  // Only functions make these; all of it fits.
    case ColumnType::kTimestamp:
      return true;
    case ColumnType::kText:
      return EncodedSize(value) <= kIndexKeyBytesMax && IsUtf8(value);
    default:
      return EncodedSize(value) <= kIndexKeyBytesMax;
  }
}

// The type of what the functions return, unless another is asked for.
ColumnType TypeOfFunctions(const Functions& functions, std::optional<ColumnType> asked) {
  const Result<ColumnType> type = format::TypeOfFunctions(functions, asked);
  CHECK(type.has_value());
  return *type;
}

// What the functions make of a stored value: nothing, one or several. `joined`: of the columns that
// concat joins.
std::vector<std::string> MadeOf(const Functions& asked, const std::string& stored,
                                int64_t timestamp,
                                const std::vector<std::string_view>& joined = {}) {
  if (asked.empty()) return {stored};
  const Functions functions = Resolved(asked);
  if (!format::AreMultiValued(functions)) {
    std::string made;
    if (!format::ApplyFunctions(functions, stored, timestamp, &made, joined)) return {};
    return {std::move(made)};
  }
  format::ValueList list;
  format::ApplyMultiValued(functions, stored, timestamp, &list, joined);
  std::vector<std::string> values;
  for (size_t i = 0; i < list.size(); ++i) values.emplace_back(list[i]);
  return values;
}

// Whether the functions are of the qualifiers of a family.
bool AreOfQualifiers(const Functions& functions) {
  return !functions.empty() && functions.front().kind == FunctionKind::kMapKeys;
}

ColumnType TypeOfIndexed(const IndexColumn& column) {
  return column.functions.empty() ? column.type : TypeOfFunctions(column.functions, column.type);
}

// Whether concat joins other columns.
bool JoinsColumns(const Functions& functions) {
  return std::ranges::any_of(functions, [](const Function& function) {
    return std::ranges::find(function.parts, ConcatPart::Kind::kColumn, &ConcatPart::kind) !=
           function.parts.end();
  });
}

}  // namespace

bool AreOfFamily(const Functions& functions) {
  return AreOfQualifiers(functions) ||
         (!functions.empty() && functions.front().kind == FunctionKind::kMapValues);
}

int CompareValues(ColumnType type, std::string_view a, std::string_view b) {
  if (type != ColumnType::kBytes && type != ColumnType::kText) return CompareIntegers(a, b);
  return a.compare(b);
}

namespace {

// Absent values come first.
int CompareOrdered(ColumnType type, const std::optional<std::string>& a,
                   const std::optional<std::string>& b) {
  if (!a.has_value() || !b.has_value()) return int{a.has_value()} - int{b.has_value()};
  return CompareValues(type, *a, *b);
}

}  // namespace

ColumnType Model::TypeOf(const TableOptions& options, size_t family, std::string_view qualifier) {
  const auto is_it = [&](const auto& column) {
    return FamilyOf(options, column.family) == family && column.qualifier == qualifier;
  };
  for (const ColumnOptions& column : options.columns) {
    if (is_it(column)) return column.type;
  }
  for (const IndexOptions& index : options.indexes) {
    for (const IndexColumn& column : index.columns) {
      if (column.functions.empty() && is_it(column)) return column.type;
    }
  }
  return ColumnType::kBytes;
}

void Model::ChangeIndexes(const std::string& table,
                          const std::function<void(std::vector<IndexOptions>*)>& change) {
  TableOptions& options = tables_.at(table).options;
  const TableOptions before = options;
  change(&options.indexes);
  for (const TableOptions* side : {&before, &std::as_const(options)}) {
    for (const IndexOptions& index : std::vector(side->indexes)) {
      for (const IndexColumn& column : index.columns) {
        if (column.is_row_key) continue;
        const size_t family = FamilyOf(options, column.family);
        const ColumnType type = TypeOf(before, family, column.qualifier);
        if (TypeOf(options, family, column.qualifier) == type) continue;
        options.columns.push_back({options.families[family].name, column.qualifier, type});
      }
    }
  }
}

bool Model::Refuses(const ModelOperation& operation) const {
  if (operation.kind != ModelOperation::Kind::kPut) return false;
  const TableOptions& options = table(operation.table);
  const size_t family = FamilyOf(options, operation.family);
  const auto refuses = [&](const IndexColumn& indexed, const auto& column) {
    const Functions& functions = indexed.functions;
    if (indexed.is_row_key || FamilyOf(options, indexed.family) != family) return false;
    if (indexed.qualifier != column.first && !AreOfFamily(functions)) return false;
    if (functions.empty()) return !FitsType(indexed.type, column.second);
    if (JoinsColumns(functions)) return false;
    const ColumnType type = TypeOfIndexed(indexed);
    if (type != ColumnType::kText && type != ColumnType::kBytes) return false;
    const std::string& input = AreOfQualifiers(functions) ? column.first : column.second;
    return std::ranges::any_of(MadeOf(functions, input, 0), [type](const std::string& made) {
      return (type == ColumnType::kBytes || IsUtf8(made)) && EncodedSize(made) > kIndexKeyBytesMax;
    });
  };
  return std::ranges::any_of(operation.columns, [&](const auto& column) {
    return std::ranges::any_of(options.indexes, [&](const IndexOptions& index) {
      return std::ranges::any_of(
          index.columns, [&](const IndexColumn& indexed) { return refuses(indexed, column); });
    });
  });
}

std::vector<std::string> Model::Newest(const Table& table, const Columns& columns, size_t family,
                                       std::string_view qualifier, const Functions& functions,
                                       const ModelRead& read) {
  std::vector<Versions> joined;
  std::vector<std::string_view> joined_values;
  for (const Function& function : functions) {
    for (const ConcatPart& part : function.parts) {
      if (part.kind != ConcatPart::Kind::kColumn) continue;
      const size_t other = FamilyOf(table.options, part.family);
      const auto found = columns.find(std::pair(other, part.qualifier));
      if (found == columns.end()) return {};
      joined.push_back(Shown(found->second, table.options.families[other], read));
      if (joined.back().empty()) return {};
      if (joined.back()[0].second.size() > kFunctionValueBytesMax) return {};
    }
  }
  for (const Versions& shown : joined) joined_values.push_back(shown[0].second);
  std::vector<std::string> values;
  for (const auto& [column, versions] : columns) {
    if (column.first != family) continue;
    if (column.second != qualifier && !AreOfFamily(functions)) continue;
    Versions shown = Shown(versions, table.options.families[family], read);
    if (!read.any_version && shown.size() > 1) shown.resize(1);
    for (const auto& [timestamp, value] : shown) {
      const std::string& input = AreOfQualifiers(functions) ? column.second : value;
      for (std::string& made : MadeOf(functions, input, timestamp, joined_values)) {
        values.push_back(std::move(made));
      }
    }
  }
  return values;
}

// Of all columns of the index; nullopt: one has none that the index takes.
std::optional<std::vector<std::string>> Model::ValuesOf(const Table& table, const Columns& columns,
                                                        const IndexOptions& index,
                                                        const ModelRead& read) {
  std::vector<std::string> values;
  for (const IndexColumn& column : index.columns) {
    const size_t family = FamilyOf(table.options, column.family);
    std::vector<std::string> made =  // At most one: no column of a unique index is multi-valued.
        Newest(table, columns, family, column.qualifier, column.functions, read);
    if (made.empty() || !FitsType(TypeOfIndexed(column), made[0])) return std::nullopt;
    values.push_back(std::move(made[0]));
  }
  return values;
}

std::optional<std::string> Model::Duplicates(const std::string& name, int64_t now_micros) const {
  const Table& table = tables_.at(name);
  const ModelRead read{now_micros, 1, {}};
  for (const IndexOptions& index : table.options.indexes) {
    if (!index.unique) continue;
    std::vector<std::pair<std::vector<std::string>, std::string>> all;
    for (const auto& [row, columns] : table.rows) {
      auto values = ValuesOf(table, *columns, index, read);
      if (values.has_value()) all.emplace_back(*std::move(values), row);
    }
    const auto compare = [&index](const auto& a, const auto& b) {
      for (size_t i = 0; i < index.columns.size(); ++i) {
        const int order = CompareValues(TypeOfIndexed(index.columns[i]), a.first[i], b.first[i]);
        if (order != 0) return order;
      }
      return 0;
    };
    std::ranges::sort(all, [&](const auto& a, const auto& b) { return compare(a, b) < 0; });
    const auto found = std::ranges::adjacent_find(
        all, [&](const auto& a, const auto& b) { return compare(a, b) == 0; });
    if (found == all.end()) continue;
    return index.name + ": " + test::Shown(found->second) + ", " +
           test::Shown(std::next(found)->second);
  }
  return std::nullopt;
}

std::optional<std::string> Model::Value(const std::string& table, const std::string& row,
                                        const ColumnName& column, int64_t now_micros,
                                        const Functions& functions) const {
  const Table& in = tables_.find(table)->second;
  const auto found = in.rows.find(row);
  if (found == in.rows.end()) return std::nullopt;
  const std::vector<std::string> values =
      Newest(in, *found->second, FamilyOf(in.options, column.family), column.qualifier, functions,
             {now_micros, 1, {}});
  return values.empty() ? std::nullopt : std::optional(values[0]);
}

bool Model::MatchesColumn(const Table& table, const std::string& key, const Columns& columns,
                          const Predicate& predicate, const ModelRead& read) {
  std::vector<std::string> values = {key};
  ColumnType type = ColumnType::kBytes;
  if (!predicate.is_row_key()) {
    const size_t family = FamilyOf(table.options, predicate.family());
    type = predicate.functions().empty()
               ? predicate.type().value_or(TypeOf(table.options, family, predicate.qualifier()))
               : TypeOfFunctions(predicate.functions(), predicate.type());
    values = Newest(table, columns, family, predicate.qualifier(), predicate.functions(), read);
    // All bytes that are stored fit, at any length.
    const bool fit_all = type == ColumnType::kBytes && predicate.functions().empty();
    std::erase_if(values,
                  [&](const std::string& value) { return !fit_all && !FitsType(type, value); });
  } else if (!predicate.functions().empty()) {
    type = TypeOfFunctions(predicate.functions(), predicate.type());
    values = MadeOf(predicate.functions(), key, 0);
    std::erase_if(values, [type](const std::string& value) { return !FitsType(type, value); });
  }
  if (predicate.kind() == Predicate::Kind::kIsNull) return values.empty();
  if (predicate.kind() == Predicate::Kind::kIsNotNull) return !values.empty();
  const Functions& functions = predicate.functions();
  if (predicate.kind() == Predicate::Kind::kContains && !functions.empty() &&
      functions.back().kind == FunctionKind::kWords) {
    return std::ranges::all_of(
        MadeOf({Function::Words()}, predicate.values()[0], 0),
        [&](const std::string& word) { return std::ranges::find(values, word) != values.end(); });
  }
  return std::ranges::any_of(values, [&](const std::string& value) {
    return Holds(predicate.kind(), type, value, predicate.values());
  });
}

// From the left: at each column the row is below, at or above the value, or has none.
bool Model::MatchesTuple(const Table& table, const std::string& key, const Columns& columns,
                         const Predicate& predicate, const ModelRead& read) {
  using Kind = Predicate::Kind;
  const std::vector<Predicate>& children = predicate.children();
  const auto compare = [&](size_t place) -> std::optional<int> {
    for (const Predicate& child : children) {
      const auto is = [&](Kind kind) {
        std::string name = "_row";
        if (!child.is_row_key()) name = child.family() + ":" + child.qualifier();
        if (!child.is_row_key() && child.family().empty()) name = child.qualifier();
        Predicate alone = Predicate::Compare(kind, name, {child.values()[place]});
        if (!child.functions().empty()) alone = alone.WithFunctions(child.functions());
        if (child.type().has_value()) alone = alone.As(*child.type());
        return MatchesColumn(table, key, columns, alone, read);
      };
      if (is(Kind::kEqual)) continue;
      if (is(Kind::kLess)) return -1;
      if (is(Kind::kGreater)) return 1;
      return std::nullopt;
    }
    return 0;
  };
  const Kind kind = children[0].kind();
  const std::optional<int> first = compare(0);
  if (kind == Kind::kBetween) {
    const std::optional<int> second = compare(1);
    return first.has_value() && *first >= 0 && second.has_value() && *second <= 0;
  }
  if (!first.has_value()) return false;
  const bool is_less = kind == Kind::kLess || kind == Kind::kLessOrEqual;
  const bool takes_equal =
      kind == Kind::kEqual || kind == Kind::kLessOrEqual || kind == Kind::kGreaterOrEqual;
  if (*first == 0) return takes_equal;
  return kind != Kind::kEqual && (*first < 0) == is_less;
}

bool Model::Matches(const Table& table, const std::string& key, const Columns& columns,
                    const Predicate& predicate, const ModelRead& read) {
  const auto matches = [&](const Predicate& child) {
    return Matches(table, key, columns, child, read);
  };
  const auto& children = predicate.children();
  switch (predicate.kind()) {
    case Predicate::Kind::kTrue:
      return true;
    case Predicate::Kind::kAnd:
      return std::all_of(children.begin(), children.end(), matches);
    case Predicate::Kind::kOr:
      return std::any_of(children.begin(), children.end(), matches);
    case Predicate::Kind::kNot:
      return !matches(children[0]);
    case Predicate::Kind::kTuple:
      return MatchesTuple(table, key, columns, predicate, read);
    default:
      return MatchesColumn(table, key, columns, predicate, read);
  }
}

std::vector<ModelRow> Model::Query(const std::string& table, const Predicate& predicate,
                                   const QueryOptions& query, const ModelRead& read) const {
  const Table& in = tables_.find(table)->second;
  std::vector<IndexColumn> order;
  for (const IndexOptions& index : in.options.indexes) {
    if (index.name == query.order_by) order = index.columns;
  }
  const ModelRead exists = WholeRow(read);
  ModelRead asked = read;
  asked.any_version = query.any_version;
  struct Hit {
    std::vector<std::optional<std::string>> values;  // By column of the order.
    ModelRow row;
  };
  std::vector<Hit> hits;
  for (const auto& [key, columns] : in.rows) {
    if (!IsInRanges(query.ranges, key)) continue;
    if (!Visible(in, key, *columns, exists).has_value()) continue;
    if (!Matches(in, key, *columns, predicate, asked)) continue;
    std::vector<std::optional<std::string>> values;
    for (const IndexColumn& column : order) {
      const std::vector<std::string> newest =
          column.is_row_key ? MadeOf(column.functions, key, 0)
                            : Newest(in, *columns, FamilyOf(in.options, column.family),
                                     column.qualifier, column.functions, read);
      std::optional<std::string>& value =
          values.emplace_back(newest.empty() ? std::nullopt : std::optional(newest[0]));
      if (value.has_value() && !FitsType(TypeOfIndexed(column), *value)) value.reset();
    }
    if (!values.empty() && !values.front().has_value()) continue;
    auto row = Visible(in, key, *columns, read);
    if (!row.has_value()) row.emplace().key = key;
    hits.push_back({std::move(values), *std::move(row)});
  }
  if (order.empty()) {
    std::sort(hits.begin(), hits.end(), [&](const Hit& a, const Hit& b) {
      return PlaceInRanges(query.ranges, a.row.key) < PlaceInRanges(query.ranges, b.row.key);
    });
    if (query.descending) std::reverse(hits.begin(), hits.end());
  } else {
    std::stable_sort(hits.begin(), hits.end(), [&](const Hit& a, const Hit& b) {
      for (size_t i = 0; i < order.size(); ++i) {
        int compared = CompareOrdered(TypeOfIndexed(order[i]), a.values[i], b.values[i]);
        // The first column is in the order that is asked for, the others turn with it.
        if (order[i].descending != order[0].descending) compared = -compared;
        if (compared != 0) return query.descending ? compared > 0 : compared < 0;
      }
      return false;
    });
  }
  hits.erase(hits.begin(), hits.begin() + std::min<size_t>(query.offset, hits.size()));
  if (query.limit != 0 && hits.size() > query.limit) hits.resize(query.limit);
  std::vector<ModelRow> rows;
  for (Hit& hit : hits) rows.push_back(std::move(hit.row));
  return rows;
}

std::optional<std::string> Model::Grouped(const Table& table, const Columns& columns,
                                          const IndexColumn& column, const ModelRead& read) {
  const std::vector<std::string> newest =
      Newest(table, columns, FamilyOf(table.options, column.family), column.qualifier, {}, read);
  if (newest.empty()) return std::nullopt;
  if (column.type == ColumnType::kBytes) return newest[0];  // At any length.
  if (!FitsType(column.type, newest[0])) return std::nullopt;
  if (column.type != ColumnType::kInt64) return newest[0];
  return std::to_string(std::stoll(newest[0]));
}

std::vector<ModelGroup> Model::Groups(const std::string& name, const Predicate& predicate,
                                      const ModelGrouping& grouping, const ModelRead& read) const {
  const Table& table = tables_.find(name)->second;
  const ModelRead exists = WholeRow(read);
  ModelRead newest = read;
  newest.any_version = false;
  const auto less = [&grouping](const auto& a, const auto& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      const int order = CompareOrdered(grouping.keys[i].type, a[i], b[i]);
      if (order != 0) return order < 0;
    }
    return false;
  };
  struct Sum {
    uint64_t count = 0;
    __int128 sum = 0;
    std::optional<std::string> extreme = {};
  };
  std::map<std::vector<std::optional<std::string>>, std::vector<Sum>, decltype(less)> groups(less);
  if (grouping.keys.empty()) groups[{}].resize(grouping.values.size());
  for (const auto& [key, columns] : table.rows) {
    if (!Visible(table, key, *columns, exists).has_value()) continue;
    if (!Matches(table, key, *columns, predicate, read)) continue;
    std::vector<std::optional<std::string>> keys;
    for (const IndexColumn& column : grouping.keys) {
      keys.push_back(Grouped(table, *columns, column, newest));
    }
    std::vector<Sum>& sums = groups[keys];
    sums.resize(grouping.values.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto& [kind, column] = grouping.values[i];
      if (kind == AggregateKind::kRows) {
        ++sums[i].count;
        continue;
      }
      const std::optional<std::string> value = Grouped(table, *columns, column, newest);
      if (!value.has_value()) continue;
      ++sums[i].count;
      if (kind == AggregateKind::kSum) sums[i].sum += std::stoll(*value);
      const int order = CompareOrdered(column.type, value, sums[i].extreme);
      const bool is_first = !sums[i].extreme.has_value();
      if (is_first || (kind == AggregateKind::kMin ? order < 0 : order > 0)) {
        sums[i].extreme = value;
      }
    }
  }
  std::vector<ModelGroup> found;
  for (const auto& [keys, sums] : groups) {
    ModelGroup& group = found.emplace_back(ModelGroup{keys, {}});
    for (size_t i = 0; i < sums.size(); ++i) {
      const AggregateKind kind = grouping.values[i].first;
      std::optional<std::string>& value = group.values.emplace_back(sums[i].extreme);
      if (kind == AggregateKind::kRows || kind == AggregateKind::kCount) {
        value = std::to_string(sums[i].count);
      } else if (kind == AggregateKind::kSum) {
        const auto sum = static_cast<int64_t>(sums[i].sum);
        value = sum == sums[i].sum ? std::to_string(sum) : "overflow";
      }
    }
  }
  return found;
}

std::string ModelGroup::Describe() const {
  std::string text;
  for (const auto* part : {&keys, &values}) {
    text += text.empty() ? "(" : " -> (";
    for (const std::optional<std::string>& value : *part) {
      text += (value.has_value() ? test::Shown(*value) : std::string("NULL")) + " ";
    }
    text += ")";
  }
  return text;
}

uint64_t Model::Count(const std::string& table, const Predicate& predicate,
                      int64_t now_micros) const {
  return Count(table, predicate, ModelRead{now_micros, 1, {}});
}

uint64_t Model::Count(const std::string& table, const Predicate& predicate,
                      const ModelRead& read) const {
  const Table& in = tables_.find(table)->second;
  const ModelRead exists = WholeRow(read);
  uint64_t count = 0;
  for (const auto& [key, columns] : in.rows) {
    count += Visible(in, key, *columns, exists).has_value() &&
                     Matches(in, key, *columns, predicate, read)
                 ? 1
                 : 0;
  }
  return count;
}

}  // namespace tandem::test

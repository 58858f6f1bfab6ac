// Splits first, at separators outside escapes, and undoes the escapes of each part
// after.
#include "tools/tandem/declarations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/status_macros.h"
#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};
constexpr Unit kSizeUnits[] = {
    {"", 1},          {"B", 1},      {"KiB", 1 << 10},  {"MiB", 1 << 20},
    {"GiB", 1 << 30}, {"KB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000},
};
constexpr Unit kDurationUnits[] = {
    {"us", 1},         {"ms", 1'000},        {"s", 1'000'000},
    {"m", 60'000'000}, {"h", 3'600'000'000}, {"d", 86'400'000'000},
};

std::optional<uint64_t> ParseQuantity(std::string_view text, std::span<const Unit> units) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != suffix) continue;
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / unit.factor) break;
    return number * unit.factor;
  }
  return std::nullopt;
}

Result<ColumnType> ParseType(std::string_view text) {
  if (const auto type = ColumnTypeNamed(text)) return *type;
  std::vector<std::string> names;
  for (int number = 1; number <= static_cast<int>(ColumnType::kTimestampBe); ++number) {
    const std::string_view name = ColumnTypeName(static_cast<ColumnType>(number));
    if (name != "unknown") names.emplace_back(name);
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return Status::InvalidArgument(Format("type '{}' is not known{}; types: {}", EscapeBytes(text),
                                        DidYouMean(text, names), all));
}

Status ApplyFamilySetting(std::string_view setting, FamilyOptions* family) {
  const size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : setting.substr(equals + 1);
  if (name == "versions") {
    const auto versions = ParseQuantity(value, std::span(kSizeUnits, 1));
    if (!versions || *versions == 0 || *versions > std::numeric_limits<uint32_t>::max()) {
      return Status::InvalidArgument(
          Format("versions={}: expected a number from 1", EscapeBytes(value)));
    }
    family->max_versions = static_cast<uint32_t>(*versions);
  } else if (name == "ttl") {
    ASSIGN_OR_RETURN(family->ttl_micros, ParseDuration(value));
  } else if (name == "compression" && (value == "none" || value == "zstd")) {
    family->compression = value == "none" ? Compression::kNone : Compression::kZstd;
  } else if (name == "block-size") {
    ASSIGN_OR_RETURN(const uint64_t size, ParseSize(value));
    if (size > std::numeric_limits<uint32_t>::max()) {
      return Status::InvalidArgument(Format("block-size={}: at most 1 MiB", EscapeBytes(value)));
    }
    family->block_size_bytes = static_cast<uint32_t>(size);
  } else {
    return Status::InvalidArgument(
        Format("'{}': expected versions=N, ttl=DURATION, compression=none|zstd or block-size=SIZE",
               EscapeBytes(setting)));
  }
  return {};
}

/// The name in NAME[,SETTING...], with the settings that a family has by itself.
Result<FamilyOptions> ParseFamilyName(std::string_view text) {
  const auto parts = SplitText(text, ',');
  if (parts.empty() || parts[0].empty()) {
    return Status::InvalidArgument(
        Format("--family '{}': expected NAME[,versions=3,ttl=7d]", EscapeBytes(text)));
  }
  FamilyOptions family;
  ASSIGN_OR_RETURN(family.name, ParseEscaped(parts[0]));
  return family;
}

Status ApplyFamilySettings(std::string_view text, FamilyOptions* family) {
  const auto parts = SplitText(text, ',');
  for (size_t i = 1; i < parts.size(); ++i) {
    RETURN_IF_ERROR(ApplyFamilySetting(parts[i], family));
  }
  return {};
}

/// Reads COLUMN, FAMILY:COLUMN.
Result<ColumnName> ParseColumnName(std::string_view text) {
  const auto parts = SplitText(text, ':');
  if (parts.size() > 2) {
    return Status::InvalidArgument(
        Format("'{}': expected [FAMILY:]COLUMN; a ':' inside a name is \\x3a", EscapeBytes(text)));
  }
  ColumnName column;
  if (parts.size() == 2) {
    ASSIGN_OR_RETURN(column.family, ParseEscaped(parts[0]));
  }
  ASSIGN_OR_RETURN(column.qualifier,
                   ParseEscaped(parts.empty() ? std::string_view() : parts.back()));
  return column;
}

// Whether columns are written as in a predicate, not as FAMILY:COLUMN[:TYPE][:desc]. A WHERE may be
// without its predicate, and _row alone is refused there.
bool IsAsInPredicate(std::string_view columns) {
  if (columns == "_row" || columns.find_first_of("(,") != std::string_view::npos) return true;
  if (columns.find("::") != std::string_view::npos) return true;
  std::string text = std::string(columns) + ' ';
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text.find(" where ") != std::string::npos || text.ends_with(" asc ") ||
         text.ends_with(" desc ");
}

bool IsExpression(std::string_view text) {
  return text == "_row" || text.find_first_of("('\"") != std::string_view::npos ||
         text.find("::") != std::string_view::npos;
}

/// The parts between commas that are in no parentheses and in no quotes, without spaces around.
std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t depth = 0, begin = 0;
  char quote = 0;
  const auto add = [&](size_t end) {
    std::string_view part = text.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    begin = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      depth -= depth > 0 ? 1 : 0;
    } else if (c == ',' && depth == 0) {
      add(i);
    }
  }
  if (!text.empty()) add(text.size());
  return parts;
}

/// Reads NAME=COLUMN[::TYPE] [ASC|DESC], ... [INCLUDE (COLUMN, ...)] [WHERE PREDICATE], written as
/// in a predicate.
Result<IndexOptions> ParseIndexColumns(std::string_view text, size_t equals) {
  ASSIGN_OR_RETURN(std::string name, ParseEscaped(text.substr(0, equals)));
  Result<IndexOptions> index = IndexOptions::Parse(text.substr(equals + 1));
  if (!index.has_value()) {
    return Status::InvalidArgument(
        Format("--index '{}': after the '=', {}; functions, several columns, INCLUDE and WHERE are "
               "written "
               "as in a predicate: lower(d:x), d:y::int64 DESC INCLUDE (d:w) WHERE d:z = 1",
               EscapeBytes(text), index.error().message()));
  }
  index->name = std::move(name);
  return index;
}

}  // namespace

Result<FamilyOptions> ParseFamily(std::string_view text) {
  ASSIGN_OR_RETURN(FamilyOptions family, ParseFamilyName(text));
  RETURN_IF_ERROR(ApplyFamilySettings(text, &family));
  return family;
}

Result<FamilyOptions> ParseFamilyChange(std::string_view text,
                                        const std::vector<FamilyOptions>& families) {
  ASSIGN_OR_RETURN(const FamilyOptions named, ParseFamilyName(text));
  for (FamilyOptions family : families) {
    if (family.name != named.name) continue;
    RETURN_IF_ERROR(ApplyFamilySettings(text, &family));
    return family;
  }
  return Status::NotFound(Format("family '{}' does not exist", EscapeBytes(named.name)));
}

Result<ColumnOptions> ParseColumnType(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return Status::InvalidArgument(
        Format("--column '{}': expected FAMILY:COLUMN:TYPE", EscapeBytes(text)));
  }
  ColumnOptions column;
  ASSIGN_OR_RETURN(const ColumnName name, ParseColumnName(text.substr(0, colon)));
  ASSIGN_OR_RETURN(column.type, ParseType(text.substr(colon + 1)));
  column.family = name.family;
  column.qualifier = name.qualifier;
  return column;
}

Result<IndexOptions> ParseIndex(std::string_view text) {
  constexpr std::string_view kUnique = "unique ";
  if (text.starts_with(kUnique)) {
    ASSIGN_OR_RETURN(IndexOptions index, ParseIndex(text.substr(kUnique.size())));
    index.unique = true;
    return index;
  }
  constexpr std::string_view kGlobal = "global ";
  if (text.starts_with(kGlobal)) {
    ASSIGN_OR_RETURN(IndexOptions index, ParseIndex(text.substr(kGlobal.size())));
    index.placement = IndexPlacement::kGlobal;
    return index;
  }
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
    return Status::InvalidArgument(Format(
        "--index '{}': expected [unique ]NAME=FAMILY:COLUMN[:TYPE][:desc]", EscapeBytes(text)));
  }
  if (IsAsInPredicate(text.substr(equals + 1))) return ParseIndexColumns(text, equals);
  auto parts = SplitText(text.substr(equals + 1), ':');
  IndexOptions index;
  ASSIGN_OR_RETURN(index.name, ParseEscaped(text.substr(0, equals)));
  IndexColumn& column = index.columns.emplace_back();
  if (parts.size() > 2 && (parts.back() == "desc" || parts.back() == "asc")) {
    column.descending = parts.back() == "desc";
    parts.pop_back();
  }
  if (parts.size() > 3) {
    return Status::InvalidArgument(Format(
        "--index '{}': expected NAME=FAMILY:COLUMN[:TYPE][:desc]; a ':' inside a name is \\x3a",
        EscapeBytes(text)));
  }
  if (parts.size() == 3) {
    ASSIGN_OR_RETURN(column.type, ParseType(parts[2]));
  }
  if (parts.size() >= 2) {
    ASSIGN_OR_RETURN(column.family, ParseEscaped(parts[0]));
  }
  ASSIGN_OR_RETURN(column.qualifier, ParseEscaped(parts[parts.size() >= 2 ? 1 : 0]));
  return index;
}

Result<ColumnSelection> ParseColumns(std::string_view text) {
  ColumnSelection selection;
  for (const std::string_view part : SplitText(text, ',')) {
    ASSIGN_OR_RETURN(ColumnName column, ParseColumnName(part));
    if (part == "*") {
      return Status::InvalidArgument("'*': expected FAMILY:*; a column of that name is \\x2a");
    }
    if (part.ends_with(":*")) {
      selection.families.push_back(std::move(column.family));
    } else {
      selection.columns.push_back(std::move(column));
    }
  }
  return selection;
}

Result<Selection> ParseSelection(std::string_view text) {
  Selection selection;
  for (const std::string_view part : SplitList(text)) {
    if (IsExpression(part)) {
      selection.expressions.emplace_back(part);
      selection.fields.push_back({.column = {}, .expression = std::string(part)});
      continue;
    }
    ASSIGN_OR_RETURN(const ColumnSelection plain, ParseColumns(part));
    std::ranges::copy(plain.families, std::back_inserter(selection.families));
    for (const ColumnName& column : plain.columns) {
      selection.columns.push_back(column);
      selection.fields.push_back({.column = column});
    }
  }
  return selection;
}

Result<std::vector<std::string>> ParseKeys(std::string_view text) {
  std::vector<std::string> keys;
  for (const std::string_view part : SplitText(text, ',')) {
    if (part.empty()) {
      return Status::InvalidArgument(
          Format("'{}': an empty key; a ',' inside a key is \\x2c", EscapeBytes(text)));
    }
    ASSIGN_OR_RETURN(keys.emplace_back(), ParseBytes(part));
  }
  return keys;
}

Result<ColumnScope> ParseScope(std::string_view text) {
  ColumnScope scope;
  scope.whole_family = text.find(':') == std::string_view::npos;
  ASSIGN_OR_RETURN(ColumnName name, ParseColumnName(text));
  scope.family = scope.whole_family ? std::move(name.qualifier) : std::move(name.family);
  if (!scope.whole_family) scope.qualifier = std::move(name.qualifier);
  return scope;
}

Result<CellText> ParseCell(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Status::InvalidArgument(Format("'{}': expected FAMILY:COLUMN=VALUE", EscapeBytes(text)));
  }
  CellText cell;
  ASSIGN_OR_RETURN(cell.column, ParseColumnName(text.substr(0, equals)));
  ASSIGN_OR_RETURN(cell.value, ParseBytes(text.substr(equals + 1)));
  return cell;
}

Result<std::vector<std::string>> ParseIndexNames(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view part : SplitText(text, ',')) {
    if (part.empty()) {
      return Status::InvalidArgument(
          Format("--index '{}': an empty name; a ',' inside a name is \\x2c", EscapeBytes(text)));
    }
    ASSIGN_OR_RETURN(names.emplace_back(), ParseEscaped(part));
  }
  return names;
}

namespace {

// Takes "_row", perhaps with ASC or DESC after it.
bool IsByKey(std::string_view text, OrderText* order) {
  constexpr std::string_view kRowKey = "_row";
  if (!text.starts_with(kRowKey)) return false;
  std::string direction;
  for (const char c : text.substr(kRowKey.size())) {
    if (c != ' ' && c != '\t') direction += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  if (direction != "" && direction != "ASC" && direction != "DESC") return false;
  order->descending ^= direction == "DESC";
  return true;
}

}  // namespace

Result<OrderText> ParseOrder(std::string_view text) {
  OrderText order;
  for (const std::string_view ending : {":desc", ":asc"}) {
    if (!text.ends_with(ending)) continue;
    order.descending = ending == ":desc";
    text.remove_suffix(ending.size());
    break;
  }
  if (IsByKey(text, &order)) return order;
  order.is_columns = IsAsInPredicate(text) || text.find_first_of(":\"") != std::string_view::npos;
  if (order.is_columns) {
    const auto columns = IndexColumn::ParseList(text);
    if (!columns.has_value()) {
      return Status::InvalidArgument(Format("--order-by '{}': expected INDEX or COLUMN, ...; {}",
                                            EscapeBytes(text), columns.error().message()));
    }
    order.index = text;
    return order;
  }
  ASSIGN_OR_RETURN(order.index, ParseEscaped(text));
  return order;
}

Result<uint64_t> ParseSize(std::string_view text) {
  if (const auto size = ParseQuantity(text, kSizeUnits)) return *size;
  return Status::InvalidArgument(
      Format("'{}': expected a size such as 8192, 64KiB or 16MiB", EscapeBytes(text)));
}

Result<uint64_t> ParseOffset(std::string_view option, std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = is_hex ? text.substr(2) : text;
  uint64_t number = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, number, is_hex ? 16 : 10);
  if (error == std::errc() && end == last) return number;
  return Status::InvalidArgument(
      Format("{} '{}': expected a number such as 4096 or 0x1000", option, EscapeBytes(text)));
}

Result<int64_t> ParseDuration(std::string_view text) {
  if (const auto micros = ParseQuantity(text, kDurationUnits)) return static_cast<int64_t>(*micros);
  return Status::InvalidArgument(
      Format("'{}': expected a duration such as 250ms, 10s, 2h or 7d", EscapeBytes(text)));
}

Result<int64_t> ParseTime(std::string_view option, std::string_view text) {
  if (const auto micros = format::ParseTimestamp(text)) return *micros;
  return Status::InvalidArgument(
      Format("{} '{}': expected microseconds since 1970, or a time such as 2026-11-20T10:11:12Z",
             option, EscapeBytes(text)));
}

std::string_view CompressionName(Compression compression) {
  return compression == Compression::kZstd ? "zstd" : "none";
}

}  // namespace tandem::tools

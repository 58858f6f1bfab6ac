// Each option is read on its own, then against the others.
#include "tools/tandem/read_arguments.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

Result<std::optional<int64_t>> OptionalTime(std::string_view option, const std::string& text) {
  if (text.empty()) return std::optional<int64_t>();
  ASSIGN_OR_RETURN(const int64_t micros, ParseTime(option, text));
  return std::optional<int64_t>(micros);
}

// The table as it is now, or was at the snapshot.
Result<TableOptions> DefinitionOf(const TableRead& from) {
  if (from.snapshot.empty()) {
    ASSIGN_OR_RETURN(TableInfo table, FindTable(from.database, from.table));
    return std::move(table.options);
  }
  ASSIGN_OR_RETURN(const std::string name, ParseEscaped(from.snapshot));
  ASSIGN_OR_RETURN(const auto snapshots, from.database.ListSnapshots());
  for (const NamedSnapshotInfo& snapshot : snapshots) {
    if (snapshot.name != name) continue;
    const auto table = std::ranges::find(snapshot.tables, from.table, &TableOptions::name);
    if (table != snapshot.tables.end()) return *table;
  }
  return Status::NotFound(Format("snapshot '{}' has no table '{}'", EscapeBytes(from.snapshot),
                                 EscapeBytes(from.table)));
}

// One end of bounds, FIELD=VALUE.
Status AddBound(std::string_view option, const std::optional<std::string>& text,
                RowKeyBounds* bounds, std::optional<std::string>* end) {
  if (!text.has_value()) return {};
  const size_t equals = text->find('=');
  if (equals == std::string::npos) {
    return Status::InvalidArgument(
        Format("{} '{}': expected FIELD=VALUE", option, EscapeBytes(*text)));
  }
  const std::string field = text->substr(0, equals);
  if (!bounds->field.empty() && bounds->field != field) {
    return Status::InvalidArgument(Format("{} '{}': the other end is of field '{}'", option,
                                          EscapeBytes(*text), EscapeBytes(bounds->field)));
  }
  bounds->field = field;
  ASSIGN_OR_RETURN(*end, ParseBytes(text->substr(equals + 1)));
  return {};
}

Result<RowKeyBounds> BoundsOf(const FieldArguments& arguments) {
  RowKeyBounds bounds;
  RETURN_IF_ERROR(AddBound("--from", arguments.from, &bounds, &bounds.from));
  RETURN_IF_ERROR(AddBound("--to", arguments.to, &bounds, &bounds.to));
  return bounds;
}

Status BadBudget(const std::string& text, std::string_view part) {
  return Status::InvalidArgument(Format(
      "--budget '{}': expected rows=N, blocks=N, bytes=64MiB, ms=N or memory=16MiB, found '{}'",
      EscapeBytes(text), EscapeBytes(part)));
}

std::optional<uint64_t> SizeOf(std::string_view text) {
  const Result<uint64_t> size = ParseSize(text);
  return size.has_value() ? std::optional(*size) : std::nullopt;
}

}  // namespace

Result<ReadOptions> ReadOptionsOf(const ReadArguments& arguments) {
  if (arguments.versions == 0) {
    return Status::InvalidArgument("--versions 0: expected a number from 1");
  }
  ReadOptions read;
  read.versions = arguments.versions;
  read.threads = arguments.threads;
  ASSIGN_OR_RETURN(ColumnSelection selection, ParseColumns(arguments.columns));
  read.columns = std::move(selection.columns);
  read.families = std::move(selection.families);
  ASSIGN_OR_RETURN(read.as_of, OptionalTime("--as-of", arguments.as_of));
  ASSIGN_OR_RETURN(read.since, OptionalTime("--since", arguments.since));
  if (read.since.has_value() && read.as_of.has_value() && *read.since > *read.as_of) {
    return Status::InvalidArgument(Format("--since {} is after --as-of {}; nothing lies between",
                                          arguments.since, arguments.as_of));
  }
  return read;
}

Result<ReadBudget> BudgetOf(const std::string& text) {
  ReadBudget budget;
  if (text.empty()) return budget;
  for (const std::string_view part : SplitText(text, ',')) {
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    const bool is_size = name == "bytes" || name == "memory";
    const std::optional<uint64_t> limit = is_size ? SizeOf(value) : format::ParseUint64(value);
    if (limit.value_or(0) == 0) return BadBudget(text, part);
    if (name == "rows") {
      budget.rows = *limit;
    } else if (name == "blocks") {
      budget.blocks = *limit;
    } else if (name == "bytes") {
      budget.bytes = *limit;
    } else if (name == "memory") {
      budget.memory = *limit;
    } else if (name == "ms") {
      constexpr uint64_t kMillisecondsMax = INT64_MAX / 1000;
      budget.micros = static_cast<int64_t>(std::min(*limit, kMillisecondsMax)) * 1000;
    } else {
      return BadBudget(text, part);
    }
  }
  return budget;
}

Status SetPage(const PageArguments& arguments, uint64_t limit, uint64_t* offset,
               uint64_t* rows_max) {
  *offset = arguments.offset;
  *rows_max = limit;
  if (arguments.page.has_value() != arguments.page_size.has_value()) {
    return Status::InvalidArgument(
        "--page and --page-size go together, as in --page 3 --page-size 20");
  }
  if (!arguments.page.has_value()) return {};
  if (*arguments.page == 0) {
    return Status::InvalidArgument("--page 0: pages are numbered from 1");
  }
  const uint64_t size = *arguments.page_size;
  if (size == 0) {
    return Status::InvalidArgument("--page-size 0: a page has at least one row");
  }
  if (*arguments.page - 1 > UINT64_MAX / size) {
    return Status::InvalidArgument(
        Format("--page {}: no table has so many rows; the last page of {} rows is {}",
               *arguments.page, size, UINT64_MAX / size + 1));
  }
  *offset = (*arguments.page - 1) * size;
  *rows_max = size;
  return {};
}

Result<ScanOptions> ScanOptionsOf(const RangeArguments& arguments) {
  ScanOptions scan;
  ASSIGN_OR_RETURN(scan.start, ParseBytes(arguments.start));
  ASSIGN_OR_RETURN(scan.end, ParseBytes(arguments.end));
  ASSIGN_OR_RETURN(scan.prefix, ParseBytes(arguments.prefix));
  return scan;
}

Result<std::unique_ptr<const Snapshot>> ReadAtSnapshot(const ReadArguments& arguments,
                                                       Database& database, ReadOptions* read) {
  std::unique_ptr<const Snapshot> snapshot;
  if (arguments.snapshot.empty()) return snapshot;
  ASSIGN_OR_RETURN(const std::string name, ParseEscaped(arguments.snapshot));
  ASSIGN_OR_RETURN(Snapshot opened, FindSnapshot(database, name));
  snapshot = std::make_unique<const Snapshot>(std::move(opened));
  read->snapshot = snapshot.get();
  return snapshot;
}

Status WithSuggestion(const TableRead& from, Status status) {
  if (!from.snapshot.empty()) return status;
  return WithSuggestion(from.database, from.table, std::move(status));
}

Result<OptionalRowKey> RowKeyOf(const TableRead& from) {
  const Result<TableOptions> table = DefinitionOf(from);
  if (!table.has_value() && table.error().code() == StatusCode::kNotFound) return OptionalRowKey();
  RETURN_IF_ERROR(table.status());
  return RowKeyOf(*table);
}

namespace {

// The fields that are given, of a table whose keys have some.
Result<std::vector<RowKeyField>> PrefixOf(const FieldArguments& arguments,
                                          const OptionalRowKey& row_key) {
  if (!row_key.has_value()) {
    return Status::InvalidArgument(
        "the table's row keys are bytes without fields; --start, --end and --prefix say which");
  }
  ASSIGN_OR_RETURN(auto fields, FieldsOf(row_key->newest(), arguments.prefix));
  if (fields.size() == arguments.prefix.size()) return fields;
  return Status::InvalidArgument(Format("'{}': expected FIELD=VALUE of a field of the row key {}",
                                        EscapeBytes(arguments.prefix[fields.size()]),
                                        row_key->newest().ToString()));
}

}  // namespace

Status AddFields(const FieldArguments& arguments, const OptionalRowKey& row_key,
                 ScanOptions* scan) {
  if (arguments.empty()) return {};
  ASSIGN_OR_RETURN(const auto fields, PrefixOf(arguments, row_key));
  ASSIGN_OR_RETURN(const RowKeyBounds bounds, BoundsOf(arguments));
  if (!arguments.newest.has_value()) {
    ASSIGN_OR_RETURN(ScanOptions in_order, row_key->InFieldOrder(fields, bounds));
    scan->ranges = std::move(in_order.ranges);
    return {};
  }
  ASSIGN_OR_RETURN(ScanOptions newest, row_key->Newest(fields, *arguments.newest, bounds));
  scan->ranges = std::move(newest.ranges);
  scan->reverse = newest.reverse;
  scan->limit = newest.limit;
  return {};
}

Status AddFields(const FieldArguments& arguments, const OptionalRowKey& row_key,
                 QueryOptions* query) {
  if (arguments.empty() || !query->order_by.empty()) return {};
  ASSIGN_OR_RETURN(const auto fields, PrefixOf(arguments, row_key));
  ASSIGN_OR_RETURN(const RowKeyBounds bounds, BoundsOf(arguments));
  Result<ScanOptions> in_order = row_key->InFieldOrder(fields, bounds);
  if (in_order.status().code() == StatusCode::kUnsupported) return {};
  if (!in_order.has_value()) return in_order.error();
  query->ranges = std::move(in_order->ranges);
  return {};
}

Result<Predicate> ConditionOf(const FieldArguments& arguments, const OptionalRowKey& row_key) {
  if (arguments.empty()) return Predicate();
  ASSIGN_OR_RETURN(const auto fields, PrefixOf(arguments, row_key));
  ASSIGN_OR_RETURN(const RowKeyBounds bounds, BoundsOf(arguments));
  ASSIGN_OR_RETURN(const std::vector<RowRange> rows, row_key->Between(fields, bounds));
  std::vector<Predicate> ranges;
  for (const RowRange& range : rows) {
    std::vector<Predicate> ends = {Predicate::GreaterOrEqual("_row", range.start)};
    if (!range.end.empty()) ends.push_back(Predicate::Less("_row", range.end));
    ranges.push_back(Predicate::And(std::move(ends)));
  }
  return Predicate::Or(std::move(ranges));
}

Result<RowLayout> LayoutOf(OutputMode mode, const ReadOptions& read, const TableRead& from) {
  RowLayout layout{mode, {}, read.families, read.versions, {}};
  for (const ColumnName& column : read.columns) layout.fields.push_back({.column = column});
  ASSIGN_OR_RETURN(layout.row_key, RowKeyOf(from));
  if (std::ranges::none_of(read.columns,
                           [](const auto& column) { return column.family.empty(); })) {
    return layout;
  }
  ASSIGN_OR_RETURN(const TableOptions table, DefinitionOf(from));
  layout.first_family = table.families.front().name;
  return layout;
}

}  // namespace tandem::tools

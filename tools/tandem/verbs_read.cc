// get and scan.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/key_fields.h"
#include "tools/tandem/read_arguments.h"
#include "tools/tandem/verbs.h"
#include "tools/tandem/write_rows.h"

namespace tandem::tools {
namespace {

/// Why get found nothing: what was asked for may leave out all that a row has.
Status NoSuchRow(const std::string& key, std::string_view table, const ReadOptions& read) {
  const bool narrowed = !read.columns.empty() || !read.families.empty();
  const bool past = read.as_of.has_value() || read.since.has_value() || read.snapshot != nullptr;
  const std::string row = Format("row '{}'", EscapeBytes(key));
  if (!narrowed && !past) {
    return Status::NotFound(Format("{} is not in table '{}'", row, EscapeBytes(table)));
  }
  return Status::NotFound(Format("{} of table '{}' has {}{}, or is not there", row,
                                 EscapeBytes(table), narrowed ? "none of these columns" : "no cell",
                                 past ? " of this time" : ""));
}

Result<ExitCode> WriteHistory(const GetOptions& options, const std::string& key,
                              const ReadOptions& read, const TableRead& from,
                              const Context& context) {
  ASSIGN_OR_RETURN(const ColumnSelection selection, ParseColumns(options.history));
  if (selection.columns.size() != 1 || !selection.families.empty()) {
    return Status::InvalidArgument(
        Format("--history '{}': expected one [FAMILY:]COLUMN", EscapeBytes(options.history)));
  }
  const auto values = from.database.History(read, options.table, key, selection.columns.front());
  if (!values.has_value()) return WithSuggestion(from, values.error());
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  writer->Begin("value", {"from", "to", "value"});
  for (const HistoryValue& value : *values) {
    writer->Add({value.from, value.to.has_value() ? Value(*value.to) : Value(), value.value});
  }
  writer->End();
  return ExitCode::kDone;
}

/// The row, under the key that it has.
Result<std::optional<Row>> FindRow(const TableRead& from, const ReadOptions& read,
                                   const OptionalRowKey& row_key, const RowWords& words) {
  ASSIGN_OR_RETURN(const std::vector<std::string> keys, KeysOf(row_key, words));
  if (keys.size() == 1) return from.database.Get(read, from.table, keys.front());
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  ASSIGN_OR_RETURN(auto rows, from.database.MultiGet(read, from.table, views));
  const auto found = std::ranges::find_if(rows, [](const auto& row) { return row.has_value(); });
  return found == rows.end() ? std::optional<Row>() : std::move(*found);
}

Result<ExitCode> WriteParts(const ScanVerbOptions& options, const ReadOptions& read,
                            const TableRead& from, const Context& context) {
  const auto parts = from.database.SplitScan(read, options.table, *options.parts);
  if (!parts.has_value()) return WithSuggestion(from, parts.error());
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  writer->Begin("part", {"start", "end"});
  for (const RowRange& part : *parts) {
    writer->Add({part.start.empty() ? Value() : Value(part.start),
                 part.end.empty() ? Value() : Value(part.end)});
  }
  writer->End();
  return ExitCode::kDone;
}

}  // namespace

Result<ExitCode> RunVerb(const GetOptions& options, const Context& context) {
  RETURN_IF_ERROR(ParseBytes(options.row.front()).status());
  ASSIGN_OR_RETURN(ReadOptions read, ReadOptionsOf(options.read));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &read));
  const TableRead from{*database, options.table, options.read.snapshot};
  ASSIGN_OR_RETURN(RowLayout layout, LayoutOf(options.output, read, from));
  ASSIGN_OR_RETURN(const RowWords words, OnlyRowKey(layout.row_key, options.row));
  const auto row = FindRow(from, read, layout.row_key, words);
  if (!row.has_value()) return WithSuggestion(from, row.error());
  const std::string key(row->has_value() ? (*row)->key() : words.key);
  if (!options.history.empty()) return WriteHistory(options, key, read, from, context);
  if (!row->has_value()) {
    return NoSuchRow(FieldsText(layout.row_key, key).value_or(key), options.table, read);
  }
  RowWriter writer(std::move(layout), context.out);
  writer.Add((*row)->view());
  writer.End();
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const ScanVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(ScanOptions scan, ScanOptionsOf(options.range));
  for (const std::string& word : options.fields.prefix) {
    if (word.find('=') != std::string::npos) continue;
    return Status::InvalidArgument(
        Format("'{}': expected FIELD=VALUE of a field of the row key", EscapeBytes(word)));
  }
  scan.reverse = options.reverse;
  RETURN_IF_ERROR(SetPage(options.page, options.limit, &scan.offset, &scan.limit));
  scan.after = options.page.after;
  scan.before = options.page.before;
  ASSIGN_OR_RETURN(ReadOptions read, ReadOptionsOf(options.read));
  read.pieces = true;
  ASSIGN_OR_RETURN(read.budget, BudgetOf(options.budget));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &read));
  const TableRead from{*database, options.table, options.read.snapshot};
  ASSIGN_OR_RETURN(RowLayout layout, LayoutOf(options.output, read, from));
  RETURN_IF_ERROR(AddFields(options.fields, layout.row_key, &scan));
  if (options.parts.has_value()) return WriteParts(options, read, from, context);
  auto cursor = database->Scan(read, options.table, scan);
  if (!cursor.has_value()) return WithSuggestion(from, cursor.error());
  RETURN_IF_ERROR(PrintRows(&*cursor, std::move(layout), options.page.token, context).status());
  return ExitCode::kDone;
}

}  // namespace tandem::tools

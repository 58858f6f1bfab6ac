// get and scan.
#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
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

}  // namespace

Result<ExitCode> RunVerb(const GetOptions& options, const Context& context) {
  RETURN_IF_ERROR(ParseBytes(options.row.front()).status());
  ASSIGN_OR_RETURN(ReadOptions read, ReadOptionsOf(options.read));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &read));
  const TableRead from{*database, options.table, options.read.snapshot};
  ASSIGN_OR_RETURN(RowLayout layout, LayoutOf(options.output, read, from));
  ASSIGN_OR_RETURN(const std::string key, OnlyRowKey(layout.row_key, options.row));
  const auto row = database->Get(read, options.table, key);
  if (!row.has_value()) return WithSuggestion(from, row.error());
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
  auto cursor = database->Scan(read, options.table, scan);
  if (!cursor.has_value()) return WithSuggestion(from, cursor.error());
  RETURN_IF_ERROR(PrintRows(&*cursor, std::move(layout), options.page.token, context).status());
  return ExitCode::kDone;
}

}  // namespace tandem::tools

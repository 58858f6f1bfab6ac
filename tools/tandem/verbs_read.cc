// get and scan.
#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/read_arguments.h"
#include "tools/tandem/verbs.h"
#include "tools/tandem/write_rows.h"

namespace tandem::tools {
namespace {

/// Why get found nothing: what was asked for may leave out all that a row has.
Status NoSuchRow(std::string_view key, std::string_view table, const ReadOptions& read) {
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
  ASSIGN_OR_RETURN(const std::string key, ParseBytes(options.row));
  ASSIGN_OR_RETURN(ReadOptions read, ReadOptionsOf(options.read));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &read));
  const TableRead from{*database, options.table, options.read.snapshot};
  const auto row = database->Get(read, options.table, key);
  if (!row.has_value()) return WithSuggestion(from, row.error());
  if (!row->has_value()) return NoSuchRow(key, options.table, read);
  ASSIGN_OR_RETURN(RowLayout layout, LayoutOf(options.output, read, from));
  RowWriter writer(std::move(layout), context.out);
  writer.Add((*row)->view());
  writer.End();
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const ScanVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(ScanOptions scan, ScanOptionsOf(options.range));
  scan.reverse = options.reverse;
  scan.limit = options.limit;
  ASSIGN_OR_RETURN(ReadOptions read, ReadOptionsOf(options.read));
  read.pieces = true;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &read));
  const TableRead from{*database, options.table, options.read.snapshot};
  auto cursor = database->Scan(read, options.table, scan);
  if (!cursor.has_value()) return WithSuggestion(from, cursor.error());
  ASSIGN_OR_RETURN(RowLayout layout, LayoutOf(options.output, read, from));
  RETURN_IF_ERROR(PrintRows(&*cursor, std::move(layout), context).status());
  return ExitCode::kDone;
}

}  // namespace tandem::tools

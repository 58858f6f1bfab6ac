// get and scan.
#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/row_output.h"
#include "tools/tandem/verbs.h"
#include "tools/tandem/write_rows.h"

namespace tandem::tools {
namespace {

/// The columns and versions that a user asked for.
Result<ReadOptions> ReadOptionsOf(const std::string& columns, uint32_t versions) {
  if (versions == 0) return Status::InvalidArgument("--versions 0: expected a number from 1");
  ReadOptions read;
  ASSIGN_OR_RETURN(read.columns, ParseColumns(columns));
  read.versions = versions;
  return read;
}

}  // namespace

Result<ExitCode> RunVerb(const GetOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::string key, ParseBytes(options.row));
  ASSIGN_OR_RETURN(const ReadOptions read, ReadOptionsOf(options.columns, options.versions));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  const auto row = database->Get(read, options.table, key);
  if (!row.has_value()) return WithSuggestion(*database, options.table, row.error());
  if (!row->has_value() && !read.columns.empty()) {
    return Status::NotFound(
        Format("row '{}' of table '{}' has none of these columns, or is not there",
               EscapeBytes(key), EscapeBytes(options.table)));
  }
  if (!row->has_value()) {
    return Status::NotFound(
        Format("row '{}' is not in table '{}'", EscapeBytes(key), EscapeBytes(options.table)));
  }
  RowWriter writer({options.output, read.columns, read.versions}, context.out);
  writer.Add((*row)->view());
  writer.End();
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const ScanVerbOptions& options, const Context& context) {
  ScanOptions scan;
  scan.reverse = options.reverse;
  scan.limit = options.limit;
  ASSIGN_OR_RETURN(scan.start, ParseBytes(options.start));
  ASSIGN_OR_RETURN(scan.end, ParseBytes(options.end));
  ASSIGN_OR_RETURN(scan.prefix, ParseBytes(options.prefix));
  ASSIGN_OR_RETURN(const ReadOptions read, ReadOptionsOf(options.columns, options.versions));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  auto cursor = database->Scan(read, options.table, scan);
  if (!cursor.has_value()) return WithSuggestion(*database, options.table, cursor.error());
  return WriteRows(&*cursor, {options.output, read.columns, read.versions}, context);
}

}  // namespace tandem::tools

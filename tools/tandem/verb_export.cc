// export: the cells of a table in a form that import reads back without loss, or as store files
// that attach takes.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output_file.h"
#include "tools/tandem/read_arguments.h"
#include "tools/tandem/suggest.h"
#include "tools/tandem/verbs.h"
#include "tools/tandem/write_rows.h"

namespace tandem::tools {
namespace {

Result<OutputMode> ParseExportFormat(const std::string& text) {
  const std::vector<std::string> known = {"jsonl", "csv", "tsv"};
  if (std::ranges::find(known, text) != known.end()) return ParseOutputMode(text);
  return Status::InvalidArgument(Format("--format '{}': expected jsonl, csv or tsv{}",
                                        EscapeBytes(text), DidYouMean(text, known)));
}

/// What is written when an export is interrupted, and how to continue.
Status Incomplete(const Status& status, const RowCounts& counts) {
  const std::string message =
      Format("{}; rows written: {}", status.message(), FormatCount(counts.rows));
  if (status.code() != StatusCode::kCancelled || counts.cells == 0) {
    return Status(status.code(), message);
  }
  return Status(status.code(), Format("{}; --start '{}' goes on with the last of them", message,
                                      KeyText(counts.last_key)));
}

Result<ExitCode> ExportFiles(const ExportOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ReadOptions read;
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &read));
  const TableRead from{*database, options.table, options.read.snapshot};
  const Progress progress(context);
  const auto copy = database->ExportFiles(
      options.table, options.files, {.snapshot = snapshot.get(), .cancelled = context.interrupted});
  if (!copy.has_value()) return WithSuggestion(from, copy.error());
  WriteBytes(context.err,
             Format("tandem: export: rows {}, cells {}, files {}, bytes {}; {:.2f} s\n",
                    FormatCount(copy->rows), FormatCount(copy->cells), copy->files,
                    FormatCount(copy->bytes), progress.seconds()));
  return ExitCode::kDone;
}

}  // namespace

Result<ExitCode> RunVerb(const ExportOptions& options, const Context& context) {
  if (!options.files.empty()) return ExportFiles(options, context);
  ASSIGN_OR_RETURN(const OutputMode mode, ParseExportFormat(options.format));
  ASSIGN_OR_RETURN(const ScanOptions scan, ScanOptionsOf(options.range));
  ASSIGN_OR_RETURN(ReadOptions read, ReadOptionsOf(options.read));
  read.pieces = true;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &read));
  const TableRead from{*database, options.table, options.read.snapshot};
  auto cursor = database->Scan(read, options.table, scan);
  if (!cursor.has_value()) return WithSuggestion(from, cursor.error());

  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Open(options.to, context));
  RowWriter writer(
      {.mode = mode, .fields = {}, .families = {}, .versions = read.versions, .first_family = {}},
      file.stream());
  Progress progress(context);
  RowCounts counts;
  Status status = WriteRows(&*cursor, {&writer, file.stream(), context, &progress}, &counts);
  const Status closed = file.Close();
  progress.Wipe();
  if (status.ok() || !closed.ok()) status = closed;
  if (!status.ok()) return Incomplete(status, counts);
  WriteBytes(context.err,
             Format("tandem: export: rows {}, cells {}; {:.2f} s\n", FormatCount(counts.rows),
                    FormatCount(counts.cells), progress.seconds()));
  return ExitCode::kDone;
}

}  // namespace tandem::tools

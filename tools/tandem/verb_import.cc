// import: opens the inputs, feeds the importer, says what came of it.
#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/importer.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

Status AddFiles(const ImportOptions& options, Importer* importer, const Context& context) {
  for (const std::string& name : options.files) {
    OwnedFile opened;
    if (name != "-") {
      ASSIGN_OR_RETURN(opened, OpenInput(name));
    }
    InputBuffer input(opened == nullptr ? context.in : opened.get(),
                      opened == nullptr ? "standard input" : name);
    RETURN_IF_ERROR(importer->Add(&input));
  }
  return {};
}

/// The summary: on stderr for people; as a record on stdout where a machine's form was asked for
/// and stdout carries no acknowledgements.
void WriteSummary(const ImportSummary& summary, const ImportOptions& options,
                  const Context& context) {
  const double rate =
      summary.seconds > 0 ? static_cast<double>(summary.records) / summary.seconds : 0;
  WriteBytes(
      context.err,
      Format("tandem: import: rows {}, cells {}, bytes {}; repeated row keys {}, malformed "
             "records {}; {:.2f} s, {} records/s\n",
             FormatCount(summary.rows()), FormatCount(summary.cells), FormatCount(summary.bytes),
             FormatCount(summary.duplicates), FormatCount(summary.rejected), summary.seconds,
             FormatCount(static_cast<uint64_t>(rate))));
  if (options.output == OutputMode::kTable || options.acknowledge) return;
  const Property properties[] = {
      {"rows", summary.rows()}, {"records", summary.records},       {"cells", summary.cells},
      {"bytes", summary.bytes}, {"duplicates", summary.duplicates}, {"rejected", summary.rejected},
  };
  NewRecordWriter(options.output, context.out)->AddProperties("import", properties);
}

/// What is in the table after an import that did not come to its end, and how to go on.
Status Interrupted(const Status& status, const ImportSummary& summary) {
  const bool stopped = status.code() == StatusCode::kCancelled;
  if (!stopped && status.code() != StatusCode::kInvalidArgument) return status;
  return Status(status.code(),
                Format("{}; records written: {}, which stay; the same import again overwrites "
                       "them and goes on",
                       status.message(), FormatCount(summary.records)));
}

}  // namespace

Result<ExitCode> RunVerb(const ImportOptions& options, const Context& context) {
  ImportJob job{.table = options.table,
                .family = options.family,
                .format = options.format,
                .row_key = {},
                .strict = options.strict,
                .acknowledge = options.acknowledge,
                .batch_rows = options.batch_rows};
  ASSIGN_OR_RETURN(job.row_key, RowKeyTemplate::Parse(options.row));
  InputBuffer nothing(context.in, "");
  RETURN_IF_ERROR(NewRecordReader(options.format, &nothing).status());
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(CheckFamilyName(table, options.family));

  Importer importer(database.get(), std::move(job), context);
  Status status = AddFiles(options, &importer, context);
  if (status.ok()) status = importer.Finish();
  const ImportSummary summary = importer.summary();
  const Status closed = database->Close();
  if (!status.ok()) return Interrupted(status, summary);
  RETURN_IF_ERROR(closed);
  WriteSummary(summary, options, context);
  return ExitCode::kDone;
}

}  // namespace tandem::tools

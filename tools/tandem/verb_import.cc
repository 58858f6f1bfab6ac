// import: opens the inputs, feeds the importer, and prints the result.
#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/importer.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

Status AddFiles(const ImportOptions& options, Database& database, Importer* importer,
                const Context& context) {
  for (const std::string& name : options.files) {
    OwnedFile opened;
    if (name != "-") {
      ASSIGN_OR_RETURN(opened, OpenInput(name));
    }
    InputBuffer input(opened == nullptr ? context.in : opened.get(),
                      opened == nullptr ? "standard input" : name);
    RETURN_IF_ERROR(WithSuggestion(database, options.table, importer->Add(&input)));
  }
  return {};
}

/// "repeated row keys 3", or what replaces it where such records are versions of a row.
std::string RecordsText(const ImportSummary& summary) {
  return summary.timed ? "records " + FormatCount(summary.records)
                       : "repeated row keys " + FormatCount(summary.duplicates());
}

/// The summary: on stderr for people; as a record on stdout where a machine's form was asked for
/// and stdout carries no acknowledgements.
void WriteSummary(const ImportSummary& summary, const ImportOptions& options,
                  const Context& context) {
  const double rate =
      summary.seconds > 0 ? static_cast<double>(summary.records) / summary.seconds : 0;
  const std::string skipped =
      summary.skipped == 0 ? "" : "skipped lines " + FormatCount(summary.skipped) + ", ";
  WriteBytes(
      context.err,
      Format("tandem: import: rows {}, cells {}, bytes {}; {}, {}malformed records {}; "
             "{:.2f} s, {} records/s\n",
             FormatCount(summary.rows()), FormatCount(summary.cells), FormatCount(summary.bytes),
             RecordsText(summary), skipped, FormatCount(summary.rejected), summary.seconds,
             FormatCount(static_cast<uint64_t>(rate))));
  if (options.output == OutputMode::kTable || options.acknowledge) return;
  const Property properties[] = {
      {"rows", summary.rows()},
      {"records", summary.records},
      {"cells", summary.cells},
      {"bytes", summary.bytes},
      {"duplicates", summary.duplicates()},
      {"skipped", summary.skipped},
      {"rejected", summary.rejected},
  };
  NewRecordWriter(options.output, context.out)->AddProperties("import", properties);
}

/// What is in the table after an interrupted import, and how to continue.
Status Interrupted(const Status& status, const ImportSummary& summary, bool bulk) {
  const bool stopped = status.code() == StatusCode::kCancelled;
  if (!stopped && status.code() != StatusCode::kInvalidArgument) return status;
  if (summary.records == 0) return status;
  if (bulk) return Status(status.code(), Format("{}; no row was loaded", status.message()));
  return Status(status.code(),
                Format("{}; records written: {}, which stay; the same import again overwrites "
                       "them and goes on",
                       status.message(), FormatCount(summary.records)));
}

/// Refuses what does not fit together before anything is opened.
Result<ImportJob> JobOf(const ImportOptions& options, const Context& context) {
  ImportJob job{.table = options.table,
                .family = options.family,
                .format = options.format,
                .row_key = {},
                .typed_key = {},
                .strict = options.strict,
                .acknowledge = options.acknowledge,
                .bulk = options.bulk,
                .compact = options.compact,
                .batch_rows = options.batch_rows,
                .families = {}};
  if (options.bulk && options.acknowledge) {
    return Status::InvalidArgument(
        "--acknowledge: the rows of --bulk are written together, at the end; leave one out");
  }
  ASSIGN_OR_RETURN(job.row_key, RowKeyTemplate::Parse(options.row));
  InputBuffer nothing(context.in, "");
  RETURN_IF_ERROR(NewRecordReader({options.format}, &nothing).status());
  if (MakesRowKeys(options.format) && !options.row.empty()) {
    return Status::InvalidArgument(Format("--row '{}': {} has row keys of its own; leave --row out",
                                          EscapeBytes(options.row), options.format));
  }
  return job;
}

/// dpkg's log has many lines a package; a family with the default options keeps the newest alone.
void SayWhatIsKept(const ImportJob& job, const Context& context) {
  if (job.format != "dpkg-log") return;
  const auto family = job.family.empty()
                          ? job.families.begin()
                          : std::ranges::find(job.families, job.family, &FamilyOptions::name);
  if (family == job.families.end() || family->max_versions > 1) return;
  const std::string name = EscapeBytes(family->name);
  WriteBytes(
      context.err,
      Format("tandem: import: family '{}' keeps 1 version of a column, so the newest line of "
             "a package stays; 'tandem create --family {},versions=1000' keeps more\n",
             name, name));
}

void SayWhatIsLost(const ImportSummary& summary, const Context& context) {
  if (summary.lost == 0) return;
  WriteBytes(
      context.err,
      Format("tandem: import: cells older than the versions that their families keep: {}; they "
             "vanish; 'tandem create --family NAME,versions=N' keeps more\n",
             FormatCount(summary.lost)));
}

// So many runs of a region make reads slower; an engine that stays open would merge them.
constexpr size_t kRunsMany = 8;

/// The most runs that a region of the table will have once memory is flushed; 0: not known.
size_t MostRuns(Database& database, const std::string& name) {
  const Result<TableInfo> table = FindTable(database, name);
  if (!table.has_value()) return 0;
  size_t most = 0;
  for (const RegionInfo& region : table->regions) {
    std::set<uint64_t> runs;
    for (const FileInfo& file : region.files) runs.insert(file.run);
    most = std::max(most, runs.size() + (region.memstore_rows > 0 ? 1 : 0));
  }
  return most;
}

void SayHowManyRuns(size_t runs, const ImportOptions& options, const Context& context) {
  if (runs <= kRunsMany) return;
  WriteBytes(context.err,
             Format("tandem: import: a region of the table has {} runs of files, which slows reads "
                    "down; '{} compact {} {}' merges them\n",
                    runs, context.program, EscapeBytes(options.path), EscapeBytes(options.table)));
}

}  // namespace

Result<ExitCode> RunVerb(const ImportOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(ImportJob job, JobOf(options, context));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(CheckFamilyName(table, options.family));
  job.families = table.options.families;
  ASSIGN_OR_RETURN(job.typed_key, RowKeyOf(table.options));
  SayWhatIsKept(job, context);

  Importer importer(database.get(), std::move(job), context);
  Status status = AddFiles(options, *database, &importer, context);
  if (status.ok()) status = importer.Finish();
  const size_t runs = MostRuns(*database, options.table);
  const Status closed = database->Close();  // It flushes what was imported.
  const ImportSummary summary = importer.summary();
  if (!status.ok()) return Interrupted(status, summary, options.bulk);
  RETURN_IF_ERROR(closed);
  SayWhatIsLost(summary, context);
  SayHowManyRuns(runs, options, context);
  WriteSummary(summary, options, context);
  if (summary.records > 0 || summary.rejected == 0) return ExitCode::kDone;
  return Status::InvalidArgument(
      Format("every record is malformed, nothing was written; does "
             "'--format {}' suit the input?",
             options.format));
}

}  // namespace tandem::tools

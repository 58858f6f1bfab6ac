// index: create, drop, build, list, verify, stats, advise.
#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/salvage/verify_files.h"
#include "tools/tandem/advice_output.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/file_probe.h"
#include "tools/tandem/findings_output.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/index_output.h"
#include "tools/tandem/progress.h"
#include "tools/tandem/query_log.h"
#include "tools/tandem/row_output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

constexpr int64_t kLookAgainMicros = 20'000;
constexpr uint64_t kStillLooksMax = 50;

constexpr std::string_view kActions[] = {"create", "drop",  "build", "list",
                                         "verify", "stats", "advise"};

Status CheckArguments(const IndexVerbOptions& options) {
  if (std::ranges::find(kActions, options.action) == std::end(kActions)) {
    return Status::InvalidArgument(
        Format("index '{}': expected create, drop, build, list, verify, stats or advise",
               EscapeBytes(options.action)));
  }
  if (options.action == "list" && !options.index.empty()) {
    return Status::InvalidArgument("index list: expected no index");
  }
  if (options.action != "build" && !options.rate.empty()) {
    return Status::InvalidArgument(Format("index {}: expected no --rate", options.action));
  }
  if (options.action != "create" && options.global) {
    return Status::InvalidArgument(Format("index {}: expected no --global", options.action));
  }
  if (options.action != "stats" && options.cost) {
    return Status::InvalidArgument(Format("index {}: expected no --cost", options.action));
  }
  if (options.action == "advise" && (options.table.empty() || options.index.empty())) {
    return Status::InvalidArgument("index advise: expected DB TABLE FILE, a log or predicates");
  }
  const bool takes_one =
      options.action == "create" || options.action == "drop" || options.action == "build";
  if (takes_one && (options.table.empty() || options.index.empty())) {
    return Status::InvalidArgument(Format(
        "index {}: expected DB TABLE {}", options.action,
        options.action == "create"
            ? "[unique ]NAME=FAMILY:COLUMN[:TYPE][:desc] or NAME=COLUMN|FUNCTION(...)[, ...] "
              "[WHERE PREDICATE]"
            : "NAME"));
  }
  return {};
}

// Whether conditions compare the column as the type that the index has of it. The table has other
// types where an index could not give them.
bool HasConditionType(const TableOptions& table, const IndexColumn& column) {
  const std::string& first = table.families.front().name;
  return std::ranges::none_of(table.columns, [&](const ColumnOptions& declared) {
    const bool is_family = declared.family == (column.family.empty() ? first : column.family);
    return is_family && declared.qualifier == column.qualifier && declared.type != column.type;
  });
}

// What conditions have to look like for an index column of another type than its column's.
void TellOfCast(const std::string& table, const IndexColumn& column, const Context& context) {
  const std::string name = ColumnText(column);
  const std::string_view type = ColumnTypeName(column.type);
  if (!column.functions.empty()) {
    WriteBytes(context.err, Format("tandem: conditions compare what functions return as another "
                                   "type: write {}::{}\n",
                                   EscapeBytes(TextOf(column.functions, name)), type));
    return;
  }
  WriteBytes(context.err,
             Format("tandem: conditions compare column {} as another type: write {}::{}, or make "
                    "that its type: tandem alter DB {} --column {}:{}\n",
                    base::Quote(name), EscapeBytes(name), type, EscapeBytes(table),
                    EscapeBytes(name), type));
}

// The same for all columns of the index.
Status TellOfCasts(Database& database, const std::string& table, const IndexOptions& index,
                   const Context& context) {
  const bool is_global = index.placement == IndexPlacement::kGlobal;
  const IndexColumn& first = index.columns[0];
  QueryOptions query;
  query.use_index = index.name;
  query.ranges = {{.start = "", .end = std::string(1, '\0')}};  // Planned, but no row is read.
  Predicate present = Predicate::IsNotNull(ColumnText(first)).WithFunctions(first.functions);
  if (!index.where.empty()) {
    ASSIGN_OR_RETURN(Predicate where, Predicate::Parse(index.where));
    present = Predicate::And({std::move(present), std::move(where)});
  }
  if (!is_global) {  // One that is being built serves nothing yet.
    const auto used = database.Explain({}, table, present, query);
    if (!used.has_value() && used.error().code() == StatusCode::kInvalidArgument) {
      TellOfCast(table, first, context);
    }
  }
  ASSIGN_OR_RETURN(const TableInfo info, FindTable(database, table));
  for (size_t i = is_global ? 0 : 1; i < index.columns.size(); ++i) {
    const IndexColumn& column = index.columns[i];
    if (column.functions.empty() && !HasConditionType(info.options, column)) {
      TellOfCast(table, column, context);
    }
  }
  return {};
}

// How to list the rows that the index leaves out, if there may be some.
void TellOfUnfit(const std::string& table, const IndexInfo& index, const Context& context) {
  if (index.rows_without_entry == 0) return;
  const IndexColumn& column = index.options.columns[0];
  const std::string name = EscapeBytes(ColumnText(column));
  const std::string_view type = ColumnTypeName(column.type);
  if (column.is_row_key) {
    WriteBytes(context.err, Format("tandem: {} rows have no entry: {} makes no {} of their keys\n",
                                   FormatCount(index.rows_without_entry),
                                   EscapeBytes(TextOf(column.functions, name)), type));
    return;
  }
  if (AreOfFamily(column.functions)) {
    const std::string made = TextOf(column.functions, name);
    WriteBytes(context.err,
               Format("tandem: {} rows have a cell of family {} and no entry: no value of which {} "
                      "makes a {}, or a delete marker; they satisfy map_keys({}) IS NOT NULL AND "
                      "{}::{} IS NULL\n",
                      FormatCount(index.rows_without_entry), name, made, type, name, made, type));
    return;
  }
  const std::string rows = Format("tandem: {} rows have a cell of {} and no entry: ",
                                  FormatCount(index.rows_without_entry), name);
  if (!column.functions.empty()) {
    // Functions have quotes of their own, and a shell would take the `$` of a path.
    const std::string made = TextOf(column.functions, name);
    WriteBytes(context.err, Format("{}a value of which {} makes no {}, or a delete marker; they "
                                   "satisfy {} IS NOT NULL AND {}::{} IS NULL\n",
                                   rows, made, type, name, made, type));
    return;
  }
  WriteBytes(context.err, Format("{}a value that is no {}, or a delete marker; tandem query DB {} "
                                 "'{} IS NOT NULL AND {}::{} IS NULL'\n",
                                 rows, type, EscapeBytes(table), name, name, type));
}

// What a unique index does not allow, if it was found.
void TellOfDuplicates(const UniqueReport& report, const Context& context) {
  for (const DuplicateRows& found : report.listed) {
    WriteBytes(context.err,
               Format("tandem: rows {} and {} have the value {}\n", base::Quote(found.row),
                      base::Quote(found.other), base::Quote(found.value)));
  }
  if (report.listed.size() < report.duplicates) {
    WriteBytes(context.err, Format("tandem: and {} more\n",
                                   FormatCount(report.duplicates - report.listed.size())));
  }
}

// Makes a unique index that is built refuse duplicates, if there are none.
Status Enforce(Database& database, const std::string& table, const IndexInfo& index,
               const Context& context) {
  if (index.unique == UniqueState::kNone) return {};
  ASSIGN_OR_RETURN(const UniqueReport report,
                   database.EnforceUnique(table, index.options.name, context.interrupted));
  if (report.duplicates == 0) return {};
  TellOfDuplicates(report, context);
  return Status::AlreadyExists(Format(
      "index {} is not unique: {} of {} rows have the value of another one; nothing is "
      "refused until none has: change the rows and build it again, or drop the index",
      base::Quote(index.options.name), FormatCount(report.duplicates), FormatCount(report.rows)));
}

Result<ExitCode> Create(const IndexVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(IndexOptions index, ParseIndex(options.index));
  if (options.global) index.placement = IndexPlacement::kGlobal;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  for (const IndexColumn& column : index.columns) {
    RETURN_IF_ERROR(CheckFamilyName(table, column.family));
  }
  RETURN_IF_ERROR(database->CreateIndex(table.options.name, index));
  RETURN_IF_ERROR(TellOfCasts(*database, table.options.name, index, context));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> Drop(const IndexVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(CheckIndexName(table, options.index));
  RETURN_IF_ERROR(database->DropIndex(table.options.name, options.index));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

// The index of that name. Requires: the table has it.
const IndexInfo& InfoOf(const TableInfo& table, std::string_view name) {
  return *std::ranges::find_if(
      table.indexes, [name](const IndexInfo& index) { return index.options.name == name; });
}

// Remembers why a file of the table could not be rewritten. The engine tries such a file once.
class RewriteFailure final : public EventListener {
 public:
  explicit RewriteFailure(std::string table) : table_(std::move(table)) {}
  void OnCompactionEnd(const CompactionEvent& event) override {
    const StatusCode code = event.status.code();
    if (code != StatusCode::kCorruption && code != StatusCode::kUnsupported) return;
    if (event.table != table_) return;
    const std::lock_guard lock(mutex_);
    status_ = event.status;
  }
  Status Get() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  const std::string table_;
  mutable std::mutex mutex_;
  Status status_;
};

// Whether a build that has come no further for some looks has ended, with files left that cannot
// be rewritten: their error.
Status CheckGoesOn(Database& database, const RewriteFailure& failure, const IndexInfo& index) {
  const Status status = failure.Get();
  if (status.ok()) return status;
  ASSIGN_OR_RETURN(const DatabaseInfo info, database.Info());
  if (!info.jobs.empty()) return {};
  return Status(status.code(),
                Format("{} of {} files stay without the index and are read whole: {}",
                       index.files_without, index.files, status.message()));
}

// The engine rewrites files in the background; this waits until none is older than the index. What
// is done when it is interrupted stays.
Result<ExitCode> Build(const IndexVerbOptions& options, const Context& context) {
  uint64_t rate = 0;
  if (!options.rate.empty()) {
    ASSIGN_OR_RETURN(rate, ParseSize(options.rate));
    if (rate == 0) return Status::InvalidArgument("index build: --rate is 0");
  }
  const auto failure = std::make_shared<RewriteFailure>(options.table);
  Context watched = context;
  watched.listener = failure;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   OpenForBuilding(options.path, watched, rate));
  ASSIGN_OR_RETURN(TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(CheckIndexName(table, options.index));
  RETURN_IF_ERROR(database->Flush(table.options.name));
  Progress progress(context);
  uint64_t all_bytes = 0, last_bytes = 0, still_looks = 0;
  while (true) {
    const IndexInfo& index = InfoOf(table, options.index);
    if (!index.unusable.empty()) {
      return Status::Unsupported(
          Format("index '{}' cannot be built: {}", EscapeBytes(options.index), index.unusable));
    }
    if (index.files_older == 0 && !index.is_building) break;
    all_bytes = std::max(all_bytes, index.bytes_older);
    progress.UpdateFiles(index.files_older, all_bytes - index.bytes_older, all_bytes);
    if (context.is_interrupted()) {
      progress.Wipe();
      WriteBytes(context.err, Format("tandem: interrupted; {} of {} files are without the index\n",
                                     index.files_without, index.files));
      RETURN_IF_ERROR(database->Close());
      return ExitCode::kInterrupted;
    }
    still_looks = index.bytes_older == last_bytes ? still_looks + 1 : 0;
    last_bytes = index.bytes_older;
    if (still_looks > kStillLooksMax) {
      const Status status = CheckGoesOn(*database, *failure, index);
      if (!status.ok()) progress.Wipe();
      RETURN_IF_ERROR(status);
    }
    context.clock->SleepMicros(kLookAgainMicros);
    ASSIGN_OR_RETURN(table, FindTable(*database, options.table));
    RETURN_IF_ERROR(CheckIndexName(table, options.index));
  }
  progress.Wipe();
  TellOfUnfit(table.options.name, InfoOf(table, options.index), context);
  RETURN_IF_ERROR(Enforce(*database, table.options.name, InfoOf(table, options.index), context));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

// The tables that were named: one, or all.
Result<std::vector<TableInfo>> TablesOf(Database& database, const IndexVerbOptions& options) {
  if (options.table.empty()) {
    ASSIGN_OR_RETURN(DatabaseInfo info, database.Info());
    return std::move(info.tables);
  }
  std::vector<TableInfo> tables;
  ASSIGN_OR_RETURN(tables.emplace_back(), FindTable(database, options.table));
  if (!options.index.empty()) RETURN_IF_ERROR(CheckIndexName(tables[0], options.index));
  return tables;
}

Result<ExitCode> List(const IndexVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  ASSIGN_OR_RETURN(const std::vector<TableInfo> tables, TablesOf(*database, options));
  for (const TableInfo& table : tables) WriteIndexes(table, writer.get());
  return ExitCode::kDone;
}

Result<ExitCode> Stats(const IndexVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const std::vector<TableInfo> tables, TablesOf(*database, options));
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  for (const TableInfo& table : tables) {
    std::vector<NamedStatistics> indexes;
    for (const IndexInfo& index : table.indexes) {
      const std::string& name = index.options.name;
      if (!options.index.empty() && name != options.index) continue;
      ASSIGN_OR_RETURN(const IndexStatistics statistics,
                       database->GetIndexStatistics(table.options.name, name, context.interrupted));
      indexes.push_back({name, statistics});
    }
    const auto write = options.cost ? WriteCosts : WriteStatistics;
    write(table.options.name, indexes, writer.get());
  }
  return ExitCode::kDone;
}

// What the figures leave out.
void TellOfAdvice(const LoggedQueries& logged, const IndexAdvice& advice, const Context& context) {
  if (logged.left_out > 0) {
    WriteBytes(context.err, Format("tandem: {} more queries are left out: at most {} are advised "
                                   "on, those that took most time\n",
                                   FormatCount(logged.left_out), logged.queries.size()));
  }
  if (logged.of_other_tables > 0) {
    WriteBytes(context.err, Format("tandem: lines of other tables, which are left out: {}\n",
                                   FormatCount(logged.of_other_tables)));
  }
  if (advice.rows_read < advice.rows) {
    WriteBytes(context.err, Format("tandem: figures are those of {} of {} rows, extrapolated; "
                                   "--rows 0 reads all\n",
                                   FormatCount(advice.rows_read), FormatCount(advice.rows)));
  }
  if (advice.candidates_left_out > 0) {
    WriteBytes(context.err, Format("tandem: {} of {} possible indexes are not compared\n",
                                   FormatCount(advice.candidates_left_out),
                                   FormatCount(advice.candidates + advice.candidates_left_out)));
  }
}

// The error of a query, which has a line.
Status OfLine(const LoggedQueries& logged, const std::string& path, const Status& error) {
  for (size_t i = 0; i < logged.queries.size(); ++i) {
    const std::string start = Format("query {}: ", i + 1);
    if (!error.message().starts_with(start)) continue;
    return Status(error.code(), Format("{}:{}: {}", path == "-" ? "standard input" : path,
                                       logged.lines[i], error.message().substr(start.size())));
  }
  return error;
}

Result<ExitCode> Advise(const IndexVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  ASSIGN_OR_RETURN(const LoggedQueries logged,
                   ReadQueryLog(options.index, table.options.name, context));
  AdviseOptions advise;
  advise.cancelled = context.interrupted;
  advise.rows_max = options.rows;
  const auto advice = database->AdviseIndexes(table.options.name, logged.queries, advise);
  if (!advice.has_value()) return OfLine(logged, options.index, advice.error());
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  WriteAdvice(table.options.name, logged.queries, *advice, writer.get());
  TellOfAdvice(logged, *advice, context);
  return ExitCode::kDone;
}

void AddReport(const VerifyReport& found, VerifyReport* report) {
  report->files += found.files;
  report->bytes += found.bytes;
  report->rows += found.rows;
  report->cells += found.cells;
  report->index_entries += found.index_entries;
  report->findings.insert(report->findings.end(), found.findings.begin(), found.findings.end());
}

Status VerifyOpen(const IndexVerbOptions& options, const Context& context, VerifyReport* report) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const std::vector<TableInfo> tables, TablesOf(*database, options));
  for (const TableInfo& table : tables) {
    for (const IndexInfo& index : table.indexes) {
      if (context.is_interrupted()) return Status::Cancelled("interrupted");
      if (!options.index.empty() && index.options.name != options.index) continue;
      TellIfUnusable(table.options.name, index, context);
      ASSIGN_OR_RETURN(const VerifyReport found,
                       database->VerifyIndex(table.options.name, index.options.name));
      AddReport(found, report);
    }
  }
  return {};
}

// Of a file, what would be its table names an index.
Status VerifyOneFile(const IndexVerbOptions& options, VerifyReport* report) {
  if (!options.index.empty()) {
    return Status::InvalidArgument("index verify: expected FILE [NAME], or DB [TABLE [NAME]]");
  }
  ASSIGN_OR_RETURN(const ProbedFile probed, ProbeFile(options.path));
  if (probed.header.kind != format::FileKind::kStore) {
    return Status::InvalidArgument(Format("{}: a {} has no index; expected a store file",
                                          options.path, FileKindName(probed.header.kind)));
  }
  const std::string_view name = options.table;
  return engine::VerifyIndexesOf(
      {.directory = probed.directory.get(), .name = probed.file->name(), .known = {}},
      name.empty() ? std::nullopt : std::optional(name), report);
}

Result<ExitCode> Verify(const IndexVerbOptions& options, const Context& context) {
  VerifyReport report;
  const Status status = IsDirectory(options.path) ? VerifyOpen(options, context, &report)
                                                  : VerifyOneFile(options, &report);
  RETURN_IF_ERROR(AddDamage(status, &report));
  return WriteReport("index verify", options.path, options.output, context, &report);
}

}  // namespace

Result<ExitCode> RunVerb(const IndexVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(CheckArguments(options));
  if (options.action == "create") return Create(options, context);
  if (options.action == "drop") return Drop(options, context);
  if (options.action == "build") return Build(options, context);
  if (options.action == "verify") return Verify(options, context);
  if (options.action == "stats") return Stats(options, context);
  if (options.action == "advise") return Advise(options, context);
  return List(options, context);
}

}  // namespace tandem::tools

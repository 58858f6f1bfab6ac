// index: create, drop, build, list.
#include <string>

#include "base/quote.h"
#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/index_output.h"
#include "tools/tandem/progress.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

constexpr int64_t kLookAgainMicros = 20'000;

Status CheckArguments(const IndexVerbOptions& options) {
  const bool lists = options.action == "list";
  if (!lists && options.action != "create" && options.action != "drop" &&
      options.action != "build") {
    return Status::InvalidArgument(
        Format("index '{}': expected create, drop, build or list", EscapeBytes(options.action)));
  }
  if (lists && options.index.empty()) return {};
  if (lists) return Status::InvalidArgument("index list: expected no index");
  if (options.table.empty() || options.index.empty()) {
    return Status::InvalidArgument(
        Format("index {}: expected DB TABLE {}", options.action,
               options.action == "create" ? "NAME=FAMILY:COLUMN[:TYPE][:desc]" : "NAME"));
  }
  return {};
}

// What conditions have to look like for an index of another type than its column's.
Status TellOfCasts(Database& database, const std::string& table, const IndexOptions& index,
                   const Context& context) {
  const IndexColumn& column = index.columns[0];
  QueryOptions query;
  query.use_index = index.name;
  const std::string name =
      column.family.empty() ? column.qualifier : column.family + ":" + column.qualifier;
  const auto used = database.Explain({}, table, Predicate::IsNotNull(name), query);
  if (used.has_value() || used.error().code() != StatusCode::kInvalidArgument) return {};
  const std::string_view type = ColumnTypeName(column.type);
  WriteBytes(context.err,
             Format("tandem: conditions compare column {} as another type: write {}::{}, or make "
                    "that its type: tandem alter DB {} --column {}:{}\n",
                    base::Quote(name), EscapeBytes(name), type, EscapeBytes(table),
                    EscapeBytes(name), type));
  return {};
}

Result<ExitCode> Create(const IndexVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const IndexOptions index, ParseIndex(options.index));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(CheckFamilyName(table, index.columns[0].family));
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

// The engine rewrites files in the background; this waits until none is older than the index.
Result<ExitCode> Build(const IndexVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(CheckIndexName(table, options.index));
  RETURN_IF_ERROR(database->Flush(table.options.name));
  Progress progress(context);
  while (true) {
    uint64_t older = 0, bytes = 0;
    for (const IndexInfo& index : table.indexes) {
      if (index.options.name != options.index) continue;
      older = index.files_older;
      bytes = index.size_bytes;
    }
    if (older == 0) break;
    if (context.is_interrupted()) return ExitCode::kInterrupted;
    progress.Update(older, bytes, 0);
    context.clock->SleepMicros(kLookAgainMicros);
    ASSIGN_OR_RETURN(table, FindTable(*database, options.table));
  }
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> List(const IndexVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  if (!options.table.empty()) {
    ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
    WriteIndexes(table, writer.get());
    return ExitCode::kDone;
  }
  ASSIGN_OR_RETURN(const DatabaseInfo info, database->Info());
  for (const TableInfo& table : info.tables) WriteIndexes(table, writer.get());
  return ExitCode::kDone;
}

}  // namespace

Result<ExitCode> RunVerb(const IndexVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(CheckArguments(options));
  if (options.action == "create") return Create(options, context);
  if (options.action == "drop") return Drop(options, context);
  if (options.action == "build") return Build(options, context);
  return List(options, context);
}

}  // namespace tandem::tools

// create, put, delete, flush, compact, version: the verbs that change a database in one step.
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "format/file_header.h"
#include "tandem/version.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/key_arguments.h"
#include "tools/tandem/key_fields.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

/// Writes one batch to the disk and closes the database. What was written is durable whatever comes
/// of the closing, so a failure of that is only reported on stderr.
Status WriteAndClose(Database* database, const std::string& table, const WriteBatch& batch,
                     const Context& context) {
  const Status written = database->Write({.durability = Durability::kSynced}, batch);
  if (written.code() == StatusCode::kNotFound) return WithSuggestion(*database, table, written);
  RETURN_IF_ERROR(written);
  const Status closed = database->Close();
  if (!closed.ok()) {
    WriteBytes(context.err, Format("tandem: the write is done and durable; only closing the "
                                   "database failed: {}\n",
                                   EscapeBytes(closed.message())));
  }
  return {};
}

/// The row key at the front of the words. A table that does not exist has none that is typed; the
/// write says that it does not exist.
Result<RowWords> RowOf(Database* database, const std::string& table,
                       std::span<const std::string> words) {
  const Result<TableInfo> found = FindTable(*database, table);
  OptionalRowKey row_key;
  if (found.has_value()) {
    ASSIGN_OR_RETURN(row_key, RowKeyOf(found->options));
  }
  return TakeRowKey(row_key, words);
}

Result<WriteBatch> PutOf(const PutOptions& options, const RowWords& row) {
  if (row.count == options.words.size()) {
    return Status::InvalidArgument("no cell follows the row key; expected FAMILY:COLUMN=VALUE");
  }
  WriteBatch batch;
  for (const std::string& text : std::span(options.words).subspan(row.count)) {
    ASSIGN_OR_RETURN(const CellText cell, ParseCell(text));
    batch.Put(options.table, row.key, cell.column.family, cell.column.qualifier, cell.value,
              options.timestamp);
  }
  return batch;
}

Result<WriteBatch> DeleteOf(const DeleteOptions& options, const RowWords& row) {
  if (options.words.size() > row.count + 1) {
    return Status::InvalidArgument(
        Format("'{}' follows what is deleted", EscapeBytes(options.words[row.count + 1])));
  }
  const bool whole_row = options.words.size() == row.count;
  ASSIGN_OR_RETURN(const ColumnScope scope, ParseScope(whole_row ? "" : options.words[row.count]));
  if (options.one_version && (whole_row || scope.whole_family)) {
    return Status::InvalidArgument("--one-version needs FAMILY:COLUMN after the row");
  }
  WriteBatch batch;
  if (whole_row) {
    batch.DeleteRow(options.table, row.key, options.timestamp);
  } else if (scope.whole_family) {
    batch.DeleteFamily(options.table, row.key, scope.family, options.timestamp);
  } else if (options.one_version) {
    batch.DeleteCell(options.table, row.key, scope.family, scope.qualifier, options.timestamp);
  } else {
    batch.DeleteColumn(options.table, row.key, scope.family, scope.qualifier, options.timestamp);
  }
  return batch;
}

/// The names of the tables to work on: one, or all.
Result<std::vector<std::string>> TablesNamed(Database& database, const std::string& table) {
  if (!table.empty()) {
    ASSIGN_OR_RETURN(const TableInfo found, FindTable(database, table));
    return std::vector<std::string>{found.options.name};
  }
  std::vector<std::string> names;
  ASSIGN_OR_RETURN(const DatabaseInfo info, database.Info());
  for (const TableInfo& table_info : info.tables) names.push_back(table_info.options.name);
  return names;
}

/// Those that were given, or that are found as `split-keys` finds them.
Result<std::vector<std::string>> SplitKeysOf(const CreateOptions& options, const Context& context) {
  if (options.splits.empty()) return ParseKeys(options.split_keys);
  KeySourceArguments sample;
  sample.file = options.sample;
  ASSIGN_OR_RETURN(row_keys::SplitPlan plan, PlanSplits(options.splits, sample, context));
  ReportSkew(plan, "create", context);
  return std::move(plan.keys);
}

}  // namespace

Result<ExitCode> RunVerb(const CreateOptions& options, const Context& context) {
  TableOptions table;
  ASSIGN_OR_RETURN(table.name, ParseEscaped(options.table));
  for (const std::string& text : options.families) {
    ASSIGN_OR_RETURN(FamilyOptions family, ParseFamily(text));
    table.families.push_back(std::move(family));
  }
  if (table.families.empty()) table.families.push_back({.name = "d"});
  for (const std::string& text : options.indexes) {
    ASSIGN_OR_RETURN(IndexOptions index, ParseIndex(text));
    table.indexes.push_back(std::move(index));
  }
  for (const std::string& text : options.columns) {
    ASSIGN_OR_RETURN(ColumnOptions column, ParseColumnType(text));
    table.columns.push_back(std::move(column));
  }
  ASSIGN_OR_RETURN(table.split_keys, SplitKeysOf(options, context));
  table.row_key = options.key;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   OpenForWriting(options.path, context, true));
  RETURN_IF_ERROR(database->CreateTable(table));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

// What is wrong whatever the table's row key is found before the database is opened.
Result<ExitCode> RunVerb(const PutOptions& options, const Context& context) {
  if (options.words.size() < 2) {
    return Status::InvalidArgument("CELL is required; see 'tandem put --help'");
  }
  RETURN_IF_ERROR(ParseBytes(options.words.front()).status());
  for (size_t i = 1; i < options.words.size(); ++i) {
    RETURN_IF_ERROR(ParseCell(options.words[i]).status());
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const RowWords row, RowOf(database.get(), options.table, options.words));
  ASSIGN_OR_RETURN(const WriteBatch batch, PutOf(options, row));
  RETURN_IF_ERROR(WriteAndClose(database.get(), options.table, batch, context));
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const DeleteOptions& options, const Context& context) {
  RETURN_IF_ERROR(ParseBytes(options.words.front()).status());
  if (options.words.size() <= 2) {
    const RowWords row{.key = options.words.front(), .count = 1};
    RETURN_IF_ERROR(DeleteOf(options, row).status());
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const RowWords row, RowOf(database.get(), options.table, options.words));
  ASSIGN_OR_RETURN(const WriteBatch batch, DeleteOf(options, row));
  RETURN_IF_ERROR(WriteAndClose(database.get(), options.table, batch, context));
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const FlushOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const auto tables, TablesNamed(*database, options.table));
  for (const std::string& table : tables) RETURN_IF_ERROR(database->Flush(table));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const VersionOptions&, const Context& context) {
  WriteBytes(context.out, Format("tandem {}, file format {}\n", kVersion, format::kFormatVersion));
  return ExitCode::kDone;
}

}  // namespace tandem::tools

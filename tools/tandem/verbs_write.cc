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

/// The row at the front of the words, and the keys that it may have.
struct NamedRow {
  RowWords words;
  std::vector<std::string> keys;
};

/// A table that does not exist has no row keys that are typed; the write says that it does not
/// exist.
Result<NamedRow> RowOf(Database* database, const std::string& table,
                       std::span<const std::string> words) {
  const Result<TableInfo> found = FindTable(*database, table);
  OptionalRowKey row_key;
  if (found.has_value()) {
    ASSIGN_OR_RETURN(row_key, RowKeyOf(found->options));
  }
  NamedRow row;
  ASSIGN_OR_RETURN(row.words, TakeRowKey(row_key, words));
  ASSIGN_OR_RETURN(row.keys, KeysOf(row_key, row.words));
  return row;
}

/// The key under which to write to its columns.
Result<std::string> KeyToWrite(Database* database, const std::string& table, const NamedRow& row) {
  if (row.keys.size() == 1) return row.keys.front();
  return database->KeyForWrite({}, table, row.words.fields);
}

Result<WriteBatch> PutOf(Database* database, const PutOptions& options, const NamedRow& row) {
  if (row.words.count == options.words.size()) {
    return Status::InvalidArgument("no cell follows the row key; expected FAMILY:COLUMN=VALUE");
  }
  std::vector<CellText> cells;
  for (const std::string& text : std::span(options.words).subspan(row.words.count)) {
    ASSIGN_OR_RETURN(cells.emplace_back(), ParseCell(text));
  }
  ASSIGN_OR_RETURN(const std::string key, KeyToWrite(database, options.table, row));
  WriteBatch batch;
  for (const CellText& cell : cells) {
    batch.Put(options.table, key, cell.column.family, cell.column.qualifier, cell.value,
              options.timestamp);
  }
  return batch;
}

/// What the words after a row say to delete of it.
struct Deletion {
  bool whole_row = false;
  ColumnScope scope;
};

Result<Deletion> DeletionOf(const DeleteOptions& options, size_t row_words) {
  if (options.words.size() > row_words + 1) {
    return Status::InvalidArgument(
        Format("'{}' follows what is deleted", EscapeBytes(options.words[row_words + 1])));
  }
  Deletion deletion{.whole_row = options.words.size() == row_words, .scope = {}};
  ASSIGN_OR_RETURN(deletion.scope, ParseScope(deletion.whole_row ? "" : options.words[row_words]));
  if (options.one_version && (deletion.whole_row || deletion.scope.whole_family)) {
    return Status::InvalidArgument("--one-version needs FAMILY:COLUMN after the row");
  }
  return deletion;
}

/// A whole row goes wherever it is; of others the columns are under one key.
Result<WriteBatch> DeleteOf(Database* database, const DeleteOptions& options, const NamedRow& row) {
  ASSIGN_OR_RETURN(const Deletion deletion, DeletionOf(options, row.words.count));
  WriteBatch batch;
  if (deletion.whole_row) {
    for (const std::string& key : row.keys) {
      batch.DeleteRow(options.table, key, options.timestamp);
    }
    return batch;
  }
  ASSIGN_OR_RETURN(const std::string key, KeyToWrite(database, options.table, row));
  const ColumnScope& scope = deletion.scope;
  if (scope.whole_family) {
    batch.DeleteFamily(options.table, key, scope.family, options.timestamp);
  } else if (options.one_version) {
    batch.DeleteCell(options.table, key, scope.family, scope.qualifier, options.timestamp);
  } else {
    batch.DeleteColumn(options.table, key, scope.family, scope.qualifier, options.timestamp);
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
  ASSIGN_OR_RETURN(SplitPlan plan, PlanSplits(options.splits, sample, context));
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
  ASSIGN_OR_RETURN(const NamedRow row, RowOf(database.get(), options.table, options.words));
  ASSIGN_OR_RETURN(const WriteBatch batch, PutOf(database.get(), options, row));
  RETURN_IF_ERROR(WriteAndClose(database.get(), options.table, batch, context));
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const DeleteOptions& options, const Context& context) {
  RETURN_IF_ERROR(ParseBytes(options.words.front()).status());
  if (options.words.size() <= 2) RETURN_IF_ERROR(DeletionOf(options, 1).status());
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const NamedRow row, RowOf(database.get(), options.table, options.words));
  ASSIGN_OR_RETURN(const WriteBatch batch, DeleteOf(database.get(), options, row));
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

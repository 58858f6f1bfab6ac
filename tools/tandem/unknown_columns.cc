// One scan that returns only the columns in question, and ends when each was seen.
#include "tools/tandem/unknown_columns.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tandem/row_key.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/row_output.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

// Family and qualifier.
using Columns = std::set<std::pair<std::string, std::string>>;

constexpr uint64_t kRowsForNames = 100;

void AddColumns(const Predicate& predicate, const std::string& first_family, Columns* columns) {
  for (const Predicate& child : predicate.children()) AddColumns(child, first_family, columns);
  using Kind = Predicate::Kind;
  const bool is_leaf = predicate.kind() >= Kind::kEqual && predicate.kind() <= Kind::kIsNotNull;
  if (!is_leaf || predicate.is_row_key() || AreOfFamily(predicate.functions())) return;
  const auto add = [&](const std::string& family, const std::string& qualifier) {
    columns->emplace(family.empty() ? first_family : family, qualifier);
  };
  add(predicate.family(), predicate.qualifier());
  for (const Function& function : predicate.functions()) {
    for (const ConcatPart& part : function.parts) {
      if (part.kind == ConcatPart::Kind::kColumn) add(part.family, part.qualifier);
    }
  }
}

/// The columns without those that an index is over.
Columns WithoutIndexes(Columns columns, const TableOptions& table) {
  for (const IndexOptions& index : table.indexes) {
    for (const IndexColumn& column : index.columns) {
      if (column.is_row_key || AreOfFamily(column.functions)) continue;
      columns.erase(
          {column.family.empty() ? table.families[0].name : column.family, column.qualifier});
    }
  }
  return columns;
}

/// Takes those that a row has out of `*columns`. Errors: kCancelled, and those of Database::Scan.
Status TakeOutKnown(Database& database, const std::string& table, const Context& context,
                    Columns* columns) {
  ReadOptions read;
  read.pieces = true;
  for (const auto& [family, qualifier] : *columns) read.columns.push_back({family, qualifier});
  ASSIGN_OR_RETURN(Cursor cursor, database.Scan(read, table, {}));
  while (!columns->empty() && cursor.Next()) {
    for (const Cell& cell : cursor.row().cells()) {
      columns->erase({std::string(cell.family), std::string(cell.qualifier)});
    }
    if (context.is_interrupted()) return Status::Cancelled("interrupted");
  }
  return cursor.status();
}

/// The names in a family of the table's first rows.
Result<std::vector<std::string>> NamesIn(Database& database, const std::string& table,
                                         const std::string& family) {
  ReadOptions read;
  read.families = {family};
  read.pieces = true;
  ScanOptions scan;
  scan.limit = kRowsForNames;
  std::set<std::string> names;
  ASSIGN_OR_RETURN(Cursor cursor, database.Scan(read, table, scan));
  while (cursor.Next()) {
    for (const Cell& cell : cursor.row().cells()) names.emplace(cell.qualifier);
  }
  RETURN_IF_ERROR(cursor.status());
  return std::vector<std::string>(names.begin(), names.end());
}

// Where a predicate names a field of the row key as a column.
std::string FieldHint(const TableOptions& table, const std::string& qualifier) {
  if (table.row_key.empty()) return {};
  const auto keys = RowKeySchema::Parse(table.row_key);
  if (!keys.has_value()) return {};
  const std::vector<std::string> fields = keys->fields();
  if (std::ranges::find(fields, qualifier) == fields.end()) return {};
  return Format("; it is a field of the row key: _row.{}", EscapeBytes(qualifier));
}

Status Say(Database& database, const AskedColumns& asked, const Context& context) {
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(database, asked.table));
  Columns columns;
  AddColumns(asked.predicate, table.options.families[0].name, &columns);
  columns = WithoutIndexes(std::move(columns), table.options);
  if (columns.empty()) return {};
  RETURN_IF_ERROR(TakeOutKnown(database, asked.table, context, &columns));
  for (const auto& [family, qualifier] : columns) {
    ASSIGN_OR_RETURN(const auto names, NamesIn(database, asked.table, family));
    WriteBytes(context.err,
               Format("tandem: {}: no row has a column '{}' in family '{}'{}{}\n", asked.verb,
                      EscapeBytes(qualifier), EscapeBytes(family), DidYouMean(qualifier, names),
                      FieldHint(table.options, qualifier)));
  }
  return {};
}

}  // namespace

void SayUnknownColumns(Database& database, const AskedColumns& asked, const Context& context) {
  Say(database, asked, context).Ignore("it is a hint; the answer itself was given without error");
}

}  // namespace tandem::tools

// copy-table: a table's rows under another design of row keys, in a new table of the same database.
#include <memory>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "tandem/table_copy.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {

Result<ExitCode> RunVerb(const CopyTableOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::string to, ParseEscaped(options.to));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  if (table.options.row_key.empty() && options.from_key.empty()) {
    return Status::InvalidArgument(
        Format("the row keys of table {} are bytes; --from-key says what fields they are made of",
               base::Quote(options.table)));
  }
  const tandem::CopyTableOptions copy{
      .row_key = options.key, .from_row_key = options.from_key, .cancelled = context.interrupted};
  ASSIGN_OR_RETURN(const CopyTableReport report, database->CopyTable(options.table, to, copy));
  RETURN_IF_ERROR(database->Close());
  const auto writer = NewRecordWriter(options.output, context.out);
  const Property properties[] = {
      {"rows", report.rows}, {"cells", report.cells}, {"digest", report.digest}};
  writer->AddProperties("summary", properties);
  return ExitCode::kDone;
}

}  // namespace tandem::tools

// regions: the regions of a table, a line each.
#include "base/status_macros.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

void WriteShares(const TableInfo& table, RecordWriter* writer) {
  for (const RegionInfo& region : table.regions) {
    const std::string dead = FormatShare(region.dead_index_entries, region.index_entries);
    writer->Add({table.options.name, region.id,
                 region.start_key.empty() ? Value() : Value(region.start_key),
                 region.end_key.empty() ? Value() : Value(region.end_key), region.rows,
                 region.bytes, region.runs, region.files.size(), region.shared_files,
                 region.deletes, region.index_entries, region.dead_index_entries,
                 region.index_entries == 0 ? Value() : Value(dead), region.memstore_rows,
                 region.memstore_bytes});
  }
}

}  // namespace

Result<ExitCode> RunVerb(const RegionsVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  // Dead entries are known once it has been found out which rows are in several files.
  const auto usage =
      database->GetSpaceUsage({.table = options.table, .cancelled = context.interrupted});
  if (!usage) return WithSuggestion(*database, options.table, usage.error());
  DatabaseInfo info;
  if (options.table.empty()) {
    ASSIGN_OR_RETURN(info, database->Info());
  } else {
    ASSIGN_OR_RETURN(TableInfo table, FindTable(*database, options.table));
    info.tables.push_back(std::move(table));
  }
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  writer->Begin("region", {"table", "region", "start", "end", "rows", "bytes", "runs", "files",
                           "shared_files", "deletes", "index_entries", "dead_entries", "dead_share",
                           "memstore_rows", "memstore_bytes"});
  for (const TableInfo& table : info.tables) WriteShares(table, writer.get());
  writer->End();
  return ExitCode::kDone;
}

}  // namespace tandem::tools

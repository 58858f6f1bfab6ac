// compact: merges the files of each region, or shows what that would read and write.
#include <algorithm>

#include "base/status_macros.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

void WritePlans(const std::vector<CompactionPlan>& plans, RecordWriter* writer) {
  writer->Begin("plan", {"table", "region", "start", "runs", "files", "bytes", "due_files",
                         "due_bytes", "read_bytes", "write_bytes_max", "space_bytes_max",
                         "flush_bytes", "freed_bytes", "expired_files", "expired_bytes"});
  for (const CompactionPlan& plan : plans) {
    writer->Add({plan.table, plan.region_id,
                 plan.start_key.empty() ? Value() : Value(plan.start_key), plan.runs, plan.files,
                 plan.bytes, plan.due.files, plan.due.read_bytes, plan.full.read_bytes,
                 plan.full.written_bytes_max, plan.full.space_bytes_max, plan.flushed_bytes,
                 plan.freed_bytes, plan.expired_files, plan.expired_bytes});
  }
  writer->End();
}

// Regions are merged one after the other, so the space for the largest is enough.
void WriteTotal(const std::vector<CompactionPlan>& plans, RecordWriter* writer) {
  MergePlan due, full;
  uint64_t expired_bytes = 0;
  for (const CompactionPlan& plan : plans) {
    due.read_bytes += plan.due.read_bytes;
    expired_bytes += plan.expired_bytes;
    full.files += plan.full.files;
    full.read_bytes += plan.full.read_bytes;
    full.written_bytes_max += plan.full.written_bytes_max;
    full.space_bytes_max = std::max(full.space_bytes_max, plan.full.space_bytes_max);
  }
  const Property properties[] = {{"regions", plans.size()},
                                 {"files", full.files},
                                 {"due_bytes", due.read_bytes},
                                 {"read_bytes", full.read_bytes},
                                 {"write_bytes_max", full.written_bytes_max},
                                 {"space_bytes_max", full.space_bytes_max},
                                 {"expired_bytes", expired_bytes}};
  writer->AddProperties("total", properties);
}

Result<ExitCode> Preview(const CompactOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  const auto plans = database->PlanCompaction(options.table);
  if (!plans) return WithSuggestion(*database, options.table, plans.error());
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  WritePlans(*plans, writer.get());
  WriteTotal(*plans, writer.get());
  return ExitCode::kDone;
}

}  // namespace

Result<ExitCode> RunVerb(const CompactOptions& options, const Context& context) {
  if (options.dry_run) return Preview(options, context);
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  if (!options.table.empty()) {
    RETURN_IF_ERROR(FindTable(*database, options.table).status());
  }
  RETURN_IF_ERROR(database->Compact(options.table));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

}  // namespace tandem::tools

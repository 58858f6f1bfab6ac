// rewrite-keys: moves the rows of a table from its former row keys to the one that it declares.
#include <cstdint>
#include <memory>

#include "base/status_macros.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {

Result<ExitCode> RunVerb(const RewriteKeysVerbOptions& options, const Context& context) {
  RewriteKeysOptions rewrite;
  rewrite.cancelled = context.interrupted;
  if (!options.rate.empty()) {
    ASSIGN_OR_RETURN(rewrite.bytes_per_second, ParseSize(options.rate));
    if (rewrite.bytes_per_second == 0) return Status::InvalidArgument("--rate is 0");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  RETURN_IF_ERROR(FindTable(*database, options.table).status());
  const Result<RewriteKeysReport> report = database->RewriteKeys(options.table, rewrite);
  if (report.status().code() == StatusCode::kCancelled) {
    return Status::Cancelled("interrupted; what was moved stays so, and the same command goes on");
  }
  RETURN_IF_ERROR(report.status());
  if (!report->closed) {
    return Status::Busy(
        Format("all rows are moved, but a read of sequence {} may still see former keys; "
               "the same command ends it",
               report->held_by_sequence));
  }
  RETURN_IF_ERROR(database->Close());
  const auto writer = NewRecordWriter(options.output, context.out);
  const Property properties[] = {
      {"rows", report->rows}, {"moved", report->moved}, {"moved_cells", report->moved_cells}};
  writer->AddProperties("summary", properties);
  return ExitCode::kDone;
}

}  // namespace tandem::tools

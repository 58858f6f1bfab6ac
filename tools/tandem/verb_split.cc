// split: cuts a region in two, or shows what that would make.
#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/output.h"
#include "tools/tandem/region_output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

void WriteSplit(const SplitResult& split, const SplitVerbOptions& options, const Context& context) {
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  std::vector<Property> properties = {
      {"region", split.region_id}, {"key", split.key}, {"live_middle", split.is_live_middle}};
  AddHalves(split.left, split.right, &properties);
  writer->AddProperties(options.dry_run ? "preview" : "split", properties);
  WriteIndexesOf(split.left, split.right, writer.get());
}

}  // namespace

Result<ExitCode> RunVerb(const SplitVerbOptions& options, const Context& context) {
  SplitOptions split{.key = {}, .region_id = options.region, .dry_run = options.dry_run};
  ASSIGN_OR_RETURN(split.key, ParseBytes(options.key));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   options.dry_run ? OpenForReading(options.path, context)
                                   : OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  ASSIGN_OR_RETURN(const SplitResult made, database->Split(table.options.name, split));
  RETURN_IF_ERROR(database->Close());
  WriteSplit(made, options, context);
  return ExitCode::kDone;
}

}  // namespace tandem::tools

// merge-regions: makes two neighbouring regions one, or shows what they hold.
#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/output.h"
#include "tools/tandem/region_output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

void WriteMerge(const RegionMergeResult& merge, const MergeRegionsVerbOptions& options,
                const Context& context) {
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  std::vector<Property> properties = {{"region", merge.region_id}, {"key", merge.key}};
  AddHalves(merge.left, merge.right, &properties);
  if (options.dry_run) properties.push_back({"too_large", merge.is_too_large});
  writer->AddProperties(options.dry_run ? "preview" : "merge", properties);
  WriteIndexesOf(merge.left, merge.right, writer.get());
}

}  // namespace

Result<ExitCode> RunVerb(const MergeRegionsVerbOptions& options, const Context& context) {
  RegionMergeOptions merge{.key = {}, .region_id = options.region, .dry_run = options.dry_run};
  ASSIGN_OR_RETURN(merge.key, ParseBytes(options.key));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   options.dry_run ? OpenForReading(options.path, context)
                                   : OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  ASSIGN_OR_RETURN(const RegionMergeResult made, database->MergeRegions(table.options.name, merge));
  RETURN_IF_ERROR(database->Close());
  WriteMerge(made, options, context);
  return ExitCode::kDone;
}

}  // namespace tandem::tools

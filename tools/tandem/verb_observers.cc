// observers: lists the observers of a table, sets them, or takes them off.
#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/observers_output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

Result<ExitCode> ListObservers(const ObserversVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  WriteObservers(table, NewRecordWriter(options.output, context.out).get());
  return ExitCode::kDone;
}

}  // namespace

Result<ExitCode> RunVerb(const ObserversVerbOptions& options, const Context& context) {
  if (options.none && !options.names.empty()) {
    return Status::InvalidArgument("names and --none exclude each other");
  }
  if (!options.none && options.names.empty()) return ListObservers(options, context);
  std::vector<std::string> names;
  for (const std::string& name : options.names) {
    ASSIGN_OR_RETURN(names.emplace_back(), ParseEscaped(name));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(database->SetObservers(table.options.name, names));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

}  // namespace tandem::tools

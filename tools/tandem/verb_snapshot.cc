// snapshot: named snapshots are created, listed and dropped.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/confirm.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/snapshot_output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

Status CheckArguments(const SnapshotVerbOptions& options) {
  constexpr std::string_view kActions[] = {"create", "drop", "list"};
  if (std::ranges::find(kActions, options.action) == std::end(kActions)) {
    return Status::InvalidArgument(
        Format("snapshot '{}': expected create, drop or list", EscapeBytes(options.action)));
  }
  const bool takes_name = options.action != "list";
  const bool takes_tables = options.action == "create";
  if (takes_name == !options.name.empty() && (takes_tables || options.tables.empty())) return {};
  return Status::InvalidArgument(Format("snapshot {}: expected DB{}{}", options.action,
                                        takes_name ? " NAME" : "",
                                        takes_tables ? " [TABLE...]" : ""));
}

Result<ExitCode> Create(const SnapshotVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::string name, ParseEscaped(options.name));
  std::vector<std::string> tables;
  for (const std::string& text : options.tables) {
    ASSIGN_OR_RETURN(tables.emplace_back(), ParseEscaped(text));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  for (const std::string& table : tables) RETURN_IF_ERROR(FindTable(*database, table).status());
  RETURN_IF_ERROR(database->CreateSnapshot(name, tables));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> List(const SnapshotVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const auto snapshots, database->ListSnapshots());
  WriteSnapshots(snapshots, NewRecordWriter(options.output, context.out).get());
  return ExitCode::kDone;
}

// OK: there is one of the name, and the user agrees to lose it.
Status ConfirmDrop(const std::string& name, const SnapshotVerbOptions& options,
                   const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  RETURN_IF_ERROR(FindSnapshot(*database, name).status());
  if (options.yes) return {};
  ASSIGN_OR_RETURN(const auto snapshots, database->ListSnapshots());
  const auto found = std::ranges::find(snapshots, name, &NamedSnapshotInfo::name);
  return Confirm(
      Format("this destroys snapshot {} of {}, with {} that nothing else has", base::Quote(name),
             FormatTime(found->created_micros), FormatSize(found->own_bytes)),
      context);
}

Result<ExitCode> Drop(const SnapshotVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::string name, ParseEscaped(options.name));
  RETURN_IF_ERROR(ConfirmDrop(name, options, context));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  RETURN_IF_ERROR(database->DropSnapshot(name));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

}  // namespace

Result<ExitCode> RunVerb(const SnapshotVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(CheckArguments(options));
  if (options.action == "create") return Create(options, context);
  if (options.action == "list") return List(options, context);
  return Drop(options, context);
}

}  // namespace tandem::tools

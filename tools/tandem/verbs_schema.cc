// drop, truncate, rename and alter: what destroys rows asks before it does.
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>

#include "base/quote.h"
#include "base/status_macros.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/progress.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

std::string Counted(uint64_t count, const char* noun) {
  return Format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// What a table has on disk: rows are not counted, since that may take long.
std::string Describe(const TableInfo& table) {
  std::set<uint64_t> files;
  uint64_t bytes = 0;
  for (const RegionInfo& region : table.regions) {
    for (const FileInfo& file : region.files) {
      if (files.insert(file.number).second) bytes += file.size_bytes;
    }
  }
  return Format("table {} with {}, {} of {}, and what of it is in the log",
                base::Quote(table.options.name), Counted(table.regions.size(), "region"),
                Counted(files.size(), "file"), Counted(bytes, "byte"));
}

bool ReadsYes(std::FILE* in) {
  std::string line;
  for (int c; (c = std::fgetc(in)) != EOF && c != '\n';) line.push_back(static_cast<char>(c));
  return line == "yes";
}

// OK: the user agrees to lose the rows.
template <typename Options>
Status Confirm(const char* what, const Options& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  if (options.yes) return {};
  const std::string destroyed = Describe(table);
  if (!IsTerminal(context.in) || !IsTerminal(context.err)) {
    return Status::InvalidArgument(
        Format("{} {}: nothing was done; --yes does it", what, destroyed));
  }
  WriteBytes(context.err, Format("{} {}? There is no way back. 'yes' does it: ", what, destroyed));
  std::fflush(context.err);
  if (ReadsYes(context.in)) return {};
  return Status::Cancelled("nothing was done");
}

}  // namespace

Result<ExitCode> RunVerb(const DropVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(Confirm("this destroys", options, context));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  RETURN_IF_ERROR(database->DropTable(options.table));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const TruncateVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(Confirm("this destroys all rows of", options, context));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  RETURN_IF_ERROR(database->TruncateTable(options.table));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const RenameVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(database->RenameTable(table.options.name, options.name));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const AlterVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  std::vector<ColumnOptions> columns;
  for (const std::string& text : options.columns) {
    ASSIGN_OR_RETURN(columns.emplace_back(), ParseColumnType(text));
    RETURN_IF_ERROR(CheckFamilyName(table, columns.back().family));
  }
  for (const ColumnOptions& column : columns) {
    RETURN_IF_ERROR(database->SetColumnType(table.options.name, column));
  }
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

}  // namespace tandem::tools

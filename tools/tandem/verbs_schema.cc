// drop, truncate, rename, alter and family: what destroys cells asks before it does.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "base/quote.h"
#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/confirm.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
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

// OK: the user agrees to lose the rows.
template <typename Options>
Status ConfirmRows(const char* what, const Options& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  if (options.yes) return {};
  return Confirm(Format("{} {}", what, Describe(table)), context);
}

Status CheckArguments(const FamilyVerbOptions& options) {
  constexpr std::string_view kActions[] = {"add", "alter", "drop", "list"};
  if (std::ranges::find(kActions, options.action) == std::end(kActions)) {
    return Status::InvalidArgument(
        Format("family '{}': expected add, alter, drop or list", EscapeBytes(options.action)));
  }
  const bool takes_family = options.action != "list";
  if (takes_family == !options.family.empty()) return {};
  return Status::InvalidArgument(
      Format("family {}: expected DB TABLE{}", options.action,
             !takes_family              ? ""
             : options.action == "drop" ? " NAME"
                                        : " NAME[,versions=3][,ttl=7d][,compression=none|zstd]"));
}

// Fewer versions or a shorter time to live destroy cells, as a drop does.
Status ConfirmFamily(const FamilyVerbOptions& options, const Context& context) {
  if (options.action != "drop" && options.action != "alter") return {};
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  if (options.action == "drop") {
    ASSIGN_OR_RETURN(const std::string name, ParseEscaped(options.family));
    RETURN_IF_ERROR(CheckFamilyName(table, name));
    if (options.yes) return {};
    return Confirm(Format("this destroys all cells of family {} of table {}", base::Quote(name),
                          base::Quote(table.options.name)),
                   context);
  }
  ASSIGN_OR_RETURN(const FamilyOptions changed,
                   ParseFamilyChange(options.family, table.options.families));
  const auto before = std::ranges::find(table.options.families, changed.name, &FamilyOptions::name);
  const bool destroys = changed.max_versions < before->max_versions ||
                        (changed.ttl_micros != 0 &&
                         (before->ttl_micros == 0 || changed.ttl_micros < before->ttl_micros));
  if (!destroys || options.yes) return {};
  return Confirm(Format("this destroys cells of family {} of table {} that are older than its new "
                        "settings allow",
                        base::Quote(changed.name), base::Quote(table.options.name)),
                 context);
}

Result<ExitCode> ListFamilies(const FamilyVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  writer->Begin("family",
                {"table", "family", "versions", "ttl_micros", "compression", "block_size_bytes"});
  for (const FamilyOptions& family : table.options.families) {
    writer->Add({table.options.name, family.name, family.max_versions, family.ttl_micros,
                 CompressionName(family.compression), family.block_size_bytes});
  }
  writer->End();
  return ExitCode::kDone;
}

Status ChangeFamily(const FamilyVerbOptions& options, const TableInfo& table, Database* database) {
  if (options.action == "add") {
    ASSIGN_OR_RETURN(const FamilyOptions family, ParseFamily(options.family));
    return database->AddFamily(table.options.name, family);
  }
  if (options.action == "alter") {
    ASSIGN_OR_RETURN(const FamilyOptions family,
                     ParseFamilyChange(options.family, table.options.families));
    return database->AlterFamily(table.options.name, family);
  }
  ASSIGN_OR_RETURN(const std::string name, ParseEscaped(options.family));
  return database->DropFamily(table.options.name, name);
}

// What is left to do.
Status SayFormerKeys(Database* database, const AlterVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  if (table.options.former_row_keys.empty()) return {};
  WriteBytes(context.err,
             Format("tandem: alter: rows may have keys of {} row keys now, and each read looks for "
                    "all; '{} rewrite-keys {} {}' moves them to the new one\n",
                    table.options.former_row_keys.size() + 1, context.program,
                    EscapeBytes(options.path), EscapeBytes(options.table)));
  return {};
}

}  // namespace

Result<ExitCode> RunVerb(const DropVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(ConfirmRows("this destroys", options, context));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  RETURN_IF_ERROR(database->DropTable(options.table));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const TruncateVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(ConfirmRows("this destroys all rows of", options, context));
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
  if (options.columns.empty() && !options.key.has_value()) {
    return Status::InvalidArgument("--column or --key is required; see 'tandem alter --help'");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  std::vector<ColumnOptions> columns;
  for (const std::string& text : options.columns) {
    ASSIGN_OR_RETURN(columns.emplace_back(), ParseColumnType(text));
    RETURN_IF_ERROR(CheckFamilyName(table, columns.back().family));
  }
  if (options.key.has_value()) {
    RETURN_IF_ERROR(database->ChangeRowKey(table.options.name, *options.key));
    RETURN_IF_ERROR(SayFormerKeys(database.get(), options, context));
  }
  for (const ColumnOptions& column : columns) {
    RETURN_IF_ERROR(database->SetColumnType(table.options.name, column));
  }
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const FamilyVerbOptions& options, const Context& context) {
  RETURN_IF_ERROR(CheckArguments(options));
  if (options.action == "list") return ListFamilies(options, context);
  RETURN_IF_ERROR(ConfirmFamily(options, context));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.table));
  RETURN_IF_ERROR(ChangeFamily(options, table, database.get()));
  RETURN_IF_ERROR(database->Close());
  return ExitCode::kDone;
}

}  // namespace tandem::tools

// checkpoint, backup, restore: copies of a database, and databases from copies. They open to read
// only, so that they work beside a live writer: the copy is as of the opening. attach and
// restore-table: rows from copies.
#include "base/status_macros.h"
#include "tandem/backup.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/findings_output.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

Result<ExitCode> List(const RestoreOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::vector<BackupInfo> backups, ListBackups(options.directory));
  const auto writer = NewRecordWriter(options.output, context.out);
  writer->Begin("backup", {"backup", "created", "files", "bytes", "last_sequence"});
  for (const BackupInfo& backup : backups) {
    const std::string created = FormatTime(backup.created_micros);
    writer->Add({backup.number, created, backup.files, backup.bytes, backup.last_sequence});
  }
  writer->End();
  return ExitCode::kDone;
}

Result<ExitCode> Verify(const RestoreOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const VerifyReport report, VerifyBackups(options.directory));
  const auto writer = NewRecordWriter(options.output, context.out);
  const Property properties[] = {
      {"files", report.files}, {"bytes", report.bytes}, {"findings", report.findings.size()}};
  writer->AddProperties("summary", properties);
  if (report.findings.empty()) return ExitCode::kDone;
  WriteFindings(report, options.output, writer.get());
  WriteBytes(context.err,
             Format("tandem: restore: {}: {} finding{}; see stdout\n", options.directory,
                    report.findings.size(), report.findings.size() == 1 ? "" : "s"));
  return ExitCode::kFindings;
}

void WriteCopied(const TableCopy& copy, OutputMode output, const Context& context) {
  const auto writer = NewRecordWriter(output, context.out);
  const Property properties[] = {
      {"rows", copy.rows}, {"cells", copy.cells}, {"files", copy.files}, {"bytes", copy.bytes}};
  writer->AddProperties("summary", properties);
}

}  // namespace

Result<ExitCode> RunVerb(const CheckpointOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  RETURN_IF_ERROR(database->Checkpoint(options.destination));
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const BackupOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const BackupInfo made, database->Backup(options.directory));
  uint64_t removed = 0;
  if (options.keep > 0) {
    ASSIGN_OR_RETURN(removed, RemoveOldBackups(options.directory, options.keep));
  }
  const auto writer = NewRecordWriter(options.output, context.out);
  const Property properties[] = {
      {"backup", made.number},
      {"files", made.files},
      {"bytes", made.bytes},
      {"copied_files", made.copied_files},
      {"copied_bytes", made.copied_bytes},
      {"last_sequence", made.last_sequence},
      {"removed_backups", removed},
  };
  writer->AddProperties("summary", properties);
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const RestoreOptions& options, const Context& context) {
  if (options.list) return List(options, context);
  if (options.verify) return Verify(options, context);
  if (options.destination.empty()) {
    return Status::InvalidArgument("DEST is missing; or ask for --list or --verify");
  }
  RETURN_IF_ERROR(RestoreBackup(options.directory, options.destination, options.number));
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const AttachVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  RETURN_IF_ERROR(FindTable(*database, options.to).status());
  ASSIGN_OR_RETURN(const TableCopy copy, database->Attach(options.to, options.directory,
                                                          {.cancelled = context.interrupted}));
  RETURN_IF_ERROR(database->Close());
  WriteCopied(copy, options.output, context);
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const RestoreTableVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  ASSIGN_OR_RETURN(
      const TableCopy copy,
      database->RestoreTable(
          options.source, options.name,
          {.as = options.as, .backup = options.number, .cancelled = context.interrupted}));
  RETURN_IF_ERROR(database->Close());
  WriteCopied(copy, options.output, context);
  return ExitCode::kDone;
}

}  // namespace tandem::tools

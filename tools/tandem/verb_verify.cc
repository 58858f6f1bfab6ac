// verify: what the engine finds in a database, what its files show by themselves, and one exit code
// for any damage.
#include <algorithm>

#include "base/status_macros.h"
#include "engine/salvage/verify_files.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/file_check.h"
#include "tools/tandem/findings_output.h"
#include "tools/tandem/index_output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

/// As AddDamage, where a closer look has not found the same and what it costs.
Status AddUnlessKnown(const Status& status, VerifyReport* report) {
  const bool is_known = std::ranges::any_of(
      report->findings, [&](const Finding& known) { return known.text == status.message(); });
  return is_known ? Status() : AddDamage(status, report);
}

/// What the engine says of an open database. A writer may be at work on it.
Status VerifyOpen(Database* database, const VerifyOptions& options, const Context& context,
                  VerifyReport* report) {
  auto verified = database->Verify(options.deep);
  if (verified.has_value()) *report = std::move(*verified);
  RETURN_IF_ERROR(AddDamage(verified.status(), report));
  ASSIGN_OR_RETURN(const DatabaseInfo info, database->Info());
  if (info.torn_bytes > 0) {
    WriteBytes(context.err, "tandem: verify: " + TornText(options.path, info.torn_bytes) + "\n");
  }
  for (const TableInfo& table : info.tables) {
    for (const IndexInfo& index : table.indexes) {
      if (options.deep) TellIfUnusable(table.options.name, index, context);
    }
  }
  return {};
}

Status VerifyDatabase(const VerifyOptions& options, const Context& context, VerifyReport* report) {
  const auto opened = OpenForReading(options.path, context);
  if (opened.has_value()) {
    RETURN_IF_ERROR(VerifyOpen(opened->get(), options, context, report));
  } else {
    if (opened.error().code() != StatusCode::kCorruption) return opened.error();
    const auto file_system = base::NewPosixFileSystem();
    ASSIGN_OR_RETURN(auto directory, file_system->OpenDirectory(options.path, false));
    RETURN_IF_ERROR(engine::VerifyFiles(std::move(directory), options.deep, report));
    RETURN_IF_ERROR(AddUnlessKnown(opened.error(), report));
  }
  VerifyReport files;
  const Status status = CheckDirectory(options.path, &files);
  for (Finding& finding : files.findings) report->findings.push_back(std::move(finding));
  // Where the database did not open, the files that cannot be read are the same damage again.
  return report->findings.empty() ? status : Status();
}

Status VerifyOneFile(const VerifyOptions& options, VerifyReport* report) {
  auto probed = ProbeFile(options.path);
  if (!probed.has_value()) return AddDamage(probed.error(), report);
  return CheckFile(&*probed, options.deep, report);
}

}  // namespace

Result<ExitCode> RunVerb(const VerifyOptions& options, const Context& context) {
  VerifyReport report;
  const bool one_file = !IsDirectory(options.path);
  RETURN_IF_ERROR(one_file ? VerifyOneFile(options, &report)
                           : VerifyDatabase(options, context, &report));
  return WriteReport("verify", options.path, options.output, context, &report);
}

}  // namespace tandem::tools

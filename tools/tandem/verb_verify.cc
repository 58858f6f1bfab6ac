// verify: what the engine finds in a database, what its files show by themselves, and one exit code
// for any damage.
#include <algorithm>

#include "base/status_macros.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/file_check.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

/// Damage is a finding, whatever its place; other errors pass.
Status Absorb(const Status& status, VerifyReport* report) {
  if (status.code() != StatusCode::kCorruption) return status;
  report->findings.emplace_back(status.message());
  return {};
}

Status VerifyDatabase(const VerifyOptions& options, const Context& context, VerifyReport* report) {
  const auto opened = OpenForReading(options.path, context);
  if (opened.has_value()) {
    auto verified = (*opened)->Verify(options.deep);
    if (verified.has_value()) *report = std::move(*verified);
    RETURN_IF_ERROR(Absorb(verified.status(), report));
  } else {
    RETURN_IF_ERROR(Absorb(opened.error(), report));
  }
  VerifyReport files;
  const Status status = CheckDirectory(options.path, &files);
  for (std::string& finding : files.findings) report->findings.push_back(std::move(finding));
  // Where the database did not open, the files that cannot be read are the same damage again.
  return report->findings.empty() ? status : Status();
}

Status VerifyOneFile(const VerifyOptions& options, VerifyReport* report) {
  auto probed = ProbeFile(options.path);
  if (!probed.has_value()) return Absorb(probed.error(), report);
  return CheckFile(&*probed, options.deep, report);
}

void WriteReport(const VerifyReport& report, const VerifyOptions& options, const Context& context) {
  const auto writer = NewRecordWriter(options.output, context.out);
  const Property properties[] = {
      {"files", report.files},
      {"bytes", report.bytes},
      {"rows", report.rows},
      {"cells", report.cells},
      {"index_entries", report.index_entries},
      {"findings", report.findings.size()},
  };
  writer->AddProperties("summary", properties);
  if (report.findings.empty()) return;
  writer->Begin("finding", {"finding"});
  for (const std::string& finding : report.findings) writer->Add({finding});
  writer->End();
}

}  // namespace

Result<ExitCode> RunVerb(const VerifyOptions& options, const Context& context) {
  VerifyReport report;
  const bool one_file = !IsDirectory(options.path);
  RETURN_IF_ERROR(one_file ? VerifyOneFile(options, &report)
                           : VerifyDatabase(options, context, &report));
  std::vector<std::string> distinct;
  for (std::string& finding : report.findings) {
    if (std::ranges::find(distinct, finding) == distinct.end()) {
      distinct.push_back(std::move(finding));
    }
  }
  report.findings = std::move(distinct);
  WriteReport(report, options, context);
  if (report.findings.empty()) return ExitCode::kDone;
  WriteBytes(context.err, Format("tandem: verify: {}: {} finding{}; see stdout\n", options.path,
                                 report.findings.size(), report.findings.size() == 1 ? "" : "s"));
  return ExitCode::kFindings;
}

}  // namespace tandem::tools

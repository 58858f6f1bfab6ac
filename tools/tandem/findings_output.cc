// The worst effect decides what to do.
#include "tools/tandem/findings_output.h"

#include <algorithm>
#include <set>

#include "engine/verify/findings.h"
#include "tools/tandem/file_probe.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

constexpr FindingEffect kEffects[] = {FindingEffect::kRows, FindingEffect::kAccess,
                                      FindingEffect::kDerived, FindingEffect::kNothing};

Value Part(const std::string& part) { return part.empty() ? Value() : Value(part); }

FindingEffect Worst(const VerifyReport& report) {
  FindingEffect worst = FindingEffect::kNothing;
  for (const Finding& finding : report.findings) worst = std::max(worst, finding.effect);
  return worst;
}

std::string WhatToDo(FindingEffect worst, const std::string& path) {
  switch (worst) {
    case FindingEffect::kNothing:
      return "no row is concerned";
    case FindingEffect::kDerived:
      return Format("rows are whole; 'tandem compact {} TABLE' writes the rest again", path);
    case FindingEffect::kAccess:
    case FindingEffect::kRows:
      break;
  }
  return Format("'tandem salvage {} COPY' saves what is good, 'tandem restore' gets a backup",
                path);
}

}  // namespace

void RemoveRepeated(VerifyReport* report) {
  std::set<std::string> seen;
  std::erase_if(report->findings,
                [&](const Finding& finding) { return !seen.insert(finding.text).second; });
}

void WriteFindings(const VerifyReport& report, OutputMode mode, RecordWriter* writer) {
  if (report.findings.empty()) return;
  const bool is_table = mode == OutputMode::kTable;
  if (is_table) {
    writer->Begin("finding", {"effect", "finding"});
  } else {
    writer->Begin("finding",
                  {"effect", "concerns", "file", "offset", "expected", "found", "finding"});
  }
  for (const Finding& finding : report.findings) {
    const char* const effect = NameOf(finding.effect);
    if (is_table) {
      writer->Add({effect, finding.text});
    } else {
      writer->Add({effect, finding.kind, Part(finding.file),
                   finding.offset.has_value() ? Value(*finding.offset) : Value(),
                   Part(finding.expected), Part(finding.found), finding.text});
    }
  }
  writer->End();
}

std::string FindingsText(const VerifyReport& report, const std::string& path) {
  const size_t count = report.findings.size();
  std::string text = Format("{} finding{}", count, count == 1 ? "" : "s");
  const char* before = ": ";
  for (const FindingEffect effect : kEffects) {
    const auto of_effect = std::ranges::count(report.findings, effect, &Finding::effect);
    if (of_effect == 0) continue;
    text += Format("{}{} {}", before, of_effect, NameOf(effect));
    before = ", ";
  }
  text += "; see stdout";
  if (IsDirectory(path)) text += "; " + WhatToDo(Worst(report), path);
  return text;
}

Status AddDamage(const Status& status, VerifyReport* report) {
  if (status.code() != StatusCode::kCorruption) return status;
  report->findings.push_back(format::NewFinding(status));
  return {};
}

ExitCode WriteReport(std::string_view verb, const std::string& path, OutputMode mode,
                     const Context& context, VerifyReport* report) {
  RemoveRepeated(report);
  const auto writer = NewRecordWriter(mode, context.out);
  const Property properties[] = {
      {"files", report->files},
      {"bytes", report->bytes},
      {"rows", report->rows},
      {"cells", report->cells},
      {"index_entries", report->index_entries},
      {"findings", report->findings.size()},
  };
  writer->AddProperties("summary", properties);
  WriteFindings(*report, mode, writer.get());
  if (report->findings.empty()) return ExitCode::kDone;
  WriteBytes(context.err, Format("tandem: {}: {}: {}\n", verb, path, FindingsText(*report, path)));
  return ExitCode::kFindings;
}

std::string TornText(const std::string& path, uint64_t torn_bytes) {
  return Format(
      "{}: {} torn bytes at the end of the log are ignored: a group that a crash cut off, never "
      "acknowledged as durable",
      path, torn_bytes);
}

}  // namespace tandem::tools

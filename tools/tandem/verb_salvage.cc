// salvage: the engine copies and finds; this prints the report.
#include <algorithm>

#include "base/status_macros.h"
#include "engine/default_environment.h"
#include "engine/salvage/salvage.h"
#include "tools/tandem/file_probe.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

using engine::SalvageReport;

template <typename T>
Value Optional(const std::optional<T>& value) {
  return value.has_value() ? Value(*value) : Value();
}

std::string FileList(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

uint64_t RowsLost(const SalvageReport& report) {
  uint64_t rows = 0;
  for (const engine::LostRange& lost : report.lost) rows += lost.rows;
  return rows;
}

void WriteSummary(const SalvageReport& report, RecordWriter* writer) {
  const std::string lost_edits = FileList(report.lost_edits);
  const Property properties[] = {
      {"catalog", report.catalog},
      {"catalog_lacks", report.lost_edits.empty() ? Value() : Value(lost_edits)},
      {"tables", report.tables},
      {"regions", report.regions},
      {"files", report.files},
      {"rows", report.rows},
      {"cells", report.cells},
      {"log_groups", report.frames},
      {"log_operations", report.operations},
      {"lost_ranges", report.lost.size()},
      {"lost_rows", RowsLost(report)},
      {"uncertain_ranges", report.uncertain.size()},
      {"log_holes", report.holes.size()},
      {"repaired", report.repaired.size()},
      {"orphans", report.orphans.size()},
      {"findings_in_copy", report.verified.findings.size()},
  };
  writer->AddProperties("summary", properties);
}

void WriteLost(const SalvageReport& report, RecordWriter* writer) {
  if (report.lost.empty()) return;
  writer->Begin(
      "lost", {"file", "table", "region", "family", "offset", "bytes", "rows", "first_ordinal",
               "last_ordinal", "from_key", "before_key", "from_column", "before_column", "reason"});
  for (const engine::LostRange& lost : report.lost) {
    const bool has_place = lost.bytes != 0, has_columns = lost.columns.has_value();
    writer->Add({lost.file, lost.table.empty() ? Value() : Value(lost.table),
                 lost.table.empty() ? Value() : Value(lost.region),
                 lost.family.empty() ? Value() : Value(lost.family),
                 has_place ? Value(lost.offset) : Value(), has_place ? Value(lost.bytes) : Value(),
                 lost.rows, Optional(lost.first_ordinal), Optional(lost.last_ordinal),
                 lost.keys.low, Optional(lost.keys.high),
                 has_columns ? Value(lost.columns->low) : Value(),
                 has_columns ? Optional(lost.columns->high) : Value(), lost.reason});
  }
  writer->End();
}

/// As dump prints hashes; empty without one.
std::string HashHex(const std::optional<uint64_t>& hash) {
  return hash.has_value() ? Format("{:016x}", *hash) : std::string();
}

/// A line for each index entry of a lost row, one without an index where there is none.
void WriteLostRows(const SalvageReport& report, RecordWriter* writer) {
  const bool any = std::ranges::any_of(
      report.lost, [](const engine::LostRange& lost) { return !lost.details.empty(); });
  if (!any) return;
  writer->Begin("lost-row",
                {"file", "family", "ordinal", "row", "key_hash", "index", "part", "value"});
  for (const engine::LostRange& lost : report.lost) {
    for (const format::LostRow& row : lost.details) {
      const std::string hash = HashHex(row.key_hash);
      const Value key_hash = row.key_hash.has_value() ? Value(hash) : Value();
      const auto add = [&](Value index, Value part, Value value) {
        writer->Add(
            {lost.file, lost.family, row.ordinal, Optional(row.key), key_hash, index, part, value});
      };
      if (row.values.empty()) add(Value(), Value(), Value());
      for (const format::LostValue& value : row.values) {
        add(value.name, value.is_current ? "current" : "older", value.value);
      }
    }
  }
  writer->End();
}

void WriteUncertain(const SalvageReport& report, RecordWriter* writer) {
  if (report.uncertain.empty()) return;
  writer->Begin("uncertain", {"table", "region", "family", "from_key", "before_key", "because"});
  for (const engine::UncertainRange& range : report.uncertain) {
    writer->Add({range.table.empty() ? Value() : Value(range.table),
                 range.table.empty() ? Value() : Value(range.region),
                 range.family.empty() ? Value() : Value(range.family), range.keys.low,
                 Optional(range.keys.high), range.because});
  }
  writer->End();
}

void WriteHoles(const SalvageReport& report, RecordWriter* writer) {
  if (report.holes.empty()) return;
  writer->Begin("log-hole",
                {"segment", "offset", "after_sequence", "groups_behind", "operations_behind",
                 "first_sequence", "last_sequence", "copied", "reason"});
  for (const engine::LogHole& hole : report.holes) {
    const bool any = hole.frames > 0;
    writer->Add({hole.segment, hole.offset, hole.after_sequence, hole.frames, hole.operations,
                 any ? Value(hole.first_sequence) : Value(),
                 any ? Value(hole.last_sequence) : Value(), hole.copied, hole.reason});
  }
  writer->End();
}

void WriteNotes(const char* kind, const std::vector<engine::FileNote>& notes,
                RecordWriter* writer) {
  if (notes.empty()) return;
  writer->Begin(kind, {"file", "what"});
  for (const engine::FileNote& note : notes) writer->Add({note.file, note.what});
  writer->End();
}

void WriteSnapshots(const SalvageReport& report, RecordWriter* writer) {
  if (report.snapshots.empty()) return;
  writer->Begin("lost-snapshot", {"snapshot"});
  for (const std::string& name : report.snapshots) writer->Add({name});
  writer->End();
}

}  // namespace

Result<ExitCode> RunVerb(const SalvageVerbOptions& options, const Context& context) {
  if (!IsDirectory(options.path)) {
    if (!IsRegularFile(options.path)) return Status::NotFound(options.path + ": does not exist");
    return Status::InvalidArgument(options.path + ": a file; expected the directory of a database");
  }
  Options base;
  ASSIGN_OR_RETURN(const engine::Environment environment, engine::DefaultEnvironment(base));
  engine::SalvageOptions salvage;
  salvage.source = options.path;
  salvage.destination = options.destination;
  salvage.include_orphans = options.include_orphans;
  salvage.past_holes = options.past_holes;
  ASSIGN_OR_RETURN(SalvageReport report, engine::Salvage(salvage, engine::TuningFor(base),
                                                         environment, context.interrupted));
  const auto writer = NewRecordWriter(options.output, context.out);
  WriteSummary(report, writer.get());
  WriteLost(report, writer.get());
  WriteLostRows(report, writer.get());
  WriteUncertain(report, writer.get());
  WriteHoles(report, writer.get());
  WriteSnapshots(report, writer.get());
  WriteNotes("orphan", report.orphans, writer.get());
  WriteNotes("repaired", report.repaired, writer.get());
  if (!report.verified.findings.empty()) {
    return Status::IoError(Format("{}: the copy does not verify: {}", options.destination,
                                  report.verified.findings.front().text));
  }
  if (!report.lost_something()) return ExitCode::kDone;
  WriteBytes(context.err,
             Format("tandem: salvage: {}: not all could be saved; see stdout\n", options.path));
  return ExitCode::kFindings;
}

}  // namespace tandem::tools

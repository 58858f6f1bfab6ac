// The figures of an explanation, as a record and as a line.
#include "tools/tandem/explanation_output.h"

#include "tools/tandem/format_text.h"

namespace tandem::tools {

std::vector<Property> PropertiesOf(const Explanation& explanation, const std::string& access) {
  std::vector<Property> properties = {
      {"access", access},
      {"index", explanation.index.empty() ? Value() : Value(explanation.index)},
      {"reason", explanation.reason},
      {"intersected", explanation.intersected},
      {"entries", explanation.entries},
      {"memstore_entries", explanation.memstore_entries},
      {"files", explanation.files},
      {"files_scanned", explanation.files_scanned},
      {"memstores", explanation.memstores},
      {"memstores_scanned", explanation.memstores_scanned},
      {"rows_without_entry", explanation.rows_without_entry},
      {"covered", explanation.covered},
      {"rows_from_index", explanation.rows_from_index},
      {"candidate_rows", explanation.candidate_rows},
      {"candidate_blocks", explanation.candidate_blocks},
      {"candidate_bytes", explanation.candidate_bytes},
      {"total_blocks", explanation.total_blocks},
      {"total_bytes", explanation.total_bytes},
      {"live_counts", explanation.has_live_counts},
      {"rows", explanation.rows},
      {"rejected", explanation.rejected},
      {"skipped_by_counts", explanation.skipped_by_counts},
      {"skipped_by_reading", explanation.skipped_by_reading},
      {"decided_to_skip", explanation.rows_decided_to_skip},
      {"read_to_skip",
       explanation.read_to_skip.empty() ? Value() : Value(explanation.read_to_skip)},
      {"grouping", explanation.grouping},
      {"groups", explanation.groups},
  };
  if (explanation.grouping.empty()) properties.resize(properties.size() - 2);
  return properties;
}

std::string AccessOf(const Explanation& explanation) {
  return explanation.index.empty() ? "scan" : "index " + explanation.index;
}

void WriteExplanation(const Explanation& explanation, OutputMode mode, std::FILE* out) {
  const std::string access = AccessOf(explanation);
  NewRecordWriter(mode, out)->AddProperties("explanation", PropertiesOf(explanation, access));
}

std::string ExplanationLine(const Explanation& explanation) {
  const std::string blocks =
      Format("{} of {} blocks ({} of {})", FormatCount(explanation.candidate_blocks),
             FormatCount(explanation.total_blocks), FormatSize(explanation.candidate_bytes),
             FormatSize(explanation.total_bytes));
  if (explanation.index.empty()) return "scan, " + blocks;
  const std::string covered = explanation.covered ? Format(", {} of {} rows from it",
                                                           FormatCount(explanation.rows_from_index),
                                                           FormatCount(explanation.candidate_rows))
                                                  : "";
  return Format("index {}, {} entries{}, {}", explanation.index, FormatCount(explanation.entries),
                covered, blocks);
}

}  // namespace tandem::tools

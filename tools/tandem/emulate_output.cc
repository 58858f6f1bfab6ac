// See emulate_output.h.
#include "tools/tandem/emulate_output.h"

#include <memory>
#include <string>
#include <vector>

#include "tools/tandem/key_arguments.h"

namespace tandem::tools {
namespace {

using emulator::Outcome;
using emulator::State;

uint64_t Whole(double number) { return static_cast<uint64_t>(number + 0.5); }

double MeanRuns(const State& state) {
  return Rounded(static_cast<double>(state.runs) / static_cast<double>(state.regions));
}

void WriteSizes(const std::optional<emulator::HBaseSite>& site, const engine::Tuning& sizes,
                RecordWriter* writer) {
  writer->Begin("size", {"name", "value", "note"});
  if (site.has_value()) {
    for (const emulator::SiteValue& each : site->values)
      writer->Add({each.name, each.value, each.note});
    for (const std::string& name : site->others) writer->Add({name, Value(), "not used"});
  }
  writer->Add({"memstore_bytes", sizes.memstore_bytes, "of a region; flushed above it"});
  writer->Add({"memstores_total_bytes", sizes.memstores_total_bytes, "of all regions"});
  const bool splits = sizes.region_bytes_max != UINT64_MAX;
  writer->Add({"region_bytes_max", splits ? Value(sizes.region_bytes_max) : Value(),
               splits ? "split above it" : "regions are never split"});
  writer->Add({"compaction_runs", sizes.compaction_runs, "most of an idle region"});
  writer->End();
}

void WriteCosts(std::span<const Outcome> outcomes, RecordWriter* writer) {
  writer->Begin("row", {"design", "raw_bytes", "memstore_bytes", "log_bytes", "flushed_bytes",
                        "merged_bytes", "index_bytes"});
  const double rows = emulator::FileCosts::kRows;
  for (const Outcome& each : outcomes) {
    writer->Add({each.design, Rounded(each.costs.raw),
                 Rounded(each.costs.memstore.BytesOf(rows) / rows), Rounded(each.costs.log),
                 Rounded(each.costs.flushed.row), Rounded(each.costs.merged.row),
                 Rounded(each.costs.index.row)});
  }
  writer->End();
}

void WriteMoments(std::span<const Outcome> outcomes, RecordWriter* writer) {
  writer->Begin("moment", {"design", "rows_put", "regions", "splits", "files", "runs_mean",
                           "runs_most", "disk_bytes", "written", "region_least", "region_median",
                           "region_most", "gini", "file_least", "file_median", "file_most"});
  for (const Outcome& each : outcomes) {
    for (const State& state : each.states) {
      writer->Add({each.design, Whole(state.counters.puts), state.regions, state.counters.splits,
                   state.files, MeanRuns(state), state.runs_max, Whole(state.disk_bytes),
                   Rounded(state.written_per_flushed()), Whole(state.region_bytes.least),
                   Whole(state.region_bytes.median), Whole(state.region_bytes.most),
                   Rounded(state.region_gini), Whole(state.file_bytes.least),
                   Whole(state.file_bytes.median), Whole(state.file_bytes.most)});
    }
  }
  writer->End();
}

std::vector<Property> TotalOf(const Outcome& outcome) {
  const State& state = outcome.last();
  const emulator::Counters& counted = state.counters;
  const double written = counted.flushed_bytes + counted.merged_bytes;
  return {{"design", outcome.design},
          {"rows_put", Whole(counted.puts)},
          {"rows_in_files", Whole(state.rows)},
          {"raw_bytes", Whole(outcome.raw_bytes())},
          {"disk_bytes", Whole(state.disk_bytes)},
          {"disk_bytes_peak", Whole(counted.peak_disk_bytes)},
          {"index_bytes", Whole(state.index_bytes)},
          {"regions", state.regions},
          {"splits", counted.splits},
          {"joins", counted.joins},
          {"region_least", Whole(state.region_bytes.least)},
          {"region_median", Whole(state.region_bytes.median)},
          {"region_most", Whole(state.region_bytes.most)},
          {"gini", Rounded(state.region_gini)},
          {"flushes", counted.flushes},
          {"merges", counted.merges},
          {"flushed_bytes", Whole(counted.flushed_bytes)},
          {"merged_bytes", Whole(counted.merged_bytes)},
          {"written", Rounded(state.written_per_flushed())},
          {"written_by_raw", Rounded(written / outcome.raw_bytes())},
          {"files", state.files},
          {"file_least", Whole(state.file_bytes.least)},
          {"file_median", Whole(state.file_bytes.median)},
          {"file_most", Whole(state.file_bytes.most)},
          {"runs_mean", MeanRuns(state)},
          {"runs_most", state.runs_max},
          {"runs_most_ever", counted.runs_max},
          {"hits", Whole(outcome.hits)},
          {"files_with_hits", Rounded(outcome.files_with_hits)}};
}

void WriteTotals(std::span<const Outcome> outcomes, OutputMode output, RecordWriter* writer) {
  std::vector<std::vector<Property>> totals;
  for (const Outcome& each : outcomes) totals.push_back(TotalOf(each));
  if (output != OutputMode::kTable || outcomes.size() == 1) {
    for (const auto& total : totals) writer->AddProperties("total", total);
    return;
  }
  writer->Begin("total", {"total", outcomes[0].design, outcomes[1].design});
  for (size_t i = 1; i < totals[0].size(); ++i) {
    writer->Add({totals[0][i].first, totals[0][i].second, totals[1][i].second});
  }
  writer->End();
}

}  // namespace

void WriteEmulation(std::span<const Outcome> outcomes,
                    const std::optional<emulator::HBaseSite>& site, const engine::Tuning& sizes,
                    OutputMode output, std::FILE* out) {
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(output, out);
  const bool several = output == OutputMode::kTable || output == OutputMode::kJsonLines;
  if (several) {
    WriteSizes(site, sizes, writer.get());
    WriteCosts(outcomes, writer.get());
  }
  WriteMoments(outcomes, writer.get());
  if (several) WriteTotals(outcomes, output, writer.get());
}

}  // namespace tandem::tools

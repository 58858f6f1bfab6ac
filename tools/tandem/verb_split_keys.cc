// split-keys: where to cut a table into regions, before there is one, and how even they will be.
#include <vector>

#include "base/status_macros.h"
#include "tools/row_keys/split_text.h"
#include "tools/tandem/key_arguments.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {


void WriteRegions(const SplitPlan& plan, RecordWriter* writer) {
  writer->Begin("region", {"region", "start", "end", "share"});
  for (size_t i = 0; i < plan.regions(); ++i) {
    writer->Add({i + 1, i == 0 ? Value() : Value(plan.keys[i - 1]),
                 i == plan.keys.size() ? Value() : Value(plan.keys[i]),
                 plan.shares.empty() ? Value() : Value(Rounded(plan.shares[i]))});
  }
  writer->End();
}

/// The keys alone, as they are.
void WriteRaw(const SplitPlan& plan, RecordWriter* writer) {
  writer->Begin("split", {"start"});
  for (const std::string& key : plan.keys) writer->Add({key});
  writer->End();
}

void WriteSkew(const SplitPlan& plan, RecordWriter* writer) {
  const row_keys::Skew skew = row_keys::SkewOf(plan.shares);
  std::vector<Property> properties = {
      {"regions", plan.regions()},          {"regions_asked", plan.regions_asked},
      {"least_share", Rounded(skew.least)}, {"most_share", Rounded(skew.most)},
      {"ratio", Rounded(skew.ratio())},     {"gini", Rounded(skew.gini)}};
  if (plan.sample_keys != 0) {
    const double sampling = SamplingError(plan);
    properties.emplace_back("sample_keys", plan.sample_keys);
    properties.emplace_back("sketch_error", Rounded(plan.error_share));
    properties.emplace_back("sampling_error", sampling > 0 ? Value(Rounded(sampling)) : Value());
  }
  writer->AddProperties("skew", properties);
}

}  // namespace

Result<ExitCode> RunVerb(const SplitKeysOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const SplitPlan plan, PlanSplits(options.splits, options.sample, context));
  if (options.form != "records") {
    const auto text = options.form == "create" ? row_keys::SplitsForCreate
                      : options.form == "file" ? row_keys::SplitsFile
                                               : row_keys::SplitsForShell;
    WriteBytes(context.out, text(plan.keys));
    ReportSkew(plan, "split-keys", context);
    return ExitCode::kDone;
  }
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  if (options.output == OutputMode::kRaw) {
    WriteRaw(plan, writer.get());
  } else {
    WriteRegions(plan, writer.get());
  }
  // csv, tsv and raw hold one kind of records.
  const bool several =
      options.output == OutputMode::kTable || options.output == OutputMode::kJsonLines;
  if (several && !plan.shares.empty()) {
    WriteSkew(plan, writer.get());
  } else {
    ReportSkew(plan, "split-keys", context);
  }
  return ExitCode::kDone;
}

}  // namespace tandem::tools

// See key_arguments.h.
#include "tools/tandem/key_arguments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status_macros.h"
#include "tools/row_keys/command_source.h"
#include "tools/row_keys/generator.h"
#include "tools/row_keys/line_source.h"
#include "tools/row_keys/split_spec.h"
#include "tools/row_keys/table_source.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/progress.h"
#include "tools/tandem/record_writer.h"

namespace tandem::tools {
namespace {

using row_keys::KeySource;
using row_keys::WeightedKey;

constexpr uint64_t kKeysBetweenLooks = 65'536;  // At the clock, and for Ctrl-C.
constexpr uint64_t kSampleKeys = 1'000'000;     // Of a generator, from all over its run.

Result<std::unique_ptr<KeySource>> Generated(const KeySourceArguments& arguments, uint64_t step) {
  const uint64_t count = arguments.keys == 0 ? kKeysGenerated : arguments.keys;
  ASSIGN_OR_RETURN(auto generator, row_keys::NewGenerator({.spec = arguments.generator,
                                                           .seed = arguments.seed,
                                                           .rate = arguments.rate}));
  return row_keys::KeysOf(std::move(generator), count, step);
}

Status CheckOneSource(const KeySourceArguments& arguments) {
  size_t given = 0;
  for (const std::string* source :
       {&arguments.file, &arguments.generator, &arguments.command, &arguments.database}) {
    given += source->empty() ? 0 : 1;
  }
  if (given != 1) {
    return Status::InvalidArgument(
        Format("expected keys of one source: a file, --generator, --command, or --database and "
               "--table; found {}",
               given));
  }
  if (arguments.database.empty() != arguments.from_table.empty()) {
    return Status::InvalidArgument("--database and --table need each other");
  }
  if (arguments.weighted && arguments.file.empty() && arguments.command.empty()) {
    return Status::InvalidArgument("--weighted: only lines of a file or a command have weights");
  }
  return {};
}

Result<std::unique_ptr<KeySource>> OfTable(const KeySourceArguments& arguments,
                                           const Context& context) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, OpenForReading(arguments.database, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, arguments.from_table));
  return row_keys::KeysOfTable(std::move(database), table.options.name, context.interrupted);
}

Status CheckSample(const row_keys::SplitSpec& spec, const KeySourceArguments& sample) {
  const std::string text = EscapeBytes(spec.text);
  if (spec.sampled == 0 && sample.is_given()) {
    return Status::InvalidArgument(Format("'{}' needs no sample; auto:N takes one", text));
  }
  if (spec.sampled != 0 && !sample.is_given()) {
    return Status::InvalidArgument(
        Format("'{}' needs a sample of the keys, such as a file with a key a line", text));
  }
  return {};
}

std::string Counted(uint64_t count, const char* noun) {
  return Format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

Result<std::unique_ptr<KeySource>> OpenKeys(const KeySourceArguments& arguments,
                                            const Context& context, uint64_t step) {
  RETURN_IF_ERROR(CheckOneSource(arguments));
  if (!arguments.generator.empty()) return Generated(arguments, step);
  if (!arguments.command.empty()) {
    return row_keys::RunCommand(arguments.command, arguments.weighted);
  }
  if (!arguments.database.empty()) return OfTable(arguments, context);
  return row_keys::OpenLines(arguments.file, context.in, arguments.weighted);
}

Status ForEachKey(const KeySourceArguments& arguments, const Context& context, KeySource* source,
                  const std::function<Status(const WeightedKey&)>& take) {
  Progress progress(context);
  WeightedKey key;
  uint64_t count = 0;
  while (arguments.keys == 0 || count < arguments.keys) {
    ASSIGN_OR_RETURN(const bool more, source->Next(&key));
    if (!more) break;
    ++count;
    RETURN_IF_ERROR(take(key));
    if (count % kKeysBetweenLooks != 0) continue;
    progress.Update(count, source->read_bytes(), source->total_bytes());
    if (context.is_interrupted()) {
      return Status::Cancelled(Format("interrupted after {} keys", FormatCount(count)));
    }
  }
  if (count > 0) return {};
  if (arguments.file.empty()) return Status::InvalidArgument("there is no key");
  return Status::InvalidArgument(Format("{}: there is no key in it",
                                        arguments.file == "-" ? "standard input" : arguments.file));
}

Result<SplitPlan> PlanSplits(const std::string& splits, const KeySourceArguments& sample,
                             const Context& context, uint64_t step) {
  ASSIGN_OR_RETURN(row_keys::SplitSpec spec, row_keys::ParseSplitSpec(splits));
  RETURN_IF_ERROR(CheckSample(spec, sample));
  if (spec.sampled == 0) return std::move(spec.plan);
  ASSIGN_OR_RETURN(const auto source, OpenKeys(sample, context, step));
  ASSIGN_OR_RETURN(SplitKeySampler sampler, SplitKeySampler::Create(spec.sampled));
  RETURN_IF_ERROR(ForEachKey(sample, context, source.get(), [&](const WeightedKey& key) -> Status {
    return sampler.Add(key.key, key.weight);
  }));
  Result<SplitPlan> plan = sampler.Plan(spec.sampled);
  if (!plan.has_value()) {
    return Status::InvalidArgument(Format("'{}': {}", spec.text, plan.error().message()));
  }
  if (!plan->note.empty()) WriteBytes(context.err, "tandem: " + plan->note + "\n");
  return plan;
}

uint64_t KeysKnown(const KeySourceArguments& source) {
  if (source.generator.empty()) return 0;
  return source.keys == 0 ? kKeysGenerated : source.keys;
}

Result<SplitPlan> PlanFor(const std::string& splits, const std::string& sample_file,
                          const KeySourceArguments& source, const Context& context) {
  if (!sample_file.empty() || !splits.starts_with("auto:")) {
    KeySourceArguments sample;
    sample.file = sample_file;
    return PlanSplits(splits, sample, context);
  }
  if (!source.command.empty() || source.file == "-") {
    return Status::InvalidArgument(
        Format("--splits '{}': these keys can be read once only; give a --sample of them", splits));
  }
  KeySourceArguments sample = source;
  const uint64_t keys = KeysKnown(sample);
  const uint64_t step = std::max<uint64_t>(1, keys / kSampleKeys);
  if (keys != 0) sample.keys = keys / step;
  return PlanSplits(splits, sample, context, step);
}

void ReportSkew(const SplitPlan& plan, const std::string& verb, const Context& context) {
  if (plan.shares.empty()) return;
  const row_keys::Skew skew = row_keys::SkewOf(plan.shares);
  std::string text = Format(
      "tandem: {}: {}; expected of all keys: {:.3f} % to {:.3f} % each, ratio {:.3f}, Gini {:.4f}",
      verb, Counted(plan.regions(), "region"), 100 * skew.least, 100 * skew.most, skew.ratio(),
      skew.gini);
  if (plan.error_share > 0) {
    text += Format("; each to within {:.4f} % of the sample", 100 * plan.error_share);
  }
  WriteBytes(context.err, text + "\n");
}

double SamplingError(const SplitPlan& plan) {
  if (plan.sample_keys == 0 || plan.weighted) return 0;
  return std::sqrt(static_cast<double>(plan.regions() - 1) / static_cast<double>(plan.sample_keys));
}

double Rounded(double fraction) { return std::round(fraction * 1e6) / 1e6; }

}  // namespace tandem::tools

// simulate: what a design of row keys does to the regions of a table, before there is one.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tools/row_keys/generator.h"
#include "tools/row_keys/simulation.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/key_arguments.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

using row_keys::Simulation;
using row_keys::Skew;

constexpr uint64_t kWindowsUsual = 20;
constexpr uint64_t kWindowKeys = 100'000;  // Where nobody knows how many keys there will be.

Status BadWindow(const std::string& text, std::string_view expected) {
  return Status::InvalidArgument(
      Format("--window: expected {}, found '{}'", expected, EscapeBytes(text)));
}

Result<uint64_t> WindowKeys(const SimulateOptions& options) {
  const uint64_t keys = KeysKnown(options.source);
  if (options.window.empty()) {
    return keys == 0 ? kWindowKeys : std::max<uint64_t>(1, keys / kWindowsUsual);
  }
  uint64_t window = 0;
  const char* const last = options.window.data() + options.window.size();
  const auto [end, error] = std::from_chars(options.window.data(), last, window);
  if (error != std::errc() || end != last) {
    const auto duration = ParseDuration(options.window);
    if (!duration.has_value() || *duration <= 0) {
      return BadWindow(options.window, "a number of keys from 1, or a time such as 10s");
    }
    const double count =
        static_cast<double>(*duration) / 1e6 * static_cast<double>(options.source.rate);
    window = count < 1 ? 0 : static_cast<uint64_t>(std::min(count, 1e18));
  }
  if (window == 0) return BadWindow(options.window, "at least one key");
  if (keys / window >= row_keys::kWindowsMax) {
    return BadWindow(options.window,
                     Format("a longer one, {} windows are the most", row_keys::kWindowsMax));
  }
  return window;
}

void WriteWindows(const Simulation& simulation, const SimulateOptions& options,
                  RecordWriter* writer) {
  const bool timed = !options.source.generator.empty();
  std::vector<std::string> columns = {"window", "first_key"};
  if (timed) columns.push_back("second");
  for (const char* column : {"keys", "least", "most", "ratio", "gini", "hottest", "hottest_share"})
    columns.push_back(column);
  writer->Begin("window", columns);
  uint64_t number = 0;
  for (const Simulation::Window& window : simulation.windows()) {
    const Skew& skew = window.skew;
    std::vector<Value> values = {++number, window.first};
    if (timed) {
      values.push_back(
          Rounded(static_cast<double>(window.first) / static_cast<double>(options.source.rate)));
    }
    for (const Value& value :
         {Value(window.keys), Value(static_cast<uint64_t>(skew.least)),
          Value(static_cast<uint64_t>(skew.most)),
          skew.least > 0 ? Value(Rounded(skew.ratio())) : Value(), Value(Rounded(skew.gini)),
          Value(skew.hottest + 1), Value(Rounded(skew.hottest_share))})
      values.push_back(value);
    writer->Add(values);
  }
  writer->End();
}

void WriteTotal(const Simulation& simulation, RecordWriter* writer) {
  const Skew skew = simulation.TotalSkew();
  const Property properties[] = {
      {"keys", simulation.keys()},
      {"regions", simulation.regions()},
      {"windows", simulation.windows().size()},
      {"least", static_cast<uint64_t>(skew.least)},
      {"most", static_cast<uint64_t>(skew.most)},
      {"ratio", skew.least > 0 ? Value(Rounded(skew.ratio())) : Value()},
      {"gini", Rounded(skew.gini)},
      {"hottest", skew.hottest + 1},
      {"hottest_share", Rounded(skew.hottest_share)},
      {"hottest_share_of_a_window", Rounded(simulation.HottestShareOfAWindow())}};
  writer->AddProperties("total", properties);
}

void WriteRegions(const Simulation& simulation, const SplitPlan& plan, RecordWriter* writer) {
  writer->Begin("region", {"region", "start", "end", "keys", "share"});
  for (size_t i = 0; i < plan.regions(); ++i) {
    const uint64_t keys = simulation.totals()[i];
    const double share = static_cast<double>(keys) / static_cast<double>(simulation.keys());
    writer->Add({i + 1, i == 0 ? Value() : Value(plan.keys[i - 1]),
                 i == plan.keys.size() ? Value() : Value(plan.keys[i]), keys, Rounded(share)});
  }
  writer->End();
}

void WriteReport(const Simulation& simulation, const SplitPlan& plan,
                 const SimulateOptions& options, const Context& context) {
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  // csv, tsv and raw hold one kind of records.
  const bool several =
      options.output == OutputMode::kTable || options.output == OutputMode::kJsonLines;
  if (several || !options.regions) WriteWindows(simulation, options, writer.get());
  if (options.regions) WriteRegions(simulation, plan, writer.get());
  if (several) WriteTotal(simulation, writer.get());
}

}  // namespace

Result<ExitCode> RunVerb(const SimulateOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const uint64_t window_keys, WindowKeys(options));
  ASSIGN_OR_RETURN(const SplitPlan plan,
                   PlanFor(options.splits, options.sample, options.source, context));
  ASSIGN_OR_RETURN(const auto source, OpenKeys(options.source, context));
  Simulation simulation(plan.keys, window_keys);
  RETURN_IF_ERROR(ForEachKey(
      options.source, context, source.get(), [&](const row_keys::WeightedKey& key) -> Status {
        if (simulation.windows().size() == row_keys::kWindowsMax) {
          return BadWindow(options.window,
                           Format("a longer one, {} windows are the most", row_keys::kWindowsMax));
        }
        simulation.Add(key.key);
        return {};
      }));
  simulation.Finish();
  WriteReport(simulation, plan, options, context);
  return ExitCode::kDone;
}

}  // namespace tandem::tools

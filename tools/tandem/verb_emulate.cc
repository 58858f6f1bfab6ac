// emulate: what a design of row keys and rows does to the files of a table, before there is one.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/default_environment.h"
#include "tools/emulator/hbase_site.h"
#include "tools/emulator/history.h"
#include "tools/emulator/html_report.h"
#include "tools/emulator/measure.h"
#include "tools/emulator/row_shape.h"
#include "tools/emulator/store.h"
#include "tools/row_keys/generator.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/emulate_output.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/input.h"
#include "tools/tandem/key_arguments.h"
#include "tools/tandem/output_file.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

using emulator::Outcome;
using emulator::RowCosts;
using emulator::RowShape;

constexpr uint64_t kKeysMax = 32'000'000;  // Of a generator; more rows have keys that weigh more.
constexpr size_t kMoments = 20;
constexpr double kRowsBetween = 1000;  // Where nobody knows how many there will be.
constexpr uint64_t kMemoryMin = 8 << 20, kRegionMin = 1 << 20, kMemstoreMin = 1024;
constexpr size_t kSiteBytesMax = 64 << 20;

Result<uint64_t> SizeOf(const char* option, const std::string& text, uint64_t least) {
  ASSIGN_OR_RETURN(const uint64_t bytes, ParseSize(text));
  if (bytes >= least) return bytes;
  return Status::InvalidArgument(
      Format("{}: expected {} bytes or more, found '{}'", option, least, EscapeBytes(text)));
}

/// Options that need or exclude others.
Status CheckTogether(const EmulateOptions& options) {
  const auto check = [](bool is_right, const char* what) {
    return is_right ? Status() : Status::InvalidArgument(what);
  };
  RETURN_IF_ERROR(check(options.beside_splits.empty() || !options.beside.empty(),
                        "--beside-splits needs --beside, a generator"));
  RETURN_IF_ERROR(check(options.like.empty() == options.like_table.empty(),
                        "--like and --like-table need each other"));
  const bool has_shape = !options.columns.empty() || !options.indexes.empty();
  RETURN_IF_ERROR(check(options.like.empty() || !has_shape,
                        "--like has columns and indexes: give no --column and no --index"));
  const bool has_sizes = !options.memstore.empty() || !options.region_bytes_max.empty();
  return check(options.hbase_site.empty() || !has_sizes,
               "--hbase-site has sizes: give no --memstore and no --region-bytes-max");
}

struct Sizes {
  engine::Tuning tuning;
  std::optional<emulator::HBaseSite> site = {};
};

Result<Sizes> SizesOf(const EmulateOptions& options) {
  Options database;
  if (!options.memory.empty()) {
    ASSIGN_OR_RETURN(database.memory_bytes, SizeOf("--memory", options.memory, kMemoryMin));
  }
  if (!options.region_bytes_max.empty()) {
    ASSIGN_OR_RETURN(database.region_bytes_max, ParseSize(options.region_bytes_max));
    if (database.region_bytes_max != 0) {
      RETURN_IF_ERROR(SizeOf("--region-bytes-max", options.region_bytes_max, kRegionMin).status());
    }
  }
  Sizes sizes{.tuning = engine::TuningFor(database)};
  if (!options.memstore.empty()) {
    ASSIGN_OR_RETURN(sizes.tuning.memstore_bytes,
                     SizeOf("--memstore", options.memstore, kMemstoreMin));
  }
  if (options.hbase_site.empty()) return sizes;
  ASSIGN_OR_RETURN(const std::string xml, ReadWholeFile(options.hbase_site, kSiteBytesMax));
  auto site = emulator::ParseHBaseSite(xml);
  if (!site.has_value()) {
    return Status(site.error().code(),
                  Format("{}: {}", options.hbase_site, site.error().message()));
  }
  emulator::Apply(*site, &sizes.tuning);
  sizes.site = *std::move(site);
  return sizes;
}

Result<RowShape> ShapeOf(const EmulateOptions& options, const Context& context) {
  if (!options.like.empty()) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                     OpenForReading(options.like, context));
    ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, options.like_table));
    return RowShape::OfTable(&*database, table, context.interrupted);
  }
  std::vector<emulator::ColumnShape> columns;
  for (const std::string& text : options.columns) {
    ASSIGN_OR_RETURN(columns.emplace_back(), emulator::ParseColumnShape(text));
  }
  if (columns.empty()) columns.push_back({.qualifier = "value", .bytes = 100});
  std::vector<IndexOptions> indexes;
  for (const std::string& text : options.indexes) {
    ASSIGN_OR_RETURN(indexes.emplace_back(), ParseIndex(text));
  }
  return RowShape::OfColumns(std::move(columns), std::move(indexes));
}

/// Of a generator as many keys as there are rows, or one of each `weight`.
struct Design {
  KeySourceArguments source;
  std::string splits, sample = {}, name = {};
  uint64_t weight = 1;
};

Result<Design> DesignOf(const KeySourceArguments& source, const std::string& splits,
                        const EmulateOptions& options) {
  Design design{.source = source, .splits = splits};
  for (const std::string* name : {&source.file, &source.command, &source.from_table}) {
    if (!name->empty()) design.name = *name;
  }
  const uint64_t keys = KeysKnown(source);
  design.weight = std::max<uint64_t>(1, options.weight);
  if (keys == 0) return design;
  design.name = source.generator;
  const bool repeats = source.generator.starts_with("zipf");
  if (repeats && options.weight > 1) {
    return Status::InvalidArgument(
        Format("--weight: keys of '{}' come again, each has to be seen; expected 1, found {}",
               EscapeBytes(source.generator), options.weight));
  }
  if (options.weight == 0 && !repeats) design.weight = (keys + kKeysMax - 1) / kKeysMax;
  design.source.keys = std::max<uint64_t>(1, keys / design.weight);
  return design;
}

/// What rows cost under the keys of the design; those that were read of a source that can be read
/// only once are in `read`.
Result<RowCosts> CostsOf(const Design& design, const RowShape& shape, row_keys::KeySource* source,
                         const Context& context, std::vector<std::string>* read) {
  std::unique_ptr<row_keys::KeySource> again;
  KeySourceArguments sample = design.source;
  if (!sample.generator.empty()) {
    // Neighbours, also where one of many is seen afterwards.
    sample.keys = std::min<uint64_t>(KeysKnown(sample), emulator::kMeasuredKeys);
    ASSIGN_OR_RETURN(again, OpenKeys(sample, context));
  }
  row_keys::WeightedKey key;
  while (read->size() < emulator::kMeasuredKeys) {
    if (design.source.keys != 0 && read->size() == design.source.keys) break;
    ASSIGN_OR_RETURN(const bool more, (again != nullptr ? &*again : source)->Next(&key));
    if (!more) break;
    read->emplace_back(key.key);
  }
  if (read->empty()) return Status::InvalidArgument("there is no key");
  ASSIGN_OR_RETURN(const RowCosts costs, emulator::MeasureCosts(shape, *read));
  if (again != nullptr) read->clear();
  return costs;
}

Result<Outcome> Emulate(const Design& design, const RowShape& shape, const Sizes& sizes,
                        const EmulateOptions& options, const Context& context) {
  SplitPlan plan;
  if (!design.splits.empty()) {
    ASSIGN_OR_RETURN(plan, PlanFor(design.splits, design.sample, design.source, context));
  }
  const bool is_generated = !design.source.generator.empty();
  ASSIGN_OR_RETURN(const auto source,
                   OpenKeys(design.source, context, is_generated ? design.weight : 1));
  Outcome outcome{.design = design.name, .hits = static_cast<double>(options.hits)};
  std::vector<std::string> read;
  ASSIGN_OR_RETURN(outcome.costs, CostsOf(design, shape, &*source, context, &read));

  emulator::Store store(sizes.tuning, outcome.costs, plan.keys);
  const auto weight = static_cast<double>(design.weight);
  const auto known = static_cast<double>(KeysKnown(design.source)) * weight;
  emulator::History history(known > 0 ? known / kMoments : kRowsBetween * weight, kMoments);
  double puts = 0;
  const auto put = [&](std::string_view key) {
    store.Put(key, weight);
    history.Look(store, puts += weight);
  };
  for (const std::string& key : read) put(key);
  KeySourceArguments rest = design.source;
  const bool goes_on = rest.keys == 0 || rest.keys > read.size();
  if (rest.keys != 0) rest.keys -= std::min<uint64_t>(rest.keys, read.size());
  if (goes_on) {
    const Status status =
        ForEachKey(rest, context, &*source, [&](const row_keys::WeightedKey& key) {
          put(key.key);
          return Status();
        });
    // The source may have ended with the keys that were measured.
    if (!status.ok() && (read.empty() || status.code() == StatusCode::kCancelled)) return status;
  }
  store.Flush();
  history.Finish(store);
  outcome.states = history.states();
  outcome.files_with_hits = store.FilesWithHits(outcome.hits);
  return outcome;
}

}  // namespace

Result<ExitCode> RunVerb(const EmulateOptions& options, const Context& context) {
  RETURN_IF_ERROR(CheckTogether(options));
  ASSIGN_OR_RETURN(const Sizes sizes, SizesOf(options));
  ASSIGN_OR_RETURN(const RowShape shape, ShapeOf(options, context));
  std::vector<Design> designs;
  ASSIGN_OR_RETURN(designs.emplace_back(), DesignOf(options.source, options.splits, options));
  designs.front().sample = options.sample;
  if (!options.beside.empty()) {
    KeySourceArguments other;
    other.generator = options.beside;
    other.keys = options.source.keys;
    other.seed = options.source.seed;
    other.rate = options.source.rate;
    ASSIGN_OR_RETURN(designs.emplace_back(), DesignOf(other, options.beside_splits, options));
  }
  // What is wrong with the second, or with the page, is said before the first has taken its time.
  for (const Design& design : designs) RETURN_IF_ERROR(OpenKeys(design.source, context).status());
  std::optional<OutputFile> page;
  if (!options.html.empty()) {
    ASSIGN_OR_RETURN(page, OutputFile::Open(options.html, context));
  }
  std::vector<Outcome> outcomes;
  for (const Design& design : designs) {
    ASSIGN_OR_RETURN(outcomes.emplace_back(), Emulate(design, shape, sizes, options, context));
  }
  WriteEmulation(outcomes, sizes.site, sizes.tuning, options.output, context.out);
  if (!page.has_value()) return ExitCode::kDone;
  WriteBytes(page->stream(), emulator::HtmlReport(outcomes));
  RETURN_IF_ERROR(page->Close());
  return ExitCode::kDone;
}

}  // namespace tandem::tools

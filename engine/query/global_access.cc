// See global_access.h.
#include "engine/query/global_access.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/access_paths.h"
#include "engine/query/plan.h"
#include "engine/query/scan.h"
#include "engine/read/row_source.h"
#include "index/key.h"

namespace tandem::engine {
namespace {

Status CannotServe(const format::IndexRecord& index, const GlobalRows* global) {
  std::string why = "it is global: it is asked for alone, by use_index";
  for (const GlobalRows::Unused& unused :
       global == nullptr ? std::vector<GlobalRows::Unused>() : global->unused) {
    if (unused.index == index.name) why = unused.why;
  }
  return Status::InvalidArgument("index '" + index.name + "' cannot serve the predicate: " + why);
}

}  // namespace

std::optional<KeyRanges> EntryRanges(const format::IndexRecord& index,
                                     const BoundPredicate& predicate) {
  const BoundLeaf* const first = AccessPathFinder::LeafServed(predicate.root(), index);
  if (first == nullptr || first->accepts_null || !first->has_ranges()) return std::nullopt;
  return OrderedUnder(predicate, index);
}

std::string WhyNoEntryRanges(const format::IndexRecord& index) {
  return "no condition on " + format::Described(index.columns.front()) +
         " as its type that every match satisfies and an absent value does not";
}

Result<std::string_view> RowOfEntry(const format::IndexRecord& index, std::string_view key) {
  for (const format::IndexColumnRecord& column : index.columns) {
    RETURN_IF_ERROR(format::DecodeIndexKey(column, &key).status());
  }
  return key;
}

Result<std::optional<std::vector<std::string>>> RowsOfEntries(
    const ReadResources& resources, const ReadOptions& options, TableView entries,
    const format::IndexRecord& index, const KeyRanges& ranges, size_t most) {
  std::vector<std::string> rows;
  if (ranges.empty()) return std::optional(std::move(rows));
  ReadOptions read;
  read.cancelled = options.cancelled;
  const ScanOptions scan;
  // The budget's rows, blocks and bytes are those of the table; its memory holds these keys too.
  const ReadLimits limits = ReadLimits::Of(options, resources.clock);
  const ScanRequest request{resources, read, scan, ReadLimits{limits.cancellation, nullptr}};
  uint64_t bytes = 0, key_bytes = 0;
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source,
                   ScanView(request, ranges, std::move(entries), &bytes));
  RowReader reader(std::move(source));
  RowView entry;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, reader.Next(&entry));
    if (!is_row) break;
    if (rows.size() == most) return std::optional<std::vector<std::string>>();
    ASSIGN_OR_RETURN(const std::string_view row, RowOfEntry(index, entry.key()));
    rows.emplace_back(row);
    key_bytes += sizeof(std::string) + row.size();
    if (limits.meter != nullptr) RETURN_IF_ERROR(limits.meter->CheckMemory(key_bytes));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return std::optional(std::move(rows));
}

Result<QueryOptions> WithoutGlobal(const format::TableRecord& table, const QueryRequest& request,
                                   QueryOptions options) {
  for (const std::string& name : options.use_indexes) {
    const format::GlobalIndexRecord* const global = table.FindGlobal(name);
    if (global != nullptr) return CannotServe(global->index, nullptr);
  }
  const format::GlobalIndexRecord* const global = table.FindGlobal(options.use_index);
  if (global == nullptr) return options;
  const bool is_used = request.global != nullptr && request.global->index == options.use_index;
  // What else is wrong with the options is said by the planner.
  const bool is_wrong = options.no_index || !options.use_indexes.empty();
  if (!is_used && !is_wrong) return CannotServe(global->index, request.global.get());
  if (!is_wrong) options.use_index.clear();
  return options;
}

void ExplainGlobal(const GlobalRows& global, Explanation* explanation) {
  if (!global.index.empty()) {
    const std::string found =
        "global index " + global.index + ": " + std::to_string(global.rows.size()) + " rows";
    // Nothing else led to the rows: they are looked up, or all from the first to the last are read.
    const bool is_alone = explanation->index == "_row" || explanation->index.empty();
    explanation->reason = explanation->index == "_row" ? found : explanation->reason + "; " + found;
    if (is_alone) explanation->index = global.index;
  }
  for (const GlobalRows::Unused& unused : global.unused) {
    explanation->rejected.push_back("index " + unused.index + ": " + unused.why);
  }
}

}  // namespace tandem::engine

// The figures of an explanation: what the run has counted, and what a scan would read.
#include "engine/query/explain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "engine/counting/entry_counts.h"

namespace tandem::engine {
namespace {

// Whether the file has a section of every index of the access.
Result<bool> HasSections(const FileSource& source, const AccessPath& access) {
  for (const IndexPath& path : access.paths) {
    ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source, *path.index));
    if (section == nullptr) return false;
  }
  return true;
}

bool HasIndexes(const Memstore& memstore, const Cluster& cluster, const AccessPath& access) {
  return std::all_of(access.paths.begin(), access.paths.end(), [&](const IndexPath& path) {
    return UsableIn(memstore, cluster, *path.index).has_value();
  });
}

uint64_t RowsWithoutEntry(const FileSource& source, const AccessPath& access) {
  uint64_t rows = 0;
  for (const IndexPath* path : access.AllPaths()) {
    rows += format::RowsWithoutEntry(source.file->sections(), path->index->id);
  }
  return rows;
}

Status AddSources(const QueryPlan& plan, Explanation* explanation) {
  std::set<const format::StoreFile*> counted;  // Several regions may share a file.
  for (const Cluster& cluster : plan.clusters) {
    for (const auto& memstore : cluster.memstores) {
      explanation->memstores_scanned +=
          !plan.access.has_value() || !HasIndexes(*memstore, cluster, *plan.access);
    }
    for (const FileSource& source : cluster.files) {
      if (!plan.access.has_value()) {
        ++explanation->files_scanned;
        continue;
      }
      ASSIGN_OR_RETURN(const bool has_sections, HasSections(source, *plan.access));
      explanation->files_scanned += !has_sections;
      if (!counted.insert(source.file).second) continue;
      explanation->rows_without_entry += RowsWithoutEntry(source, *plan.access);
    }
  }
  return {};
}

// Counts the data blocks of a table. A block that two regions share counts once.
class Totals {
 public:
  explicit Totals(Explanation* explanation) : explanation_(explanation) {}

  /// Counts what a scan reads of the slice.
  Status Add(const FileSlice& slice, const ReadSchema& schema) {
    if (slice.low >= slice.high) return {};
    format::StoreFile& file = slice.file->store();
    bool has_every_row = false;
    for (const ColumnSet::Family& family : schema.merged.families()) {
      ASSIGN_OR_RETURN(const format::DataSection* data, file.Family(family.id));
      if (data == nullptr) continue;
      has_every_row |= data->is_full();
      RETURN_IF_ERROR(AddBlocks(*data, slice));
    }
    if (has_every_row || !schema.every_row) return {};
    ASSIGN_OR_RETURN(const format::DataSection* carrier, file.Carrier());
    return AddBlocks(*carrier, slice);
  }

 private:
  Status AddBlocks(const format::DataSection& data, const FileSlice& slice) {
    const uint32_t low = data.RankOf(slice.low), high = data.RankOf(slice.high);
    if (low == high) return {};
    ASSIGN_OR_RETURN(const uint32_t first, data.BlockOf(low));
    ASSIGN_OR_RETURN(const uint32_t last, data.BlockOf(high - 1, first));
    RETURN_IF_ERROR(Count(data, first, last + 1));
    // Only a block at the edge of a slice can be in another one too.
    if (!shared_.emplace(&data, first).second) RETURN_IF_ERROR(Count(data, first, first + 1, -1));
    if (last > first && !shared_.emplace(&data, last).second) {
      RETURN_IF_ERROR(Count(data, last, last + 1, -1));
    }
    return {};
  }

  // Counts the blocks [first, end), or subtracts them again.
  Status Count(const format::DataSection& data, uint32_t first, uint32_t end, int64_t sign = 1) {
    ASSIGN_OR_RETURN(const uint64_t bytes, data.BytesOfBlocks(first, end));
    explanation_->total_blocks += sign * (end - first);
    explanation_->total_bytes += sign * bytes;
    return {};
  }

  Explanation* explanation_;
  std::set<std::pair<const format::DataSection*, uint32_t>> shared_;
};

Status AddTotals(const ReadContext& context, Explanation* explanation) {
  Totals totals(explanation);
  for (const std::shared_ptr<const RegionVersion>& region : context.view.regions) {
    for (const FileSlice& slice : region->files) RETURN_IF_ERROR(totals.Add(slice, context.schema));
  }
  return {};
}

// Whether Count would have them, without building any.
Result<bool> HasLiveCounts(const Query& query) {
  const std::optional<AccessPath>& access = query.plan.access;
  if (!access.has_value() || access->paths.size() != 1 || access->is_intersection()) return false;
  const format::IndexRecord& index = *access->paths[0].index;
  if (!MayCountEntries(index)) return false;
  for (const Cluster& cluster : query.plan.clusters) {
    std::string_view why;
    ASSIGN_OR_RETURN(const std::optional<EntryCounts> counts,
                     EntryCounts::Make(query.context.get(), cluster, index, /*worth=*/0, &why));
    if (!counts.has_value()) return false;
  }
  return true;
}

}  // namespace

Result<Explanation> ExplainMatches(const Query& query) {
  const QueryPlan& plan = query.plan;
  Explanation explanation = ExplainPlan(query);
  RETURN_IF_ERROR(AddTotals(*query.context, &explanation));

  RowReader rows(OpenQuery(query));
  RowView row;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, rows.Next(&row));
    if (!is_row) break;
    if (!row.continues()) ++explanation.rows;
  }
  RETURN_IF_ERROR(AddSources(plan, &explanation));  // The run may have found a section broken.
  ASSIGN_OR_RETURN(explanation.has_live_counts, HasLiveCounts(query));
  const ReadCounters& counters = query.context->counters;
  explanation.rows_from_index = counters.from_index;
  explanation.candidate_rows = counters.rows;
  explanation.candidate_blocks = counters.blocks;
  explanation.candidate_bytes = counters.bytes;
  explanation.single_source_by_bitmap = counters.single_source_by_bitmap;
  explanation.single_source_by_filter = counters.single_source_by_filter;
  explanation.single_source_by_key = counters.single_source_by_key;
  explanation.merged_rows = counters.merged;
  explanation.skipped_by_reading = counters.passed_over;
  if (counters.passed_over == 0) explanation.read_to_skip.clear();
  return explanation;
}

}  // namespace tandem::engine

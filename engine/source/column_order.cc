// Comparing the bounds of timestamps that sources keep.
#include "engine/source/column_order.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace tandem::engine {
namespace {

struct TimeBounds {
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = std::numeric_limits<int64_t>::min();
};

struct Times {
  format::SequenceNumber min_sequence;
  TimeBounds puts;
  std::optional<size_t> file = std::nullopt;  // In Cluster::files.
};

bool IsIndexed(const format::TableRecord& table, const format::ColumnTimes& times) {
  return std::any_of(
      table.indexes.begin(), table.indexes.end(), [&](const format::IndexRecord& index) {
        return index.is_of_several() &&
               index.AnyColumn([&](const format::IndexColumnRecord& column) {
                 return column.family == times.family && column.qualifier == times.qualifier;
               });
      });
}

// A file that is older than an index has no bounds of its columns; its own are at least as wide.
bool KnowsIndexes(const format::StoreFile& file, const format::TableRecord& table) {
  return std::all_of(table.indexes.begin(), table.indexes.end(),
                     [&](const format::IndexRecord& index) {
                       return !index.is_of_several() || file.table().FindIndex(index.id) != nullptr;
                     });
}

TimeBounds TimesOf(const format::StoreFile& file, const format::TableRecord& table) {
  const format::FileStatistics& statistics = file.statistics();
  if (!KnowsIndexes(file, table)) return {statistics.min_timestamp, statistics.max_timestamp};
  TimeBounds bounds;
  for (const format::ColumnTimes& times : statistics.column_times) {
    if (!IsIndexed(table, times)) continue;
    bounds.min = std::min(bounds.min, times.min_timestamp);
    bounds.max = std::max(bounds.max, times.max_timestamp);
  }
  return bounds;
}

// Whether both are files that are known to share no row.
bool ShareNothing(const Cluster& cluster, const Times& a, const Times& b) {
  if (!a.file.has_value() || !b.file.has_value()) return false;
  const std::vector<FileOverlap>& overlaps = cluster.files[*a.file].file_overlaps;
  const auto found =
      std::find_if(overlaps.begin(), overlaps.end(),
                   [&](const FileOverlap& file_overlap) { return file_overlap.other == *b.file; });
  return found == overlaps.end() || (found->is_known() && found->here == nullptr);
}

}  // namespace

bool MayVanish(const format::FamilyRecord& family) {
  return family.may_expire() || !family.former_limits.empty();
}

bool AreColumnsInOrder(const format::TableRecord& table, const Cluster& cluster) {
  std::vector<Times> sources;
  for (size_t i = 0; i < cluster.files.size(); ++i) {
    const FileSource& source = cluster.files[i];
    if (!source.visible) return false;
    sources.push_back(
        {source.file->statistics().min_sequence, TimesOf(*source.file, table), std::optional(i)});
  }
  for (const auto& memstore : cluster.memstores) {
    const PutTimes times = memstore->composite_times();
    if (!times.rise) return false;
    sources.push_back({memstore->min_sequence(), {times.min, times.max}});
  }
  std::stable_sort(sources.begin(), sources.end(),
                   [](const Times& a, const Times& b) { return a.min_sequence < b.min_sequence; });
  int64_t newest = std::numeric_limits<int64_t>::min();  // Of the older sources.
  for (auto source = sources.begin(); source != sources.end(); ++source) {
    if (newest > source->puts.min && !std::all_of(sources.begin(), source, [&](const Times& older) {
          return older.puts.max <= source->puts.min || ShareNothing(cluster, older, *source);
        })) {
      return false;
    }
    newest = std::max(newest, source->puts.max);
  }
  return true;
}

void FindColumnOrder(const TableView& view, std::vector<Cluster>* clusters) {
  const format::TableRecord& table = *view.table;
  const bool has_composite =
      std::any_of(table.indexes.begin(), table.indexes.end(),
                  [](const format::IndexRecord& index) { return index.is_of_several(); });
  if (!has_composite || view.point.is_bounded()) return;
  for (Cluster& cluster : *clusters) {
    cluster.in_order = AreColumnsInOrder(table, cluster);
    for (FileSource& source : cluster.files) source.in_order = cluster.in_order;
  }
}

}  // namespace tandem::engine

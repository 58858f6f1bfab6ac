// Counting rows, cells, bounds and clean bits.
#include "format/statistics_collector.h"

#include <algorithm>
#include <tuple>

#include "format/index_entries.h"

namespace tandem::format {

void StatisticsCollector::Times::Add(int64_t timestamp) {
  bounds.min_timestamp = any ? std::min(bounds.min_timestamp, timestamp) : timestamp;
  bounds.max_timestamp = any ? std::max(bounds.max_timestamp, timestamp) : timestamp;
  any = true;
}

StatisticsCollector::StatisticsCollector(const TableRecord& table) {
  statistics_.min_sequence = kSequenceMax;
  statistics_.min_timestamp = INT64_MAX;
  statistics_.max_timestamp = INT64_MIN;
  for (const FamilyRecord& family : table.families) families_.push_back({{family.id, ""}});
  for (const IndexRecord& index : table.indexes) {
    for (const IndexColumnRecord& column : index.columns) {
      columns_.push_back({{column.family, column.qualifier}});
    }
  }
  const auto place = [](const Times& times) {
    return std::tie(times.bounds.family, times.bounds.qualifier);
  };
  const auto less = [&](const Times& a, const Times& b) { return place(a) < place(b); };
  const auto equal = [&](const Times& a, const Times& b) { return place(a) == place(b); };
  std::sort(families_.begin(), families_.end(), less);
  std::sort(columns_.begin(), columns_.end(), less);
  columns_.erase(std::unique(columns_.begin(), columns_.end(), equal), columns_.end());
}

void StatisticsCollector::AddRow(std::string_view key, std::span<const Cell> cells) {
  if (statistics_.rows == 0) statistics_.min_key = key;
  statistics_.max_key = key;
  ++statistics_.rows;
  const bool clean = IsCleanRow(cells);
  clean_.push_back(clean);
  if (clean) ++statistics_.clean_rows;
  statistics_.cells += cells.size();
  statistics_.raw_bytes += key.size();
  for (const Cell& cell : cells) {
    statistics_.raw_bytes += cell.qualifier.size() + cell.value.size();
    if (cell.kind != CellKind::kPut) ++statistics_.deletes;
    statistics_.min_timestamp = std::min(statistics_.min_timestamp, cell.timestamp);
    statistics_.max_timestamp = std::max(statistics_.max_timestamp, cell.timestamp);
    // 0 is no place in the order of commits: a merge forgot it, and says what bounds hold.
    if (cell.sequence.value != 0) WidenSequences(cell.sequence, cell.sequence);
  }
  AddColumnTimes(cells);
}

// Columns and cells rise alike, so one walk over both finds the cells of the columns.
void StatisticsCollector::AddColumnTimes(std::span<const Cell> cells) {
  auto column = columns_.begin();
  auto family = families_.begin();
  for (const Cell& cell : cells) {
    if (cell.kind != CellKind::kPut) continue;
    while (family != families_.end() && family->bounds.family < cell.family) ++family;
    if (family != families_.end() && family->bounds.family == cell.family) {
      family->Add(cell.timestamp);
    }
    const auto place = std::tuple(cell.family, cell.qualifier);
    const auto place_of = [](const Times& times) {
      return std::tuple(times.bounds.family, std::string_view(times.bounds.qualifier));
    };
    while (column != columns_.end() && place_of(*column) < place) ++column;
    if (column != columns_.end() && place_of(*column) == place) column->Add(cell.timestamp);
  }
}

void StatisticsCollector::WidenSequences(SequenceNumber min, SequenceNumber max) {
  statistics_.min_sequence = std::min(statistics_.min_sequence, min);
  statistics_.max_sequence = std::max(statistics_.max_sequence, max);
}

FileStatistics StatisticsCollector::Statistics() const {
  FileStatistics statistics = statistics_;
  statistics.column_times = Seen(columns_);
  statistics.family_times = Seen(families_);
  return statistics;
}

std::vector<ColumnTimes> StatisticsCollector::Seen(const std::vector<Times>& times) {
  std::vector<ColumnTimes> seen;
  for (const Times& entry : times) {
    if (entry.any) seen.push_back(entry.bounds);
  }
  return seen;
}

Bitmap StatisticsCollector::CleanRows() const {
  Bitmap bitmap(statistics_.rows);
  for (uint32_t row = 0; row < statistics_.rows; ++row) {
    if (clean_[row]) bitmap.Set(row);
  }
  return bitmap;
}

}  // namespace tandem::format

// Counting rows, cells, bounds and clean bits.
#include "store_file/statistics_collector.h"

#include <algorithm>
#include <tuple>

#include "format/cell/overflow_value.h"
#include "index/entries.h"

namespace tandem::format {
namespace {

uint64_t BytesOfValue(const Cell& cell) {
  if (!cell.is_overflow()) return cell.value.size();
  // A malformed reference is reported when the value is copied.
  const Result<uint64_t> bytes = ValueBytes(cell);
  return bytes.has_value() ? *bytes : 0;
}

}  // namespace

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
    index.ForEachColumn([this](const IndexColumnRecord& column) {
      if (column.is_of_row_key() || column.is_of_family()) return;
      columns_.push_back({{column.family, column.qualifier}});
    });
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
  BeginRow(key);
  row_is_clean_ = IsCleanRow(cells);
  CountCells(cells);
  EndRow();
}

void StatisticsCollector::BeginRow(std::string_view key) {
  if (statistics_.rows == 0) statistics_.min_key = key;
  statistics_.max_key = key;
  ++statistics_.rows;
  statistics_.raw_bytes += key.size();
  row_is_clean_ = true;
  cells_before_ = statistics_.cells;
  has_last_ = false;
  column_ = family_ = 0;
}

// The last Put is kept by value, because the bytes of the piece that it came in do not last.
void StatisticsCollector::AddCells(std::span<const Cell> cells) {
  if (cells.empty()) return;
  const Cell& first = cells.front();
  if (!IsCleanRow(cells) ||
      (has_last_ && first.family == last_family_ && first.qualifier == last_qualifier_)) {
    row_is_clean_ = false;
  }
  if (cells.back().kind == CellKind::kPut) {
    has_last_ = true;
    last_family_ = cells.back().family;
    last_qualifier_ = cells.back().qualifier;
  }
  CountCells(cells);
}

void StatisticsCollector::EndRow() {
  const bool clean = row_is_clean_ && statistics_.cells > cells_before_;
  clean_.push_back(clean);
  if (clean) ++statistics_.clean_rows;
}

void StatisticsCollector::CountCells(std::span<const Cell> cells) {
  statistics_.cells += cells.size();
  for (const Cell& cell : cells) {
    statistics_.raw_bytes += cell.qualifier.size() + BytesOfValue(cell);
    if (cell.kind != CellKind::kPut) ++statistics_.deletes;
    statistics_.min_timestamp = std::min(statistics_.min_timestamp, cell.timestamp);
    statistics_.max_timestamp = std::max(statistics_.max_timestamp, cell.timestamp);
    // 0 is not the sequence of a commit: a merge set it, and passes the bounds to WidenSequences.
    if (cell.sequence.value != 0) WidenSequences(cell.sequence, cell.sequence);
  }
  AddColumnTimes(cells);
}

// Columns and the cells of a row have the same order, so one pass over both finds each column's
// cells.
void StatisticsCollector::AddColumnTimes(std::span<const Cell> cells) {
  for (const Cell& cell : cells) {
    if (cell.kind != CellKind::kPut) continue;
    while (family_ < families_.size() && families_[family_].bounds.family < cell.family) ++family_;
    if (family_ < families_.size() && families_[family_].bounds.family == cell.family) {
      families_[family_].Add(cell.timestamp);
    }
    for (; column_ < columns_.size(); ++column_) {
      const ColumnTimes& bounds = columns_[column_].bounds;
      if (bounds.family < cell.family) continue;
      const int order =
          bounds.family == cell.family ? cell.qualifier.compare(bounds.qualifier) : -1;
      if (order == 0) columns_[column_].Add(cell.timestamp);
      if (order <= 0) break;
    }
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

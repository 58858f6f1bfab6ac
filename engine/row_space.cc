// How rows are counted: the runs of the region are merged by key and each row by column, as a merge
// of all files does, and each cell is judged by the rules that reads and merges share
// (format/cell/visibility.h).
#include "engine/row_space.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/region_runs.h"
#include "format/cell/cell_stream.h"
#include "format/cell/overflow_value.h"
#include "format/cell/visibility.h"
#include "index/put_key.h"
#include "index/section.h"
#include "store_file/scanner.h"

namespace tandem::engine {
namespace {

using format::Cell;

// A cell takes some bytes besides its name and value: its timestamp, sequence and lengths.
constexpr uint64_t kCellBytes = 8;

uint64_t SizeOf(const Cell& cell) {
  uint64_t bytes = kCellBytes + cell.qualifier.size() + cell.value.size();
  if (cell.is_overflow()) {
    const auto reference = format::DecodeOverflowReference(cell.value);
    if (reference.has_value()) bytes += reference->length;
  }
  return bytes;
}

// The largest timestamp of a family at which a Put of `sequence` has expired; nullopt: none has.
std::optional<int64_t> ExpiredThrough(const format::TableRecord& table, format::FamilyId id,
                                      int64_t now_micros, format::SequenceNumber sequence) {
  const format::FamilyRecord* family = table.FindFamily(id);
  return family == nullptr ? std::nullopt : family->ExpiredThrough(now_micros, sequence);
}

// The rows of one run of a region, file by file.
class RunRows {
 public:
  RunRows(std::span<const FileSlice> files, uint64_t window_bytes)
      : files_(files), window_bytes_(window_bytes) {}

  Status Next() {
    while (true) {
      if (rows_.has_value()) {
        RETURN_IF_ERROR(rows_->Next());
        if (rows_->valid()) return {};
        rows_.reset();
      }
      if (files_.empty()) return {};
      const FileSlice& slice = files_.front();
      rows_.emplace(&slice.file->store(), slice.low, slice.high, window_bytes_);
      files_ = files_.subspan(1);
    }
  }
  bool valid() const { return rows_.has_value(); }
  const std::string& key() const { return rows_->key(); }
  Result<std::unique_ptr<format::CellStream>> Stream() const { return rows_->Stream(); }

 private:
  std::span<const FileSlice> files_;
  const uint64_t window_bytes_;
  std::optional<format::RowStream> rows_;
};

class Measurer {
 public:
  Measurer(const format::TableRecord& table, const RegionVersion& region, const SpaceReader& reader)
      : table_(table), region_(region), reader_(reader) {
    // A snapshot may see what has expired since it was taken.
    retained_ = reader.retained.snapshots;
    retained_.push_back(format::kSequenceMax);
  }

  Result<RegionSpace> Run();

 private:
  Status OpenRuns();
  Result<bool> NextRow(std::vector<std::unique_ptr<format::CellStream>>* sources);
  Status AddRow(std::vector<std::unique_ptr<format::CellStream>> sources);
  void AddColumn(std::span<const Cell> family_deletes, std::span<const Cell> cells);
  bool HasExpired(const Cell& put) const {
    const auto expired = ExpiredThrough(table_, put.family, reader_.now_micros, put.sequence);
    return expired.has_value() && put.timestamp <= *expired;
  }
  void CountLiveEntries(const Cell& newest);
  void Mark(const format::ReadPoint& point, std::vector<bool>* seen);

  const format::TableRecord& table_;
  const RegionVersion& region_;
  const SpaceReader& reader_;
  std::vector<format::SequenceNumber> retained_;
  std::vector<RunRows> runs_;
  std::vector<size_t> at_key_;  // The runs that have the row.
  RegionSpace space_;
  uint64_t live_entries_ = 0;
  std::vector<Cell> column_, visible_;  // Of the column that is judged, markers first.
};

Status Measurer::OpenRuns() {
  const RegionRuns runs = RunsOf(region_);
  const size_t count = runs.described.size();
  for (size_t i = 0; i < count; ++i) {
    const auto files =
        std::span(region_.files).subspan(runs.firsts[i], runs.firsts[i + 1] - runs.firsts[i]);
    runs_.emplace_back(files, format::RowStream::kWindowBytes / count);
    RETURN_IF_ERROR(runs_.back().Next());
    at_key_.push_back(i);
    space_.rows += runs.described[i].rows;
  }
  at_key_.clear();
  return {};
}

// The parts of the next row; false after the last.
Result<bool> Measurer::NextRow(std::vector<std::unique_ptr<format::CellStream>>* sources) {
  for (const size_t run : at_key_) RETURN_IF_ERROR(runs_[run].Next());
  at_key_.clear();
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (!runs_[i].valid()) continue;
    const int order = at_key_.empty() ? -1 : runs_[i].key().compare(runs_[at_key_[0]].key());
    if (order > 0) continue;
    if (order < 0) at_key_.clear();
    at_key_.push_back(i);
  }
  for (const size_t run : at_key_) {
    ASSIGN_OR_RETURN(std::unique_ptr<format::CellStream> cells, runs_[run].Stream());
    sources->push_back(std::move(cells));
  }
  return !at_key_.empty();
}

Result<RegionSpace> Measurer::Run() {
  RETURN_IF_ERROR(OpenRuns());
  while (true) {
    RETURN_IF_ERROR(reader_.cancellation.Check());
    std::vector<std::unique_ptr<format::CellStream>> sources;
    ASSIGN_OR_RETURN(const bool more, NextRow(&sources));
    if (!more) break;
    RETURN_IF_ERROR(AddRow(std::move(sources)));
  }
  space_.index_entries = CountEntries(table_, region_).all;
  space_.dead_index_entries = space_.index_entries - std::min(space_.index_entries, live_entries_);
  return std::move(space_);
}

Status Measurer::AddRow(std::vector<std::unique_ptr<format::CellStream>> sources) {
  format::ColumnStream columns(std::move(sources));
  std::optional<format::FamilyId> family;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, columns.Next());
    if (!more) return {};
    if (family != columns.family()) {
      family = columns.family();
      for (const Cell& marker : columns.family_deletes()) {
        ++space_.deletes.cells;
        space_.deletes.bytes += SizeOf(marker);
      }
    }
    AddColumn(columns.family_deletes(), columns.cells());
  }
}

// Marks the cells of column_ that are visible at `point`; both lists have one order.
void Measurer::Mark(const format::ReadPoint& point, std::vector<bool>* seen) {
  visible_.clear();
  format::VisibleCells(column_, table_.families, point, &visible_);
  size_t next = 0;
  for (size_t i = 0; i < column_.size() && next < visible_.size(); ++i) {
    const Cell &cell = column_[i], &shown = visible_[next];
    if (cell.kind != shown.kind || cell.timestamp != shown.timestamp ||
        cell.sequence != shown.sequence) {
      continue;
    }
    (*seen)[i] = true;
    ++next;
  }
}

void Measurer::AddColumn(std::span<const Cell> family_deletes, std::span<const Cell> cells) {
  column_.assign(family_deletes.begin(), family_deletes.end());
  column_.insert(column_.end(), cells.begin(), cells.end());
  std::vector<bool> live(column_.size()), pinned(column_.size());
  Mark({.now_micros = reader_.now_micros}, &live);
  if (!visible_.empty()) CountLiveEntries(visible_.front());
  for (const format::SequenceNumber sequence : retained_) {
    Mark({.sequence = sequence, .now_micros = reader_.retained.now_micros}, &pinned);
  }
  for (size_t i = family_deletes.size(); i < column_.size(); ++i) {
    const Cell& cell = column_[i];
    CellSpace* part = &space_.older;
    if (cell.kind != format::CellKind::kPut) {
      part = &space_.deletes;
    } else if (live[i]) {
      part = &space_.live;
    } else if (pinned[i]) {
      part = &space_.pinned;
    } else if (HasExpired(cell)) {
      part = &space_.expired;
    }
    ++part->cells;
    part->bytes += SizeOf(cell);
  }
}

// A query of the present uses the entry of the newest visible version.
void Measurer::CountLiveEntries(const Cell& newest) {
  for (const format::IndexRecord& index : table_.indexes) {
    for (const format::IndexColumnRecord& column : index.columns) {
      live_entries_ += format::HasPutsOf(column, newest.family, newest.qualifier);
    }
  }
}

// The part of the Puts of a file that has expired, from the smallest and the largest timestamps of
// its families, as if Puts lay evenly between them and families had the same number.
double ExpiredShare(const format::TableRecord& table, const format::FileStatistics& statistics,
                    int64_t now_micros) {
  if (statistics.family_times.empty()) return 0;
  double sum = 0;
  for (const format::ColumnTimes& times : statistics.family_times) {
    const auto end = ExpiredThrough(table, times.family, now_micros, statistics.min_sequence);
    if (!end.has_value()) continue;
    if (times.max_timestamp <= *end) {
      sum += 1;
    } else if (times.min_timestamp <= *end) {
      sum += static_cast<double>(*end - times.min_timestamp) /
             static_cast<double>(times.max_timestamp - times.min_timestamp);
    }
  }
  return sum / static_cast<double>(statistics.family_times.size());
}

// Entries of `slice` in an index whose rows a newer file of the region is known to have replaced.
uint64_t DeadByNewerFiles(const RegionVersion& region, const FileSlice& slice,
                          format::IndexId index) {
  if (region.overlaps == nullptr) return 0;
  uint64_t dead = 0;
  for (const auto& [key, pair] : region.overlaps->pairs()) {
    if (key.older != slice.file->store().number()) continue;
    const RowSet* const rows = pair->Dead(index);
    if (rows != nullptr) dead += rows->count();
  }
  return dead;
}

}  // namespace

EntryCounts CountEntries(const format::TableRecord& table, const RegionVersion& region) {
  EntryCounts counts;
  for (const FileSlice& slice : region.files) {
    for (const format::IndexRecord& index : table.indexes) {
      const Result<format::IndexSection*> section = slice.file->store().Index(index.id);
      if (!section.has_value() || *section == nullptr) continue;
      const format::IndexSummary& summary = (*section)->summary();
      const uint64_t current = summary.current_entries;
      const uint64_t dead = std::min(current, DeadByNewerFiles(region, slice, index.id));
      counts.all += ShareOf(slice, current + summary.older_entries);
      counts.dead += ShareOf(slice, dead + summary.older_entries);
    }
  }
  return counts;
}

// What is left over by rounding goes to the largest.
void ShareOut(uint64_t data_bytes, RegionSpace* space) {
  const std::array parts = {&space->live, &space->older, &space->pinned, &space->expired,
                            &space->deletes};
  uint64_t sum = 0;
  for (const CellSpace* part : parts) sum += part->bytes;
  uint64_t left = data_bytes;
  for (CellSpace* part : parts) {
    const double share = sum == 0 ? 0 : static_cast<double>(part->bytes) / static_cast<double>(sum);
    part->bytes = std::min(left, static_cast<uint64_t>(share * static_cast<double>(data_bytes)));
    left -= part->bytes;
  }
  (*std::ranges::max_element(parts, {}, &CellSpace::bytes))->bytes += left;
}

RegionSpace EstimateSpace(const format::TableRecord& table, const RegionVersion& region,
                          int64_t now_micros) {
  RegionSpace space;
  for (const FileSlice& slice : region.files) {
    const format::FileStatistics& statistics = slice.file->store().statistics();
    const uint64_t cells = ShareOf(slice, statistics.cells);
    const uint64_t deletes = std::min(cells, ShareOf(slice, statistics.deletes));
    const auto expired = std::min(
        cells - deletes, static_cast<uint64_t>(ExpiredShare(table, statistics, now_micros) *
                                               static_cast<double>(cells - deletes)));
    space.rows += slice.high - slice.low;
    space.deletes.cells += deletes;
    space.expired.cells += expired;
    space.live.cells += cells - deletes - expired;
  }
  for (CellSpace* part : {&space.live, &space.expired, &space.deletes}) part->bytes = part->cells;
  const EntryCounts entries = CountEntries(table, region);
  space.index_entries = entries.all;
  space.dead_index_entries = entries.dead;
  return space;
}

Result<RegionSpace> MeasureSpace(const format::TableRecord& table, const RegionVersion& region,
                                 const SpaceReader& reader) {
  return Measurer(table, region, reader).Run();
}

}  // namespace tandem::engine

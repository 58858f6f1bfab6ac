// A row that is written again and again, and what reading it costs.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/create_table.h"
#include "engine/query/reader.h"
#include "memstore/memstore.h"
#include "memstore/row_states.h"
#include "test/support/print.h"

namespace tandem::test {

/// Versions of a family that keeps all.
inline constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();

/// Two families of that many versions, an index over the first one's column c.
inline std::shared_ptr<const format::TableRecord> HotRecord(uint32_t versions) {
  const auto random = base::NewSeededRandom(7);
  TableOptions options;
  options.name = "t";
  options.families.push_back({.name = "d", .max_versions = versions});
  options.families.push_back({.name = "e", .max_versions = versions});
  options.indexes.push_back({"by_c", {{"d", "c"}}});
  auto record = engine::MakeTableRecord(options, random.get());
  return std::make_shared<const format::TableRecord>(std::move(*record));
}

inline format::Cell NewHotCell(format::CellKind kind, format::FamilyId family,
                               std::string_view qualifier, int64_t timestamp) {
  format::Cell cell;
  cell.kind = kind;
  cell.family = family;
  cell.qualifier = qualifier;
  cell.timestamp = timestamp;
  return cell;
}

/// A table of one hot row, "r": memstores that a test fills, the last one taking the operations.
class HotTable {
 public:
  explicit HotTable(uint32_t versions) : table_(HotRecord(versions)) { Switch(); }

  void Switch() { memstores_.push_back(std::make_shared<engine::Memstore>(table_)); }
  void Put(std::string_view qualifier, int64_t timestamp) {
    format::Cell cell = NewHotCell(format::CellKind::kPut, first_family(), qualifier, timestamp);
    cell.value = "v";
    Apply(cell);
  }
  void DeleteColumn(std::string_view qualifier, int64_t timestamp) {
    Apply(NewHotCell(format::CellKind::kDeleteColumn, first_family(), qualifier, timestamp));
  }
  void DeleteRow(int64_t timestamp) {
    std::vector<format::Cell> cells;
    for (const format::FamilyRecord& family : table_->families) {
      cells.push_back(NewHotCell(format::CellKind::kDeleteFamily, family.id, "", timestamp));
    }
    Apply(cells);
  }

  struct Answer {
    std::string text;  ///< "a@5 b@7", or "-".
    uint64_t cells = 0;
  };
  Answer Get(const ReadOptions& options = {},
             format::SequenceNumber at = format::kSequenceMax) const {
    auto region = std::make_shared<engine::RegionVersion>();
    region->memstores.assign(memstores_.begin(), memstores_.end());
    const engine::RegionView view{.table = table_, .region = region, .point = {.sequence = at}};
    engine::ReadCounters counters;
    const auto row = engine::GetRow(view, options, "r", &counters);
    BOOST_REQUIRE_EQUAL(row.status().ToString(), "OK");
    Answer answer{.text = {}, .cells = counters.memstore_cells};
    if (!row->has_value()) return {"-", answer.cells};
    for (const Cell& cell : (*row)->view().cells()) {
      if (!answer.text.empty()) answer.text += ' ';
      answer.text += std::string(cell.qualifier) + "@" + std::to_string(cell.timestamp);
    }
    return answer;
  }
  /// How many cells a write looks at that depends on the column.
  uint64_t CellsOfColumn(std::string_view qualifier) const {
    auto region = std::make_shared<engine::RegionVersion>();
    region->memstores.assign(memstores_.begin(), memstores_.end());
    const engine::RegionView view{
        .table = table_, .region = region, .point = {.sequence = format::kSequenceMax}};
    const format::Cell column = NewHotCell(format::CellKind::kPut, first_family(), qualifier, 0);
    return engine::CellsOfColumn(view, "r", {.column = column, .timestamp = {}}).cells.size();
  }
  /// Of the last operation.
  format::SequenceNumber sequence() const { return format::SequenceNumber(sequence_); }
  uint64_t memstore_count() const { return memstores_.size(); }
  /// What a flush of the last memstore reads of the row, beside `snapshots`.
  uint64_t FlushedCells(std::span<const format::SequenceNumber> snapshots = {}) const {
    return engine::RowStates(memstores_.back()->Find("r"), snapshots).size();
  }

 private:
  format::FamilyId first_family() const { return table_->families[0].id; }
  void Apply(const format::Cell& cell) { Apply(std::vector<format::Cell>{cell}); }
  void Apply(std::vector<format::Cell> cells) {
    ++sequence_;
    for (format::Cell& cell : cells) cell.sequence = format::SequenceNumber(sequence_);
    memstores_.back()->Apply("r", cells);
  }

  const std::shared_ptr<const format::TableRecord> table_;
  std::vector<std::shared_ptr<engine::Memstore>> memstores_;
  uint64_t sequence_ = 100;
};

}  // namespace tandem::test

// A row that many requests of a group write would make each look at the cells of all before it. So
// its cells are thinned whenever they have doubled: among Puts alone, only those count that their
// family keeps.
#include "engine/commit/group_writes.h"

#include <algorithm>
#include <limits>

#include "format/cell/visibility.h"

namespace tandem::engine {

void GroupWrites::Add(const format::TableRecord& table, std::string_view row,
                      const std::vector<format::Cell>& cells) {
  RowCells& found = rows_[{table.id, row}];
  found.cells.insert(found.cells.end(), cells.begin(), cells.end());
  found.has_markers |= std::any_of(cells.begin(), cells.end(), [](const format::Cell& cell) {
    return cell.kind != format::CellKind::kPut;
  });
  if (found.cells.size() >= found.prune_at && !found.has_markers) Prune(table, &found);
}

void GroupWrites::Prune(const format::TableRecord& table, RowCells* row) {
  std::vector<format::Cell> kept;
  format::SortCells(row->cells);
  // Whether a cell has expired is judged when it is read.
  format::VisibleCells(row->cells, table.families,
                       {.now_micros = std::numeric_limits<int64_t>::min()}, &kept);
  row->cells = std::move(kept);
  row->prune_at = std::max(row->prune_at, row->cells.size() * 2);
}

std::optional<std::string_view> GroupWrites::FirstIn(format::TableId table,
                                                     const format::KeyRange& rows) const {
  const auto found = rows_.lower_bound({table, rows.low});
  if (found == rows_.end() || found->first.first != table) return {};
  return rows.Contains(found->first.second) ? std::optional(found->first.second) : std::nullopt;
}

bool GroupWrites::Append(format::TableId table, std::string_view row, const format::Cell& column,
                         std::vector<format::Cell>* cells) const {
  const auto found = rows_.find({table, row});
  if (found == rows_.end()) return false;
  const size_t before = cells->size();
  for (const format::Cell& cell : found->second.cells) {
    if (cell.family != column.family) continue;
    if (format::IsFamilyDelete(cell) || cell.qualifier == column.qualifier) cells->push_back(cell);
  }
  return cells->size() > before;
}

}  // namespace tandem::engine

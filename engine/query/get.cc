// Point reads: a row, and the column that a DeleteCell decides on.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/point_reader.h"
#include "engine/query/reader.h"
#include "engine/read/row_locations.h"

namespace tandem::engine {
namespace {

uint32_t VersionsKept(const format::TableRecord& table, format::FamilyId id) {
  const format::FamilyRecord* family = table.FindFamily(id);
  return family == nullptr ? UINT32_MAX : family->options.max_versions;
}

// Appends what a DeleteCell needs from the trees: every version that is kept if there may be as
// many, since it cuts below them; else the two newest and the one that it names.
void AppendFromTrees(const format::TableRecord& table, const ColumnWanted& wanted, RowTrees* trees,
                     std::vector<format::Cell>* cells) {
  constexpr uint32_t kNewest = 2;
  const format::Cell& column = wanted.column;
  trees->RemoveHidden(cells);
  const uint32_t kept = VersionsKept(table, column.family);
  const bool may_cut = cells->size() + trees->CountPuts(column) >= kept;
  const VersionsWanted versions{&table, {}, may_cut ? std::max(kept, kNewest) : kNewest};
  const ColumnSet::Family family{
      .id = column.family, .all = false, .qualifiers = {std::string(column.qualifier)}};
  for (size_t tree = 0; tree < trees->count(); ++tree) {
    TreeColumns(trees, tree, versions, &family).Next(cells);
  }
  if (may_cut || !wanted.timestamp.has_value()) return;
  const MemCell* named = trees->PutAt(column, *wanted.timestamp);
  if (named != nullptr) cells->push_back(ToCell(*named));
}

}  // namespace

Result<std::optional<Row>> GetRow(RegionView view, const ReadOptions& options, std::string_view row,
                                  ReadCounters* counters) {
  PointReader reader(counters);
  ASSIGN_OR_RETURN(const bool is_there, reader.Read(std::move(view), options, row));
  return is_there ? std::optional<Row>(reader.TakeRow()) : std::nullopt;
}

Result<ColumnCells> CellsOfColumn(const TableView& view, std::string_view row,
                                  const ColumnWanted& wanted, CellPins* pins) {
  const format::Cell& column = wanted.column;
  ASSIGN_OR_RETURN(const RowLocations locations, FindRow(view.RegionOf(row), row));
  ColumnCells read{.cells = {wanted.newer.begin(), wanted.newer.end()}, .tree_through = {}};
  std::vector<format::Cell>& cells = read.cells;
  RowTrees trees;
  uint64_t looked_at = 0;
  for (const MemRow* here : locations.memstores) {
    const RowTreeView tree = Memstore::RecentCells(here, format::kSequenceMax, &cells, &looked_at);
    if (tree.root == nullptr) continue;
    trees.Add(tree);
    read.tree_through = std::max(read.tree_through, tree.last);
  }
  std::erase_if(cells, [&](const format::Cell& cell) {
    return cell.family != column.family ||
           (cell.kind != format::CellKind::kDeleteFamily && cell.qualifier != column.qualifier);
  });
  ColumnSet columns;
  columns.Add(column.family, column.qualifier);
  BlockMemo blocks;
  ASSIGN_OR_RETURN(const std::vector<RowPart> parts, FindParts(locations, columns, &blocks));
  for (const RowPart& part : parts) RETURN_IF_ERROR(AppendCells(part, &cells, pins));
  for (const auto& region : view.regions) pins->push_back(region);  // Memstores and names.
  if (!trees.empty()) AppendFromTrees(*view.table, wanted, &trees, &cells);
  format::SortCells(cells);
  return read;
}

}  // namespace tandem::engine

// Point reads: a row, and a column that a write depends on.
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

// Appends what a write needs from the trees: every version that is kept if there may be as
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

ColumnCells CellsOfColumn(const RegionView& view, std::string_view row,
                          const ColumnWanted& wanted) {
  const format::Cell& column = wanted.column;
  ColumnCells read;
  std::vector<format::Cell>& cells = read.cells;
  std::vector<const MemRow*> rows;
  RowFinder(view, row).AddMemstores(&rows);
  RowTrees trees(*view.table);
  uint64_t looked_at = 0;
  for (const MemRow* here : rows) {
    const RowTreeView tree = Memstore::RecentCells(here, view.point.sequence, &cells, &looked_at);
    if (tree.root == nullptr) continue;
    trees.Add(tree);
    read.tree_through = std::max(read.tree_through, tree.last);
  }
  std::erase_if(cells, [&](const format::Cell& cell) {
    return cell.family != column.family ||
           (cell.kind != format::CellKind::kDeleteFamily && cell.qualifier != column.qualifier);
  });
  cells.insert(cells.end(), wanted.others.begin(), wanted.others.end());
  if (!trees.empty()) AppendFromTrees(*view.table, wanted, &trees, &cells);
  format::SortCells(cells);
  return read;
}

Status AppendFileCells(const RegionView& view, std::string_view row, const format::Cell& column,
                       std::vector<format::Cell>* cells, CellPins* pins) {
  RowFinder finder(view, row);
  RowLocations locations;
  while (true) {
    ASSIGN_OR_RETURN(std::optional<RowLocations::InFile> found, finder.NextFile());
    if (!found.has_value()) break;
    locations.files.push_back(*std::move(found));
  }
  ColumnSet columns;
  columns.Add(column.family, column.qualifier);
  BlockMemo blocks;
  ASSIGN_OR_RETURN(const std::vector<RowPart> parts, FindParts(locations, columns, &blocks));
  for (const RowPart& part : parts) RETURN_IF_ERROR(AppendCells(part, cells, pins));
  return {};
}

}  // namespace tandem::engine

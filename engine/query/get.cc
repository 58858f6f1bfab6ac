// Reading one row: each memstore and file that may hold it is searched, by filter, then by key. A
// single-source row is returned without merging; if it is also plain and all of it is requested,
// its cells are decoded directly into the result. Only the requested families of a file are read.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/reader.h"
#include "engine/read/row_builder.h"
#include "engine/read/row_locations.h"
#include "engine/read/row_pieces.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

constexpr size_t kUsualCells = 8;

Result<bool> IsSingleSource(const format::TableRecord& table, const format::ReadPoint& point,
                            const RowLocations& locations) {
  if (locations.files.size() != 1 || !locations.memstores.empty()) return false;
  format::StoreFile* const file = locations.files[0].file;
  if (point.is_bounded() || file->statistics().max_sequence > point.sequence ||
      file->MayHaveExpired(table.families, point.now_micros)) {
    return false;
  }
  if (file->all_clean()) return true;
  ASSIGN_OR_RETURN(const format::Bitmap* clean, file->CleanRows());
  return clean->Test(locations.files[0].ordinal);
}

// A row without cells is not returned.
std::optional<Row> RowOf(const RowView& view) {
  return view.cells().empty() ? std::nullopt : std::optional<Row>(Row(view));
}

bool IsForWholeRow(const ReadOptions& options) {
  return options.columns.empty() && options.families.empty() && options.versions > 0;
}

// The cells of a single-source row, straight from its blocks; nullopt if it is not plain or so
// large that its size has to be checked.
Result<std::optional<Row>> ReadPlain(const format::TableRecord& table,
                                     const RowLocations::InFile& location, std::string_view key,
                                     BlockMemo* blocks) {
  std::vector<Cell> cells;
  cells.reserve(kUsualCells);
  CellPins pins;
  for (const format::FamilyRecord& family : table.families) {
    ASSIGN_OR_RETURN(RowPart part, FindPart(location, family.id, blocks));
    if (part.data == nullptr) continue;
    const format::Projection all(part.data->names(), &part.data->blocks());
    const bool is_plain = part.rows->AppendPlain(part.slot, all, family.options.name, &cells);
    if (!is_plain || part.rows->raw_bytes > kRowPieceBytes) return std::optional<Row>();
    pins.push_back(std::move(part.rows));
  }
  return std::optional(Row({key, cells}));
}

// Reads a row that need not fit in memory, up to the size limit of a view.
Result<std::optional<Row>> StreamRow(const ReadSchema& schema, const RowLocations& locations,
                                     std::string_view row, BlockMemo* blocks) {
  RowPieces pieces(schema);
  ASSIGN_OR_RETURN(std::unique_ptr<ReturnedCells> cells, OpenReturned(schema, locations, blocks));
  pieces.Begin(row, std::move(cells));
  ASSIGN_OR_RETURN(const RowView whole, pieces.Next());
  return RowOf(whole);
}

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

Result<std::optional<Row>> GetRow(const RegionView& view, const ReadOptions& options,
                                  std::string_view row, ReadCounters* counters) {
  ASSIGN_OR_RETURN(const RowLocations locations, FindRow(view, row));
  const format::ReadPoint point = PointOf(view.point, options);
  ASSIGN_OR_RETURN(const bool single_source, IsSingleSource(*view.table, point, locations));
  BlockMemo blocks(counters);
  if (single_source && IsForWholeRow(options)) {
    ASSIGN_OR_RETURN(std::optional<Row> plain,
                     ReadPlain(*view.table, locations.files[0], row, &blocks));
    if (plain.has_value()) return plain;
  }
  ASSIGN_OR_RETURN(const ReadSchema schema, ReadSchema::OfOneRow(view.table, point, options));
  ASSIGN_OR_RETURN(const std::vector<RowPart> parts,
                   FindParts(locations, schema.returned, &blocks));
  if (std::any_of(parts.begin(), parts.end(),
                  [](const RowPart& part) { return part.must_stream(); })) {
    return StreamRow(schema, locations, row, &blocks);
  }
  RowBuilder assembly(schema, counters);
  CellPins pins;
  for (const MemRow* here : locations.memstores) assembly.Append(here);
  for (const RowPart& part : parts) {
    RETURN_IF_ERROR(AppendCells(part, assembly.gathered(), &pins));
  }
  if (single_source) {
    assembly.KeepAll();
  } else {
    assembly.Merge();
  }
  if (assembly.is_large()) return StreamRow(schema, locations, row, &blocks);
  const RowView whole = assembly.Project(row);
  if (!assembly.has_overflow_values() && assembly.returned_bytes() <= kWholeRowBytesMax) {
    return RowOf(whole);
  }
  RowPieces pieces(schema);
  pieces.Begin(row, NewReturnedList(assembly.ReturnedCells()));
  ASSIGN_OR_RETURN(const RowView read, pieces.Next());
  return RowOf(read);
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

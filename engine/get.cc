// Reading one row: each memstore and file that may hold it is asked, by filter, then by key. A row
// that one file alone holds, settled, is returned as it stands there. Of a file only the families
// that are asked for are read.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/reader.h"
#include "engine/row_assembly.h"
#include "engine/row_pieces.h"
#include "engine/row_places.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

Result<bool> IsSettled(const ReadShape& shape, const RowPlaces& places) {
  if (places.files.size() != 1 || !places.memstores.empty()) return false;
  format::StoreFile* const file = places.files[0].file;
  if (shape.point.is_bounded() || file->statistics().max_sequence > shape.point.sequence ||
      file->MayHaveExpired(shape.table->families, shape.point.now_micros)) {
    return false;
  }
  if (file->all_clean()) return true;
  ASSIGN_OR_RETURN(const format::Bitmap* clean, file->CleanRows());
  return clean->Test(places.files[0].ordinal);
}

// A row without cells is none.
std::optional<Row> RowOf(const RowView& view) {
  return view.cells().empty() ? std::nullopt : std::optional<Row>(Row(view));
}

}  // namespace

Result<std::optional<Row>> GetRow(const TableView& view, const ReadOptions& options,
                                  std::string_view row) {
  ASSIGN_OR_RETURN(const ReadShape shape, ReadShape::OfOneRow(view, options));
  ASSIGN_OR_RETURN(const RowPlaces places, FindRow(view, row));
  BlockMemo blocks;
  ASSIGN_OR_RETURN(const std::vector<RowPart> parts, FindParts(places, shape.returned, &blocks));
  RowPieces pieces(shape);
  if (std::any_of(parts.begin(), parts.end(),
                  [](const RowPart& part) { return part.must_stream(); })) {
    ASSIGN_OR_RETURN(std::unique_ptr<ReturnedCells> cells, OpenReturned(shape, places, &blocks));
    pieces.Begin(row, std::move(cells));
    ASSIGN_OR_RETURN(const RowView whole, pieces.Next());
    return RowOf(whole);
  }
  RowAssembly assembly(shape);
  CellPins pins;
  for (const MemRow* here : places.memstores) assembly.Append(here);
  for (const RowPart& part : parts) {
    RETURN_IF_ERROR(AppendCells(part, assembly.gathered(), &pins));
  }
  ASSIGN_OR_RETURN(const bool settled, IsSettled(shape, places));
  if (settled) {
    assembly.Settle();
  } else {
    assembly.Merge();
  }
  const RowView whole = assembly.Project(row);
  if (!assembly.has_far_values() && assembly.returned_bytes() <= kWholeRowBytesMax) {
    return RowOf(whole);
  }
  pieces.Begin(row, NewReturnedList(assembly.ReturnedCells()));
  ASSIGN_OR_RETURN(const RowView read, pieces.Next());
  return RowOf(read);
}

Result<std::vector<format::Cell>> CellsOfColumn(const TableView& view, std::string_view row,
                                                const format::Cell& column, CellPins* pins) {
  ASSIGN_OR_RETURN(const RowPlaces places, FindRow(view, row));
  ColumnSet columns;
  columns.Add(column.family, column.qualifier);
  std::vector<format::Cell> cells;
  for (const MemRow* here : places.memstores) {
    Memstore::Cells(here, format::kSequenceMax, &cells);
  }
  std::erase_if(cells, [&](const format::Cell& cell) {
    return cell.family != column.family ||
           (cell.kind != format::CellKind::kDeleteFamily && cell.qualifier != column.qualifier);
  });
  BlockMemo blocks;
  ASSIGN_OR_RETURN(const std::vector<RowPart> parts, FindParts(places, columns, &blocks));
  for (const RowPart& part : parts) RETURN_IF_ERROR(AppendCells(part, &cells, pins));
  for (const auto& region : view.regions) pins->push_back(region);  // Memstores and names.
  std::sort(cells.begin(), cells.end(), format::CellLess);
  return cells;
}

}  // namespace tandem::engine

// Reading one row: each memstore and file that may hold it is asked, by filter, then by key. A row
// that one file alone holds, settled, is returned as it stands there.
#include <algorithm>
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "engine/reader.h"
#include "engine/row_assembly.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

/// Where a row was found in a file. Pins the block.
struct FoundRow {
  format::StoreFile* file = nullptr;
  uint32_t ordinal = 0;
  const format::DataSection* data = nullptr;
  format::RowBlockRef rows;
  uint32_t slot() const { return ordinal - rows->first(); }
};

const RegionVersion& RegionOf(const TableView& view, std::string_view row) {
  size_t low = 0, high = view.regions.size();
  while (high - low > 1) {  // The region starts at or before the row, the one at `high` after it.
    const size_t middle = low + (high - low) / 2;
    (view.regions[middle]->start_key <= row ? low : high) = middle;
  }
  return *view.regions[low];
}

Result<std::optional<FoundRow>> FindInFile(const FileSlice& slice, std::string_view row,
                                           uint64_t hash) {
  format::StoreFile& file = slice.file->store();
  const format::FileStatistics& statistics = file.statistics();
  if (row < statistics.min_key || row > statistics.max_key) return std::optional<FoundRow>();
  ASSIGN_OR_RETURN(const bool may, file.MayContain(hash));
  if (!may) return std::optional<FoundRow>();
  ASSIGN_OR_RETURN(const std::optional<format::Ordinal> found, file.FindByHash(row, hash));
  if (!found.has_value() || found->value < slice.low || found->value >= slice.high) {
    return std::optional<FoundRow>();
  }
  FoundRow result{.file = &file, .ordinal = found->value, .data = nullptr, .rows = nullptr};
  ASSIGN_OR_RETURN(result.data, file.Carrier());
  ASSIGN_OR_RETURN(result.rows, result.data->ReadRows(result.data->BlockOf(found->value)));
  return std::optional(std::move(result));
}

// The files that hold the row, in any order, among those that `sequence` sees.
Status FindInFiles(const RegionVersion& region, std::string_view row, uint64_t hash,
                   format::SequenceNumber sequence, std::vector<FoundRow>* found) {
  for (const FileSlice& slice : region.files) {
    if (slice.file->store().statistics().min_sequence > sequence) continue;
    ASSIGN_OR_RETURN(std::optional<FoundRow> here, FindInFile(slice, row, hash));
    if (here.has_value()) found->push_back(*std::move(here));
  }
  return {};
}

bool AppendFromMemstores(const RegionVersion& region, std::string_view row, uint64_t hash,
                         format::SequenceNumber sequence, std::vector<format::Cell>* cells) {
  for (const std::shared_ptr<const Memstore>& memstore : region.memstores) {
    if (!memstore->MayContain(hash)) continue;
    const MemRow* found = memstore->Find(row);
    if (found != nullptr) Memstore::Cells(found, sequence, cells);
  }
  return !cells->empty();
}

Result<bool> IsSettledHere(const ReadShape& shape, const FoundRow& found) {
  const format::StoreFile& file = *found.file;
  if (shape.point.is_bounded() || file.statistics().max_sequence > shape.point.sequence ||
      file.MayHaveExpired(shape.table->families, shape.point.now_micros)) {
    return false;
  }
  if (file.all_clean()) return true;
  ASSIGN_OR_RETURN(const format::Bitmap* clean, found.file->CleanRows());
  return clean->Test(found.ordinal);
}

Status AppendFromFile(const FoundRow& found, const std::vector<std::string>* columns,
                      std::vector<format::Cell>* cells) {
  return found.rows->Cells(found.slot(), found.data->names(), columns, cells);
}

}  // namespace

Result<std::optional<Row>> GetRow(const TableView& view, const ReadOptions& options,
                                  std::string_view row) {
  ASSIGN_OR_RETURN(const ReadShape shape, ReadShape::Make(view, options));
  const RegionVersion& region = RegionOf(view, row);
  const uint64_t hash = format::RowHash(row, view.table->hash_secret);
  RowAssembly assembly(shape);
  const bool in_memstores =
      AppendFromMemstores(region, row, hash, view.point.sequence, assembly.gathered());
  std::vector<FoundRow> found;
  RETURN_IF_ERROR(FindInFiles(region, row, hash, view.point.sequence, &found));
  for (const FoundRow& here : found) {
    RETURN_IF_ERROR(AppendFromFile(here, shape.returned.has_value() ? &*shape.returned : nullptr,
                                   assembly.gathered()));
  }
  bool settled = false;
  if (found.size() == 1 && !in_memstores) {
    ASSIGN_OR_RETURN(settled, IsSettledHere(shape, found[0]));
  }
  if (settled) {
    assembly.Settle();
  } else {
    assembly.Merge();
  }
  const RowView result = assembly.Project(row);
  if (result.cells().empty()) return std::optional<Row>();
  return std::optional<Row>(Row(result));
}

Result<std::vector<format::Cell>> AllCellsOfRow(const TableView& view, std::string_view row,
                                                std::vector<std::shared_ptr<const void>>* pins) {
  const RegionVersion& region = RegionOf(view, row);
  const uint64_t hash = format::RowHash(row, view.table->hash_secret);
  std::vector<format::Cell> cells;
  AppendFromMemstores(region, row, hash, format::kSequenceMax, &cells);
  for (const std::shared_ptr<const Memstore>& memstore : region.memstores)
    pins->push_back(memstore);
  std::vector<FoundRow> found;
  RETURN_IF_ERROR(FindInFiles(region, row, hash, format::kSequenceMax, &found));
  for (const FoundRow& here : found) {
    RETURN_IF_ERROR(AppendFromFile(here, nullptr, &cells));
    pins->push_back(here.rows);
  }
  for (const FileSlice& slice : region.files) pins->push_back(slice.file);  // Names live in files.
  std::sort(cells.begin(), cells.end(), format::CellLess);
  return cells;
}

}  // namespace tandem::engine

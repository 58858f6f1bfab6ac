// Finding a row and reading it by itself.
#include "engine/row_places.h"

#include <optional>

#include "base/status_macros.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

const RegionVersion& RegionOf(const TableView& view, std::string_view row) {
  size_t low = 0, high = view.regions.size();
  while (high - low > 1) {  // The region starts at or before the row, the one at `high` after it.
    const size_t middle = low + (high - low) / 2;
    (view.regions[middle]->start_key <= row ? low : high) = middle;
  }
  return *view.regions[low];
}

Result<std::optional<RowPlaces::InFile>> FindInFile(const FileSlice& slice, std::string_view row,
                                                    uint64_t hash) {
  const std::optional<RowPlaces::InFile> nowhere;
  format::StoreFile& file = slice.file->store();
  const format::FileStatistics& statistics = file.statistics();
  if (row < statistics.min_key || row > statistics.max_key) return nowhere;
  ASSIGN_OR_RETURN(const bool may, file.MayContain(hash));
  if (!may) return nowhere;
  ASSIGN_OR_RETURN(const std::optional<format::Ordinal> found, file.FindByHash(row, hash));
  if (!found.has_value() || found->value < slice.low || found->value >= slice.high) return nowhere;
  return std::optional(RowPlaces::InFile{&file, found->value});
}

}  // namespace

Result<RowPlaces> FindRow(const TableView& view, std::string_view row) {
  const RegionVersion& region = RegionOf(view, row);
  const uint64_t hash = format::RowHash(row, view.table->hash_secret);
  RowPlaces places;
  for (const std::shared_ptr<const Memstore>& memstore : region.memstores) {
    if (!memstore->MayContain(hash)) continue;
    const MemRow* found = memstore->Find(row);
    if (found != nullptr) places.memstores.push_back(found);
  }
  for (const FileSlice& slice : region.files) {
    if (slice.file->store().statistics().min_sequence > view.point.sequence) continue;
    ASSIGN_OR_RETURN(const std::optional<RowPlaces::InFile> found, FindInFile(slice, row, hash));
    if (found.has_value()) places.files.push_back(*found);
  }
  return places;
}

Status AppendCells(const RowPlaces::InFile& place, const ColumnSet& columns,
                   std::vector<format::Cell>* cells, CellPins* pins) {
  for (const ColumnSet::Family& family : columns.families()) {
    ASSIGN_OR_RETURN(const format::DataSection* data, place.file->Family(family.id));
    if (data == nullptr || !data->Has(place.ordinal)) continue;
    const uint32_t position = data->RankOf(place.ordinal);
    ASSIGN_OR_RETURN(const format::RowBlockRef rows, data->ReadRows(data->BlockOf(position)));
    const format::Projection wanted(data->names(), family.all ? nullptr : &family.qualifiers,
                                    &data->blocks());
    RETURN_IF_ERROR(rows->Cells(position - rows->first(), wanted, cells));
    pins->push_back(rows);
  }
  return {};
}

}  // namespace tandem::engine

// Looking at a row's other families, one after the other.
#include "engine/existence_check.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/visibility.h"

namespace tandem::engine {

Result<bool> ExistenceCheck::Exists(const RowPlaces& places) {
  for (const format::FamilyRecord& family : job_->shape.table->families) {
    if (job_->shape.DecodesFamily(family.id)) continue;
    ASSIGN_OR_RETURN(const bool shows, ShowsCells(places, family.id));
    if (shows) return true;
  }
  return false;
}

Result<bool> ExistenceCheck::ShowsCells(const RowPlaces& places, format::FamilyId family) {
  cells_.clear();
  for (const MemRow* row : places.memstores) {
    Memstore::Cells(row, job_->shape.point.sequence, &cells_);
  }
  std::erase_if(cells_, [=](const format::Cell& cell) { return cell.family != family; });
  for (const RowPlaces::InFile& place : places.files) RETURN_IF_ERROR(AddCells(place, family));
  std::sort(cells_.begin(), cells_.end(), format::CellLess);
  visible_.clear();
  format::VisibleCells(cells_, job_->shape.table->families, job_->shape.point, &visible_);
  return !visible_.empty();
}

Status ExistenceCheck::AddCells(const RowPlaces::InFile& place, format::FamilyId family) {
  ASSIGN_OR_RETURN(const format::DataSection* data, place.file->Family(family));
  if (data == nullptr || !data->Has(place.ordinal)) return {};
  const uint32_t position = data->RankOf(place.ordinal);
  ASSIGN_OR_RETURN(const format::RowBlock* rows, ReadBlock(*data, position));
  return rows->Cells(position - rows->first(),
                     format::Projection(data->names(), &data->blocks()), &cells_);
}

// The block that holds `position`; it stays until another of the same family is read, which no cell
// of a row outlives.
Result<const format::RowBlock*> ExistenceCheck::ReadBlock(const format::DataSection& data,
                                                          uint32_t position) {
  auto last = std::find_if(blocks_.begin(), blocks_.end(),
                           [&](const LastBlock& block) { return block.data == &data; });
  if (last == blocks_.end()) last = blocks_.insert(last, {&data, nullptr});
  if (last->rows == nullptr || position - last->rows->first() >= last->rows->row_count()) {
    const uint32_t block = data.BlockOf(position);
    ASSIGN_OR_RETURN(last->rows, data.ReadRows(block));
    job_->figures.CountBlock(data, block);
  }
  return last->rows.get();
}

}  // namespace tandem::engine

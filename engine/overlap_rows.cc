// Deciding from bitmaps and statistics first, from cells at last.
#include "engine/overlap_rows.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::engine {

Status NewerRows::Open(const format::TableRecord& table) {
  if (!file_->all_clean()) {
    ASSIGN_OR_RETURN(clean_, file_->CleanRows());
  }
  for (const format::IndexRecord& index : table.indexes) {
    if (index.columns.size() == 1) RETURN_IF_ERROR(AddColumn(index));
  }
  ASSIGN_OR_RETURN(carrier_, file_->Carrier());
  const format::BlockHandle last = carrier_->BlockAt(carrier_->block_count() - 1).handle;
  window_.emplace(&file_->blocks().file(), last.offset + last.stored_bytes);
  return OpenFamilies();
}

Status NewerRows::OpenFamilies() {
  for (const format::FamilyId id : file_->families()) {
    Family family;
    for (const Column& column : columns_) {
      if (column.record.family == id) family.qualifiers.push_back(column.record.qualifier);
    }
    if (family.qualifiers.empty()) continue;
    std::sort(family.qualifiers.begin(), family.qualifiers.end());
    family.qualifiers.erase(std::unique(family.qualifiers.begin(), family.qualifiers.end()),
                            family.qualifiers.end());
    ASSIGN_OR_RETURN(family.data, file_->Family(id));
    families_.push_back(std::move(family));
  }
  for (Family& family : families_) {
    family.columns.emplace(family.data->names(), family.qualifiers, &family.data->blocks());
  }
  return {};
}

Status NewerRows::AddColumn(const format::IndexRecord& index) {
  Column column{.index = index.id, .record = index.columns[0]};
  ASSIGN_OR_RETURN(format::IndexSection * section, file_->Index(index.id));
  if (section != nullptr) {
    ASSIGN_OR_RETURN(column.present, section->Present());
    column.is_everywhere = column.present->all();
  }
  for (const format::ColumnTimes& times : file_->statistics().column_times) {
    if (times.family != column.record.family || times.qualifier != column.record.qualifier) {
      continue;
    }
    column.min_timestamp = times.min_timestamp;
    column.max_timestamp = times.max_timestamp;
  }
  columns_.push_back(std::move(column));
  return {};
}

Status NewerRows::Enter(uint32_t block) {
  rows_ = carrier_->CachedRows(block);
  if (rows_ == nullptr) {
    const format::BlockHandle handle = carrier_->BlockAt(block).handle;
    ASSIGN_OR_RETURN(const std::string_view stored,
                     window_->Read(handle.offset, handle.stored_bytes));
    ASSIGN_OR_RETURN(rows_, carrier_->DecodeRows(block, stored));
  }
  looked_at_.assign(rows_->row_count(), false);
  return {};
}

bool NewerRows::AllKill(size_t which, int64_t timestamp) const {
  const Column& column = columns_[which];
  return clean_ == nullptr && column.is_everywhere && column.min_timestamp >= timestamp;
}

bool NewerRows::NoneKills(size_t which, int64_t timestamp) const {
  const Column& column = columns_[which];
  if (clean_ != nullptr || column.present == nullptr) return false;
  return column.max_timestamp < timestamp || column.present->CountOnes() == 0;
}

Result<bool> NewerRows::Kills(uint32_t slot, size_t which, int64_t timestamp) {
  const Column& column = columns_[which];
  const uint32_t ordinal = rows_->first() + slot;
  if (column.present != nullptr && (clean_ == nullptr || clean_->Test(ordinal))) {
    // One Put or none, and no marker.
    if (!column.present->Test(ordinal) || column.max_timestamp < timestamp) return false;
    if (column.min_timestamp >= timestamp) return true;
  }
  if (!looked_at_[slot]) RETURN_IF_ERROR(LookAtCells(slot));
  const std::optional<int64_t>& newest = newest_[slot * columns_.size() + which];
  return newest.has_value() && *newest >= timestamp;
}

Status NewerRows::LookAtCells(uint32_t slot) {
  cells_.clear();
  for (Family& family : families_) RETURN_IF_ERROR(AppendCells(slot, &family));
  newest_.resize(std::max(newest_.size(), size_t{rows_->row_count()} * columns_.size()));
  for (size_t which = 0; which < columns_.size(); ++which) {
    const format::IndexColumnRecord& column = columns_[which].record;
    std::optional<int64_t>& newest = newest_[slot * columns_.size() + which];
    newest.reset();
    for (const format::Cell& cell : cells_) {
      if (cell.kind == format::CellKind::kDeleteCell || cell.family != column.family) continue;
      const bool touches =
          cell.kind == format::CellKind::kDeleteFamily || cell.qualifier == column.qualifier;
      if (touches && (!newest.has_value() || cell.timestamp > *newest)) newest = cell.timestamp;
    }
  }
  looked_at_[slot] = true;
  return {};
}

// Cells of the carrier stand in the block at hand, those of other families in blocks of their own.
Status NewerRows::AppendCells(uint32_t slot, Family* family) {
  if (family->data == carrier_) return AppendCells(*rows_, slot, *family);
  const uint32_t ordinal = rows_->first() + slot;
  if (!family->data->Has(ordinal)) return {};
  const uint32_t position = family->data->RankOf(ordinal);
  const uint32_t block = family->data->BlockOf(position, family->block);
  if (family->rows == nullptr || block != family->block) {
    family->rows = family->data->CachedRows(block);
    if (family->rows == nullptr) {
      ASSIGN_OR_RETURN(family->rows, family->data->ReadRowsUncached(block));
    }
    family->block = block;
  }
  return AppendCells(*family->rows, position - family->rows->first(), *family);
}

// Of a wide row its head says which families it deletes; its columns are too far away, and what
// they might kill is left alive.
Status NewerRows::AppendCells(const format::RowBlock& rows, uint32_t slot, const Family& family) {
  if (rows.is_wide()) return rows.AppendFamilyDeletes(&cells_);
  return rows.Cells(slot, *family.columns, &cells_);
}

}  // namespace tandem::engine

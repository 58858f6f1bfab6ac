// Each family of a row in pieces is held in memory until it is known to be wide; from then on it is
// written in portions of about kWideRowBytes.
#include "store_file/row_writer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::format {
namespace {

// The cells of the first family in `cells`.
std::span<const Cell> FirstFamily(std::span<const Cell> cells) {
  size_t end = 1;
  while (end < cells.size() && cells[end].family == cells[0].family) ++end;
  return cells.first(end);
}

bool IsWide(std::span<const Cell> cells) {
  size_t width = 0;
  for (const Cell& cell : cells) {
    width += WidthOf(cell);
    if (width > kWideRowBytes) return true;
  }
  return false;
}

}  // namespace

Status RowWriter::AddRow(const RowLocation& place, std::string_view key,
                         std::span<const Cell> cells, std::span<const StoredRow> stored) {
  while (!cells.empty()) {
    const std::span<const Cell> family = FirstFamily(cells);
    RETURN_IF_ERROR(AddToFamily(place, key, family, stored));
    cells = cells.subspan(family.size());
  }
  return {};
}

Status RowWriter::AddToFamily(const RowLocation& place, std::string_view key,
                              std::span<const Cell> cells, std::span<const StoredRow> stored) {
  FamilyWriter* const family = data_->Find(cells.front().family);
  const auto block = std::find_if(stored.begin(), stored.end(), [=](const StoredRow& row) {
    return row.family == family->family() && !row.block.empty();
  });
  ASSIGN_OR_RETURN(cells, overflow_.Place(cells, family->compression()));
  if (!IsWide(cells)) {
    return family->AddRow(place.ordinal, key, cells, block == stored.end() ? nullptr : &*block);
  }
  const auto columns = std::find_if(cells.begin(), cells.end(), [](const Cell& cell) {
    return cell.kind != CellKind::kDeleteFamily;
  });
  ASSIGN_OR_RETURN(WideRowWriter* const wide, family->BeginWideRow(key, place.key_hash));
  RETURN_IF_ERROR(wide->Add({columns, cells.end()}));
  return family->EndWideRow(place.ordinal, key, {cells.begin(), columns});
}

void RowWriter::Begin(const RowLocation& place, std::string_view key) {
  place_ = place;
  pieces_.Begin(key);
  wide_ = nullptr;
}

Status RowWriter::Add(std::span<const Cell> cells) {
  while (!cells.empty()) {
    const std::span<const Cell> family = FirstFamily(cells);
    RETURN_IF_ERROR(AddPiece(family));
    cells = cells.subspan(family.size());
  }
  return {};
}

// Adds cells of one family.
Status RowWriter::AddPiece(std::span<const Cell> cells) {
  const FamilyId id = cells.front().family;
  if (pieces_.family() != id) {
    RETURN_IF_ERROR(EndFamily());
    RETURN_IF_ERROR(pieces_.BeginFamily(id));
  }
  FamilyWriter* const family = data_->Find(id);
  ASSIGN_OR_RETURN(cells, overflow_.Place(cells, family->compression()));
  RETURN_IF_ERROR(pieces_.Add(cells));
  if (pieces_.width() <= kWideRowBytes) return {};
  if (wide_ == nullptr) {
    ASSIGN_OR_RETURN(wide_, family->BeginWideRow(pieces_.key(), place_.key_hash));
  }
  RETURN_IF_ERROR(wide_->Add(pieces_.Columns()));
  pieces_.DropColumns();
  return {};
}

// Writes what is left of the row's current family, if there is one.
Status RowWriter::EndFamily() {
  if (!pieces_.family().has_value()) return {};
  FamilyWriter* const family = data_->Find(*pieces_.family());
  if (wide_ == nullptr) {
    return family->AddRow(place_.ordinal, pieces_.key(), pieces_.FamilyCells());
  }
  RETURN_IF_ERROR(std::exchange(wide_, nullptr)->Add(pieces_.Columns()));
  return family->EndWideRow(place_.ordinal, pieces_.key(), pieces_.FamilyDeletes());
}

Status RowWriter::End() { return EndFamily(); }

}  // namespace tandem::format

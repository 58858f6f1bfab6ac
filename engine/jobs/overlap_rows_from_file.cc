// The rows of the newer file, read from the file. Bitmaps and statistics decide first, cells last.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/jobs/overlap_rows.h"
#include "engine/source/candidates.h"
#include "format/cell/projection.h"
#include "format/file_window.h"
#include "format/row/block_places.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

class FileRows final : public NewerRows {
 public:
  FileRows(const format::TableRecord& table, format::StoreFile* file)
      : NewerRows(table), file_(file) {}

  Status Open();
  uint32_t block_count() const override { return carrier_->block_count(); }
  Result<Block> BlockAt(uint32_t block) override {
    ASSIGN_OR_RETURN(place_, places_->MoveTo(block));
    return Block{place_.first, place_.count};
  }
  Status Enter(uint32_t block) override;
  Result<std::string_view> Key(uint32_t slot) override;
  Result<bool> Supersedes(uint32_t slot, size_t which, int64_t timestamp) override;
  Share ShareOfFile(size_t which, int64_t timestamp) const override;
  Share ShareOfBlock(size_t which, int64_t timestamp) const override {
    return ShareOfFile(which, timestamp);
  }

 private:
  struct Column {
    bool is_of_family = false;                // Only its DeleteFamily markers count.
    const format::Bitmap* present = nullptr;  // nullptr: the file has no section of the index.
    bool is_everywhere = false;               // Every row is present,
    bool is_nowhere = false;                  // or none.
    // Timestamps of the column's Puts in the file; the widest range if unknown.
    int64_t min_timestamp = std::numeric_limits<int64_t>::min();
    int64_t max_timestamp = std::numeric_limits<int64_t>::max();
  };

  // A family that is indexed, or has indexed columns.
  struct Family {
    const format::DataSection* data = nullptr;
    std::vector<std::string> qualifiers;  // Sorted.
    std::optional<format::Projection> columns;
    uint32_t block = 0;  // The block read last.
    format::RowBlockRef rows;
  };

  Status AddColumn(size_t which);
  Status OpenFamilies();
  Status LookAtCells(uint32_t slot);
  Status AppendCells(uint32_t slot, Family* family);
  Status AppendCells(const format::RowBlock& rows, uint32_t slot, const Family& family);

  format::StoreFile* file_;
  std::vector<Column> columns_;            // By index.
  const format::Bitmap* clean_ = nullptr;  // nullptr: every row is clean.
  std::vector<Family> families_;           // Fixed once projections refer to it.
  const format::DataSection* carrier_ = nullptr;
  std::optional<format::BlockPlaces> places_;  // Of its blocks,
  format::DataBlock place_;                    // and where the current one is.
  std::optional<format::FileWindow> window_;
  format::RowBlockRef rows_;
  std::string key_;
  std::vector<bool> looked_at_;                 // By slot.
  std::vector<std::optional<int64_t>> newest_;  // By slot and column: the newest that supersedes.
  std::vector<format::Cell> cells_;
};

Status FileRows::Open() {
  if (!file_->all_clean()) {
    ASSIGN_OR_RETURN(clean_, file_->CleanRows());
  }
  for (size_t i = 0; i < index_count(); ++i) RETURN_IF_ERROR(AddColumn(i));
  ASSIGN_OR_RETURN(carrier_, file_->Carrier());
  RETURN_IF_ERROR(carrier_->LoadBlocks());
  places_.emplace(*carrier_);
  ASSIGN_OR_RETURN(const format::DataBlock last, carrier_->BlockAt(carrier_->block_count() - 1));
  window_.emplace(&file_->blocks().file(), last.handle.offset + last.handle.stored_bytes);
  return OpenFamilies();
}

Status FileRows::OpenFamilies() {
  for (const format::FamilyId id : file_->families()) {
    Family family;
    bool is_indexed = false;
    for (size_t i = 0; i < index_count(); ++i) {
      if (column(i).family != id) continue;
      is_indexed = true;
      if (!column(i).is_of_family()) family.qualifiers.push_back(column(i).qualifier);
    }
    if (!is_indexed) continue;
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

Status FileRows::AddColumn(size_t which) {
  Column column;
  if (this->column(which).is_of_family()) {
    column.is_of_family = true;
    columns_.push_back(column);
    return {};
  }
  ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(file_, index(which)));
  if (section != nullptr) {
    const Result<const format::Bitmap*> present = section->Present();
    if (present.has_value()) {
      column.present = *present;
    } else if (!GoesOnWithoutIndex(file_, index(which), present.error())) {
      return present.error();
    }
  }
  if (column.present != nullptr) {
    column.is_everywhere = column.present->all();
    column.is_nowhere = column.present->CountOnes() == 0;
  }
  for (const format::ColumnTimes& times : file_->statistics().column_times) {
    if (times.family != this->column(which).family ||
        times.qualifier != this->column(which).qualifier) {
      continue;
    }
    column.min_timestamp = times.min_timestamp;
    column.max_timestamp = times.max_timestamp;
  }
  columns_.push_back(column);
  return {};
}

Status FileRows::Enter(uint32_t block) {
  ASSIGN_OR_RETURN(place_, places_->MoveTo(block));
  rows_ = carrier_->CachedRows(place_);
  if (rows_ == nullptr) {
    ASSIGN_OR_RETURN(const std::string_view stored,
                     window_->Read(place_.handle.offset, place_.handle.stored_bytes));
    ASSIGN_OR_RETURN(rows_, carrier_->DecodeRows(place_, stored));
  }
  looked_at_.assign(rows_->row_count(), false);
  return {};
}

Result<std::string_view> FileRows::Key(uint32_t slot) {
  RETURN_IF_ERROR(rows_->Key(slot, &key_));
  return std::string_view(key_);
}

NewerRows::Share FileRows::ShareOfFile(size_t which, int64_t timestamp) const {
  const Column& column = columns_[which];
  if (column.is_of_family && clean_ == nullptr) return Share::kNone;  // No row has a marker.
  if (clean_ != nullptr || column.present == nullptr) return Share::kSome;
  if (column.max_timestamp < timestamp || column.is_nowhere) return Share::kNone;
  return column.is_everywhere && column.min_timestamp >= timestamp ? Share::kAll : Share::kSome;
}

Result<bool> FileRows::Supersedes(uint32_t slot, size_t which, int64_t timestamp) {
  const Column& column = columns_[which];
  const uint32_t ordinal = rows_->first() + slot;
  const bool is_clean = clean_ == nullptr || clean_->Test(ordinal);
  if (is_clean && column.is_of_family) return false;
  if (is_clean && column.present != nullptr) {
    // One Put or none, and no marker.
    if (!column.present->Test(ordinal) || column.max_timestamp < timestamp) return false;
    if (column.min_timestamp >= timestamp) return true;
  }
  if (!looked_at_[slot]) RETURN_IF_ERROR(LookAtCells(slot));
  const std::optional<int64_t>& newest = newest_[slot * columns_.size() + which];
  return newest.has_value() && *newest >= timestamp;
}

Status FileRows::LookAtCells(uint32_t slot) {
  cells_.clear();
  for (Family& family : families_) RETURN_IF_ERROR(AppendCells(slot, &family));
  newest_.resize(std::max(newest_.size(), size_t{rows_->row_count()} * columns_.size()));
  for (size_t which = 0; which < columns_.size(); ++which) {
    const format::IndexColumnRecord& column = this->column(which);
    std::optional<int64_t>& newest = newest_[slot * columns_.size() + which];
    newest.reset();
    for (const format::Cell& cell : cells_) {
      if (cell.kind == format::CellKind::kDeleteCell || cell.family != column.family) continue;
      const bool touches = cell.kind == format::CellKind::kDeleteFamily ||
                           (!column.is_of_family() && cell.qualifier == column.qualifier);
      if (touches && (!newest.has_value() || cell.timestamp > *newest)) newest = cell.timestamp;
    }
  }
  looked_at_[slot] = true;
  return {};
}

// The carrier's cells are in the current block, those of other families in blocks of their own.
Status FileRows::AppendCells(uint32_t slot, Family* family) {
  if (family->data == carrier_) return AppendCells(*rows_, slot, *family);
  const uint32_t ordinal = rows_->first() + slot;
  if (!family->data->Has(ordinal)) return {};
  const uint32_t position = family->data->RankOf(ordinal);
  ASSIGN_OR_RETURN(const uint32_t block, family->data->BlockOf(position, family->block));
  if (family->rows == nullptr || block != family->block) {
    ASSIGN_OR_RETURN(const format::DataBlock place, family->data->BlockAt(block));
    family->rows = family->data->CachedRows(place);
    if (family->rows == nullptr) {
      ASSIGN_OR_RETURN(family->rows, family->data->ReadRowsUncached(place));
    }
    family->block = block;
  }
  return AppendCells(*family->rows, position - family->rows->first(), *family);
}

// Of a wide row only the head is read, which says what families it deletes. Its columns are not
// read, so postings that they might supersede stay alive.
Status FileRows::AppendCells(const format::RowBlock& rows, uint32_t slot, const Family& family) {
  if (rows.is_wide()) return rows.AppendFamilyDeletes(&cells_);
  return rows.Cells(slot, *family.columns, &cells_);
}

}  // namespace

NewerRows::NewerRows(const format::TableRecord& table) {
  for (const format::IndexRecord& index : table.indexes) {
    if (format::MayDie(index)) indexes_.push_back(&index);
  }
}

Result<std::unique_ptr<NewerRows>> NewFileRows(const format::TableRecord& table,
                                               format::StoreFile* file) {
  auto rows = std::make_unique<FileRows>(table, file);
  RETURN_IF_ERROR(rows->Open());
  return std::unique_ptr<NewerRows>(std::move(rows));
}

}  // namespace tandem::engine

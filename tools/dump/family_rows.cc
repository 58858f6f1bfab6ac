// See family_rows.h.
#include "tools/dump/family_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/salvage/damaged_file.h"
#include "engine/salvage/family_scan.h"
#include "format/row/wide_row.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

using format::RowBlockRef;

class IndexedRows final : public FamilyRows {
 public:
  IndexedRows(const format::DataSection* data, OnDamage on_damage)
      : data_(*data), on_damage_(std::move(on_damage)) {}

  Status Seek(std::string_view key) override;
  Status Next() override {
    if (++slot_ < rows_->row_count()) return rows_->Key(slot_, &key_);
    return Load(rows_->first() + rows_->row_count(), {});
  }
  bool valid() const override { return rows_ != nullptr; }
  const std::string& key() const override { return key_; }
  std::optional<uint32_t> ordinal() const override {
    return data_.OrdinalOf(rows_->first() + slot_);
  }
  Result<std::unique_ptr<format::CellStream>> Stream() const override {
    if (rows_->is_wide()) return format::NewWideRowStream(data_.blocks(), rows_);
    std::vector<format::Cell> cells;
    RETURN_IF_ERROR(
        rows_->Cells(slot_, format::Projection(data_.names(), &data_.blocks()), &cells));
    return format::NewCellStream(std::move(cells), rows_);
  }

 private:
  Status Load(uint32_t position, std::string_view key);

  const format::DataSection& data_;
  const OnDamage on_damage_;
  RowBlockRef rows_;
  uint32_t slot_ = 0;
  std::string key_;
};

Status IndexedRows::Seek(std::string_view key) {
  if (key.empty()) return Load(0, {});
  const Result<uint32_t> block = data_.BlockOfKey(key);
  const Result<format::DataBlock> place = block ? data_.BlockAt(*block) : block.error();
  if (place) return Load(place->first, key);
  RETURN_IF_ERROR(on_damage_(place.error()));
  return Load(0, key);
}

// Moves to the first row >= `key` at `position` or after it, in the first block that can be read.
Status IndexedRows::Load(uint32_t position, std::string_view key) {
  rows_ = nullptr;
  const format::BlockIndex& index = data_.index();
  while (position < data_.row_count()) {
    const Result<uint32_t> block = data_.BlockOf(position);
    const Result<format::DataBlock> place = block ? data_.BlockAt(*block) : block.error();
    if (!place) {
      RETURN_IF_ERROR(on_damage_(place.error()));
      position = index.EndOfPiece(index.PieceOf(position, 0));
      continue;
    }
    position = place->first + place->count;
    const Result<RowBlockRef> rows = data_.ReadRowsUncached(*place);
    if (!rows) {
      RETURN_IF_ERROR(on_damage_(rows.error()));
      continue;
    }
    slot_ = key.empty() ? 0 : (*rows)->LowerBound(key);
    if (slot_ >= (*rows)->row_count()) continue;
    const Status status = (*rows)->Key(slot_, &key_);
    if (!status.ok()) {
      RETURN_IF_ERROR(on_damage_(status));
      continue;
    }
    rows_ = *rows;
    break;
  }
  return {};
}

class ScannedRows final : public FamilyRows {
 public:
  ScannedRows(std::unique_ptr<format::DamagedFile> file, format::FamilyScan scan)
      : file_(std::move(file)), scan_(std::move(scan)), rows_(*file_, scan_) {}

  Status Seek(std::string_view key) override {
    do {
      RETURN_IF_ERROR(rows_.Next());
    } while (rows_.valid() && rows_.key() < key);
    return {};
  }
  Status Next() override { return rows_.Next(); }
  bool valid() const override { return rows_.valid(); }
  const std::string& key() const override { return rows_.key(); }
  std::optional<uint32_t> ordinal() const override { return rows_.ordinal(); }
  Result<std::unique_ptr<format::CellStream>> Stream() const override {
    if (rows_.comes_in_pieces()) return rows_.Stream();
    std::vector<format::Cell> cells;
    RETURN_IF_ERROR(rows_.Cells(&cells));
    return format::NewCellStream(std::move(cells), nullptr);
  }

 private:
  const std::unique_ptr<format::DamagedFile> file_;
  const format::FamilyScan scan_;
  format::IntactRows rows_;
};

// A view of a file that somebody else owns.
class BorrowedFile final : public base::File {
 public:
  explicit BorrowedFile(base::File* file) : file_(*file) {}
  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    return file_.Read(offset, buffer);
  }
  Status Write(uint64_t, std::string_view) override { return Refused(); }
  Status DataSync() override { return Refused(); }
  Result<uint64_t> Size() override { return file_.Size(); }
  Status Truncate(uint64_t) override { return Refused(); }
  Status Preallocate(uint64_t) override { return Refused(); }
  const std::string& name() const override { return file_.name(); }

 private:
  static Status Refused() { return Status::ReadOnly("a dump writes nothing"); }
  base::File& file_;
};

// What is in a gap has no place.
Status DamageOf(const format::StoreFile& file, const format::ScannedBlock& block) {
  if (!block.is_gap()) return file.blocks().Corrupt(block.handle.offset, block.reason);
  return Status::Corruption(Format("{}: rows {} to {}: {}", file.blocks().file().name(),
                                   block.first, block.first + block.count - 1, block.reason));
}

Result<std::unique_ptr<FamilyRows>> Scan(const format::StoreFile& file, format::FamilyId family,
                                         const FamilyRows::OnDamage& on_damage) {
  const format::KnownFile known{.number = file.number(), .id = file.id(), .table = &file.table()};
  ASSIGN_OR_RETURN(auto damaged, format::DamagedFile::Open(
                                     std::make_unique<BorrowedFile>(&file.blocks().file()), known));
  ASSIGN_OR_RETURN(std::vector<format::FamilyScan> scans, format::ScanFamilies(*damaged));
  for (format::FamilyScan& scan : scans) {
    if (scan.family != family) continue;
    for (const format::ScannedBlock& block : scan.blocks) {
      if (!block.is_good) RETURN_IF_ERROR(on_damage(DamageOf(file, block)));
    }
    return std::unique_ptr<FamilyRows>(
        std::make_unique<ScannedRows>(std::move(damaged), std::move(scan)));
  }
  return std::unique_ptr<FamilyRows>();
}

}  // namespace

Result<std::unique_ptr<FamilyRows>> FamilyRows::Open(const format::StoreFile& file,
                                                     format::FamilyId family, OnDamage on_damage) {
  const Result<format::DataSection*> data = file.Family(family);
  if (data && *data == nullptr) return std::unique_ptr<FamilyRows>();
  if (data) {
    return std::unique_ptr<FamilyRows>(std::make_unique<IndexedRows>(*data, std::move(on_damage)));
  }
  RETURN_IF_ERROR(on_damage(data.error()));
  return Scan(file, family, on_damage);
}

}  // namespace tandem::tools

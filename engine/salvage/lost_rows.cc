// Each index is walked once from its first value and, where that walk ends at a broken block, once
// from its last one.
#include "engine/salvage/lost_rows.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/block/carver.h"
#include "format/block/section_table.h"
#include "format/byte_reader.h"
#include "index/key.h"
#include "index/section.h"

namespace tandem::format {
namespace {

class Describer {
 public:
  Describer(const DamagedFile& file, std::span<const uint32_t> ordinals,
            std::vector<std::string>* damage)
      : file_(file), damage_(*damage) {
    for (const uint32_t ordinal : ordinals.first(std::min(ordinals.size(), kDescribedRowsMax))) {
      rows_.push_back({.ordinal = ordinal, .key_hash = {}, .key = {}, .values = {}});
    }
  }

  Status ReadKeyHashes();
  Status ReadKeys(const FamilyScan& family);
  Status ReadIndex(const IndexRecord& index);
  std::vector<LostRow> Take() { return std::move(rows_); }

 private:
  LostRow* Find(uint32_t ordinal);
  Status ReadPart(const IndexRecord& index, IndexSection* section, IndexPart part);
  Status AddValue(const IndexRecord& index, IndexPart part, IndexValueCursor* cursor);
  Status Note(const Status& status);

  const DamagedFile& file_;
  std::vector<std::string>& damage_;
  std::vector<LostRow> rows_;  // By ordinal.
  std::vector<uint32_t> ordinals_;
};

LostRow* Describer::Find(uint32_t ordinal) {
  const auto found =
      std::lower_bound(rows_.begin(), rows_.end(), ordinal,
                       [](const LostRow& row, uint32_t wanted) { return row.ordinal < wanted; });
  return found == rows_.end() || found->ordinal != ordinal ? nullptr : &*found;
}

Status Describer::Note(const Status& status) {
  if (status.code() != StatusCode::kCorruption) return status;
  damage_.emplace_back(status.message());
  return {};
}

Status Describer::ReadKeyHashes() {
  const SectionEntry* section = FindSection(file_.sections(), SectionKind::kKeyHashes);
  if (section == nullptr) return {};
  const auto read = [&](const BlockRef& block, BlockHandle) {
    if (block->kind != BlockKind::kKeyHashes) return Status();
    for (uint32_t i = 0; i < block->count && (i + 1) * sizeof(uint64_t) <= block->raw_bytes; ++i) {
      LostRow* row = Find(block->first + i);
      if (row != nullptr) row->key_hash = LoadAt<uint64_t>(block->raw(), i * sizeof(uint64_t));
    }
    return Status();
  };
  return FindBlocks(file_.blocks(), section->offset, section->offset + section->size_bytes, read);
}

// The keys of those rows that the family has in good blocks.
Status Describer::ReadKeys(const FamilyScan& family) {
  for (const ScannedBlock& block : family.blocks) {
    if (!block.is_good) continue;
    const std::optional<uint32_t> first = family.OrdinalOf(block.first);
    const std::optional<uint32_t> last = family.OrdinalOf(block.first + block.count - 1);
    if (!first.has_value() || !last.has_value()) return {};
    const auto low =
        std::lower_bound(rows_.begin(), rows_.end(), *first,
                         [](const LostRow& row, uint32_t wanted) { return row.ordinal < wanted; });
    if (low == rows_.end() || low->ordinal > *last) continue;
    ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, file_.blocks().ReadStored(block.handle));
    ASSIGN_OR_RETURN(const RowBlockRef rows,
                     RowBlock::Decode(file_.blocks().PlaceAt(block.handle.offset), family.family,
                                      {stored.get(), block.handle.stored_bytes}));
    for (uint32_t slot = 0; slot < block.count; ++slot) {
      LostRow* row = Find(*family.OrdinalOf(block.first + slot));
      if (row != nullptr) RETURN_IF_ERROR(rows->Key(slot, &row->key.emplace()));
    }
  }
  return {};
}

Status Describer::ReadIndex(const IndexRecord& index) {
  Result<std::unique_ptr<IndexSection>> section =
      IndexSection::Open(file_.blocks(), file_.sections(), index.id, file_.row_count());
  if (!section) return Note(section.error());
  if (*section == nullptr) return {};
  for (const IndexPart part : {IndexPart::kCurrent, IndexPart::kOlder}) {
    RETURN_IF_ERROR(ReadPart(index, section->get(), part));
  }
  return {};
}

Status Describer::ReadPart(const IndexRecord& index, IndexSection* section, IndexPart part) {
  const std::unique_ptr<IndexValueCursor> forward = section->NewUncachedCursor(part);
  std::string last;  // Key of the last value that was read; a key is never empty.
  Status status = forward->Seek({});
  while (status.ok() && forward->valid()) {
    last = forward->key();
    status = AddValue(index, part, forward.get());
    if (status.ok()) status = forward->Next();
  }
  if (status.ok()) return {};
  RETURN_IF_ERROR(Note(status));
  const std::unique_ptr<IndexValueCursor> backward = section->NewUncachedCursor(part);
  status = backward->SeekBefore(std::nullopt);
  while (status.ok() && backward->valid() && backward->key() > last) {
    status = AddValue(index, part, backward.get());
    if (status.ok()) status = backward->Previous();
  }
  return status.code() == StatusCode::kCorruption ? Status() : status;
}

Status Describer::AddValue(const IndexRecord& index, IndexPart part, IndexValueCursor* cursor) {
  ordinals_.clear();
  RETURN_IF_ERROR(cursor->AppendOrdinals(&ordinals_));
  for (const uint32_t ordinal : ordinals_) {
    LostRow* row = Find(ordinal);
    if (row == nullptr) continue;
    ASSIGN_OR_RETURN(const std::optional<std::string> value, DecodeEntry(index, cursor->key()));
    if (!value.has_value()) continue;
    row->values.push_back({index.id, index.name, part == IndexPart::kCurrent, *value});
  }
  return {};
}

}  // namespace

Result<std::vector<LostRow>> DescribeLostRows(const DamagedFile& file,
                                              std::span<const FamilyScan> families,
                                              std::span<const uint32_t> ordinals,
                                              std::vector<std::string>* damage) {
  Describer describer(file, ordinals, damage);
  if (ordinals.empty()) return describer.Take();
  RETURN_IF_ERROR(describer.ReadKeyHashes());
  for (const FamilyScan& family : families) RETURN_IF_ERROR(describer.ReadKeys(family));
  for (const IndexRecord& index : file.table().indexes) {
    RETURN_IF_ERROR(describer.ReadIndex(index));
  }
  return describer.Take();
}

}  // namespace tandem::format

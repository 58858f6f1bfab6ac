// Row blocks of one family, collected into extents.
#include "format/row/family_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/block/bitmap_section.h"
#include "format/row/data_section.h"

namespace tandem::format {

FamilyWriter::FamilyWriter(FamilyId family, const FamilyOptions& options, size_t extent_bytes,
                           SectionWriter* out)
    : family_(family),
      compression_(options.compression),
      block_bytes_(options.block_size_bytes),
      extent_bytes_(extent_bytes),
      out_(out),
      rows_(&names_) {}

Status FamilyWriter::AddRow(uint32_t ordinal, std::string_view key, std::span<const Cell> cells,
                            const StoredRow* stored) {
  // A row that fills a block by itself does not share one with smaller rows before it.
  const bool large = RowBlockWriter::FillsBlock(key, cells, block_bytes_);
  if (rows_.row_count() > 0 && (large || !rows_.Fits(key, cells))) RETURN_IF_ERROR(EndBlock());
  if (large && stored != nullptr && MayCopy(*stored, cells)) {
    return CopyBlock(ordinal, key, stored->block);
  }
  rows_.Add(key, cells);
  CountRow(ordinal);
  return rows_.size_bytes() >= block_bytes_ ? EndBlock() : Status();
}

// Whether the block says the same in this file: its columns have the same ids, and it needs nothing
// of its own file. One that was not compressed is tried again: what this file asks for may be new.
bool FamilyWriter::MayCopy(const StoredRow& stored, std::span<const Cell> cells) {
  if (CompressionOfStored(stored.block) != compression_) return false;
  return std::all_of(cells.begin(), cells.end(), [&](const Cell& cell) {
    if (cell.is_overflow()) return false;
    if (IsFamilyDelete(cell)) return true;
    const uint32_t id = names_.IdOf(cell.qualifier);
    return id != 0 && id <= stored.names->size() && stored.names->Name(id) == cell.qualifier;
  });
}

Status FamilyWriter::CopyBlock(uint32_t ordinal, std::string_view key, std::string_view stored) {
  BlockGroup::Member block = NextBlock(row_count_, key);
  block.raw_bytes = stored.size();
  block.is_stored = true;
  key_before_block_ = key;
  CountRow(ordinal);
  ++copied_blocks_;
  extent_.raw.append(stored);
  return AddToExtent(block, UnpackedBytesOfStored(stored));
}

// Gives row `ordinal` the next position.
void FamilyWriter::CountRow(uint32_t ordinal) {
  if (ordinal > row_count_ && present_.empty()) present_.SetFirst(row_count_);
  if (ordinal > row_count_) present_.Set(ordinal);
  ++row_count_;
}

Result<WideRowWriter*> FamilyWriter::BeginWideRow(std::string_view key, uint64_t key_hash) {
  RETURN_IF_ERROR(WriteBlocks());
  return &wide_row_.emplace(key, key_hash, row_count_, compression_, out_);
}

Status FamilyWriter::EndWideRow(uint32_t ordinal, std::string_view key,
                                std::span<const Cell> deletes) {
  ASSIGN_OR_RETURN(const BlockHandle head, wide_row_->Finish(deletes));
  wide_row_.reset();
  index_.Add(row_count_, key_before_block_, key);
  index_.Place(head);
  key_before_block_ = key;
  CountRow(ordinal);
  return {};
}

uint64_t FamilyWriter::memory_bytes() const {
  return index_.memory_bytes() + extent_.raw.capacity() +
         extent_.blocks.capacity() * sizeof(BlockGroup::Member);
}

// Adds the block whose first row has position `first` to the index.
BlockGroup::Member FamilyWriter::NextBlock(uint32_t first, std::string_view first_key) {
  index_.Add(first, key_before_block_, first_key);
  BlockGroup::Member block{.content = {.kind = BlockKind::kRows}, .raw_bytes = 0};
  block.content.first = first;
  return block;
}

Status FamilyWriter::EndBlock() {
  BlockGroup::Member block = NextBlock(row_count_ - rows_.row_count(), rows_.first_key());
  block.content.count = rows_.row_count();
  block.content.compression = compression_;
  key_before_block_ = rows_.last_key();
  const size_t begin = extent_.raw.size();
  block.content.flags = rows_.Finish(&extent_.raw);
  block.raw_bytes = extent_.raw.size() - begin;
  return AddToExtent(block, block.raw_bytes);
}

// Its bytes are in the extent.
Status FamilyWriter::AddToExtent(const BlockGroup::Member& block, uint64_t unpacked_bytes) {
  extent_.blocks.push_back(block);
  extent_.unpacked_bytes += unpacked_bytes;
  return extent_.unpacked_bytes >= extent_bytes_ ? WriteExtent() : Status();
}

Status FamilyWriter::WriteExtent() {
  if (extent_.blocks.empty()) return {};
  return out_->AppendGroup(&extent_, [this](const BlockHandle& handle) { index_.Place(handle); });
}

Status FamilyWriter::WriteBlocks() {
  if (rows_.row_count() > 0) RETURN_IF_ERROR(EndBlock());
  return WriteExtent();
}

Status FamilyWriter::WriteSections(uint32_t file_rows) {
  CHECK(row_count_ > 0 && rows_.row_count() == 0 && extent_.blocks.empty());
  extent_ = {};
  if (family_.value != kKeysOwner) RETURN_IF_ERROR(WriteDictionary());
  if (row_count_ < file_rows) {
    if (present_.empty()) present_.SetFirst(row_count_);
    RETURN_IF_ERROR(WriteBitmapSection(SectionKind::kPresence, family_.value,
                                       present_.ToBitmap(file_rows), out_));
  }
  return index_.Write(family_, out_);
}

Status FamilyWriter::WriteDictionary() {
  const std::string bytes = names_.Encode();
  BlockContent content{.kind = BlockKind::kDictionary, .raw = bytes};
  content.count = names_.size();
  RETURN_IF_ERROR(out_->Begin(SectionKind::kDictionary, family_.value));
  for (int copy = 0; copy < 2; ++copy) RETURN_IF_ERROR(out_->Append(content).status());
  return out_->End(names_.size());
}

}  // namespace tandem::format

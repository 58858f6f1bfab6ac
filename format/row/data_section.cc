// Loads the sections of a family, and its row blocks from the cache or the disk.
//
// A cached row block is found through the slot of its entry in the block index, which holds a weak
// reference. If the block is gone, or the entry is in a piece that is not kept, the cache is
// searched: it may also have the block from another StoreFile of the same file.
#include "format/row/data_section.h"

#include <utility>

#include "base/status_macros.h"
#include "format/block/bitmap_section.h"
#include "format/block/sequential_reader.h"
#include "format/corruption.h"

namespace tandem::format {
namespace {

// The section holds two copies of one block; the second is read when the first is damaged.
Result<Dictionary> ReadDictionary(const BlockFile& file, const SectionEntry& section) {
  SequentialReader reader(file, section);
  Result<BlockRef> block = reader.Next(BlockKind::kDictionary);
  if (!block && block.error().code() == StatusCode::kCorruption) {
    // They have equal sizes, so the second one starts in the middle.
    SectionEntry second = section;
    second.size_bytes = section.size_bytes / 2;
    second.offset += second.size_bytes;
    SequentialReader second_reader(file, second);
    if (Result<BlockRef> copy = second_reader.Next(BlockKind::kDictionary); copy) block = copy;
  }
  if (!block) return block.error();
  return Dictionary::Decode(*std::move(block));
}

}  // namespace

DataSection::DataSection(DataSection&&) noexcept = default;
DataSection::~DataSection() = default;

Result<DataSection> DataSection::Load(const BlockFile& file, const DataPlaces& places,
                                      FamilyId family, uint32_t file_rows) {
  DataSection section;
  section.family_ = family;
  section.file_ = &file;
  section.row_count_ = file_rows;
  if (places.presence != nullptr) {
    ASSIGN_OR_RETURN(Bitmap rows, ReadBitmapSection(file, *places.presence, file_rows));
    section.presence_ = std::make_unique<Presence>(std::move(rows));
    section.row_count_ = section.presence_->count();
  }
  ASSIGN_OR_RETURN(section.index_, BlockIndex::Open(file, {places.index, places.top, places.data},
                                                    section.row_count_));
  if (places.names != nullptr) {
    ASSIGN_OR_RETURN(section.names_, ReadDictionary(file, *places.names));
    if (section.names_.size() != places.names->count) {
      return file.Corrupt(places.names->offset, Mismatch("names of dictionary", places.names->count,
                                                         section.names_.size()));
    }
  }
  using base::MemoryPart;
  const uint64_t presence_bytes =
      section.presence_ == nullptr ? 0 : section.presence_->memory_bytes();
  section.charges_ = {file.Charge(MemoryPart::kBlockIndexes, section.index_.memory_bytes()),
                      file.Charge(MemoryPart::kDictionaries, section.names_.memory_bytes()),
                      file.Charge(MemoryPart::kBitmaps, presence_bytes)};
  return section;
}

Result<RowBlockRef> DataSection::DecodeRows(const DataBlock& block, std::string_view stored) const {
  return DecodeRowsAt(file_->PlaceAt(block.handle.offset), block, stored);
}

Result<RowBlockRef> DataSection::DecodeRowsAt(const BlockPlace& where, const DataBlock& block,
                                              std::string_view stored) const {
  const uint64_t offset = block.handle.offset;
  if (stored.size() != block.handle.stored_bytes) {
    return file_->Corrupt(offset,
                          Mismatch("bytes of block", block.handle.stored_bytes, stored.size()));
  }
  ASSIGN_OR_RETURN(RowBlockRef rows, RowBlock::Decode(where, family_, stored));
  if (rows->first() != block.first) {
    return file_->Corrupt(offset, Mismatch("first row of block", block.first, rows->first()));
  }
  if (rows->row_count() != block.count) {
    return file_->Corrupt(offset, Mismatch("rows of block", block.count, rows->row_count()));
  }
  return rows;
}

Result<RowBlockRef> DataSection::AdmitRows(const DataBlock& block, std::string_view stored) const {
  const BlockPlace place = file_->KeptPlaceAt(block.handle.offset);
  ASSIGN_OR_RETURN(RowBlockRef rows, DecodeRowsAt(place, block, stored));
  BlockCache* const cache = file_->cache();
  if (cache == nullptr) return rows;
  auto kept = std::dynamic_pointer_cast<const RowBlock>(
      cache->Insert(file_->number(), block.handle.offset, rows));
  if (kept == nullptr) return rows;
  if (auto slot = index_.SharedSlotOf(block.number)) RowSlot::Set(slot, kept);
  return kept;
}

Result<RowBlockRef> DataSection::ReadRows(uint32_t block) const {
  if (RowBlockRef used = UsedRows(block); used != nullptr) return used;
  ASSIGN_OR_RETURN(const DataBlock place, BlockAt(block));
  return ReadRows(place);
}

Result<RowBlockRef> DataSection::ReadRows(const DataBlock& block) const {
  if (RowBlockRef cached = CachedRows(block); cached != nullptr) return cached;
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, file_->ReadStored(block.handle));
  return AdmitRows(block, {stored.get(), block.handle.stored_bytes});
}

RowBlockRef DataSection::CachedRows(const DataBlock& block) const {
  if (RowBlockRef used = UsedRows(block.number); used != nullptr) return used;
  auto found = std::dynamic_pointer_cast<const RowBlock>(file_->Cached(block.handle));
  if (found == nullptr) return nullptr;
  if (auto slot = index_.SharedSlotOf(block.number)) RowSlot::Set(slot, found);
  return found;
}

RowBlockRef DataSection::RememberedRows(uint32_t block) const {
  const RowSlot* const slot = index_.SlotOf(block);
  return slot == nullptr ? nullptr : slot->Get();
}

RowBlockRef DataSection::UsedRows(uint32_t block) const {
  RowBlockRef rows = RememberedRows(block);
  if (rows != nullptr) rows->CountUse();
  return rows;
}

void DataSection::PrefetchRows(uint32_t block) const {
  if (const RowSlot* slot = index_.SlotOf(block); slot != nullptr) slot->Prefetch();
}

Result<RowBlockRef> DataSection::ReadRowsUncached(const DataBlock& block) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, file_->ReadStored(block.handle));
  return DecodeRows(block, {stored.get(), block.handle.stored_bytes});
}

}  // namespace tandem::format

// Loads the sections of a family, and its row blocks from the cache or the disk.
//
// A cached row block is found through the slot of its entry in the block index, which holds a weak
// reference. If the block is gone, the cache is searched: it may have the block from another
// StoreFile of the same file.
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

Result<RowBlockRef> DataSection::DecodeRows(uint32_t block, std::string_view stored) const {
  return DecodeRowsAt(file_->PlaceAt(BlockAt(block).handle.offset), block, stored);
}

Result<RowBlockRef> DataSection::DecodeRowsAt(const BlockPlace& where, uint32_t block,
                                              std::string_view stored) const {
  const DataBlock place = BlockAt(block);
  const uint64_t offset = place.handle.offset;
  if (stored.size() != place.handle.stored_bytes) {
    return file_->Corrupt(offset,
                          Mismatch("bytes of block", place.handle.stored_bytes, stored.size()));
  }
  ASSIGN_OR_RETURN(RowBlockRef rows, RowBlock::Decode(where, family_, stored));
  if (rows->first() != place.first) {
    return file_->Corrupt(offset, Mismatch("first row of block", place.first, rows->first()));
  }
  if (rows->row_count() != place.count) {
    return file_->Corrupt(offset, Mismatch("rows of block", place.count, rows->row_count()));
  }
  return rows;
}

Result<RowBlockRef> DataSection::AdmitRows(uint32_t block, std::string_view stored) const {
  const BlockPlace place = file_->KeptPlaceAt(BlockAt(block).handle.offset);
  ASSIGN_OR_RETURN(RowBlockRef rows, DecodeRowsAt(place, block, stored));
  BlockCache* const cache = file_->cache();
  if (cache == nullptr) return rows;
  auto kept = std::dynamic_pointer_cast<const RowBlock>(
      cache->Insert(file_->number(), BlockAt(block).handle.offset, rows));
  if (kept == nullptr) return rows;
  RowSlot::Set(index_.SharedSlotOf(block), kept);
  return kept;
}

Result<RowBlockRef> DataSection::ReadRows(uint32_t block) const {
  if (RowBlockRef cached = CachedRows(block); cached != nullptr) return cached;
  const BlockHandle handle = BlockAt(block).handle;
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, file_->ReadStored(handle));
  return AdmitRows(block, {stored.get(), handle.stored_bytes});
}

RowBlockRef DataSection::CachedRows(uint32_t block) const {
  if (RowBlockRef found = index_.SlotOf(block).Get(); found != nullptr) {
    found->CountUse();
    return found;
  }
  auto found = std::dynamic_pointer_cast<const RowBlock>(file_->Cached(BlockAt(block).handle));
  if (found != nullptr) RowSlot::Set(index_.SharedSlotOf(block), found);
  return found;
}

RowBlockRef DataSection::RememberedRows(uint32_t block) const { return index_.SlotOf(block).Get(); }

void DataSection::PrefetchRows(uint32_t block) const { index_.SlotOf(block).Prefetch(); }

Result<RowBlockRef> DataSection::ReadRowsUncached(uint32_t block) const {
  const BlockHandle handle = BlockAt(block).handle;
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, file_->ReadStored(handle));
  return DecodeRows(block, {stored.get(), handle.stored_bytes});
}

}  // namespace tandem::format

// The rows of a store file: the block index, row blocks from the cache or the disk, searches.
//
// A row block that the cache holds is found through the slot of its entry in the block index, which
// knows it weakly: no table is searched, and the cache alone decides how long the block lives. A
// slot whose block is gone asks the cache, which may have it from another StoreFile of the same
// file.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/corruption.h"
#include "format/store_file.h"
#include "format/store_file_parts.h"

namespace tandem::format {
namespace {

// The first position of `hash`, or hashes.size().
size_t FindHash(std::span<const uint64_t> hashes, uint64_t hash) {
  constexpr size_t kStep = 16;  // Compared without a branch between them.
  size_t at = 0;
  for (; at + kStep <= hashes.size(); at += kStep) {
    bool any = false;
    for (size_t i = 0; i < kStep; ++i) any |= hashes[at + i] == hash;
    if (any) break;
  }
  return static_cast<size_t>(std::find(hashes.begin() + at, hashes.end(), hash) - hashes.begin());
}

}  // namespace

RowBlockRef RowSlot::Get() const {
  Lock();
  RowBlockRef rows = rows_.lock();
  busy_.store(false, std::memory_order_release);
  return rows;
}

void RowSlot::Set(const RowBlockRef& rows) {
  std::weak_ptr<const RowBlock> old = rows;
  Lock();
  rows_.swap(old);
  busy_.store(false, std::memory_order_release);
  address_.store(rows.get(), std::memory_order_relaxed);
}

void RowSlot::Prefetch() const {
  const auto address = reinterpret_cast<uintptr_t>(address_.load(std::memory_order_relaxed));
  if (address == 0) return;
  // The counts of references stand before the object.
  constexpr uintptr_t kCountsBytes = 16, kLine = 64;
  for (uintptr_t at = address - kCountsBytes; at < address + sizeof(RowBlock); at += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(at));
  }
}

void RowSlot::Lock() const {
  while (busy_.exchange(true, std::memory_order_acquire)) {
  }
}

Result<StoreFile::Parts::Rows*> StoreFile::Parts::LoadRows() {
  return rows.Get([this]() -> Result<Rows> {
    ASSIGN_OR_RETURN(BlockIndex index,
                     BlockIndex::Load(blocks, Section(SectionKind::kBlockIndex, family.value),
                                      Section(SectionKind::kData, family.value), statistics.rows));
    const uint32_t count = index.size();
    return Rows{std::move(index), std::make_unique<RowSlot[]>(count)};
  });
}

Result<uint32_t> StoreFile::BlockCount() {
  ASSIGN_OR_RETURN(const Parts::Rows* rows, parts_->LoadRows());
  return rows->index.size();
}

DataBlock StoreFile::BlockAt(uint32_t block) const {
  return parts_->rows.loaded()->index.At(block);
}

uint32_t StoreFile::BlockOf(Ordinal ordinal, uint32_t hint) const {
  return parts_->rows.loaded()->index.BlockOf(ordinal, hint);
}

uint32_t StoreFile::BlockOfKey(std::string_view key, uint32_t hint) const {
  return parts_->rows.loaded()->index.Find(key, hint);
}

Result<RowBlockRef> StoreFile::DecodeRows(uint32_t block, std::string_view stored) const {
  ASSIGN_OR_RETURN(const Parts::Rows* file_rows, parts_->LoadRows());
  const BlockFile& file = parts_->blocks;
  const DataBlock place = file_rows->index.At(block);
  const uint64_t offset = place.handle.offset;
  if (stored.size() != place.handle.stored_bytes) {
    return file.Corrupt(offset,
                        Mismatch("bytes of block", place.handle.stored_bytes, stored.size()));
  }
  ASSIGN_OR_RETURN(RowBlockRef rows,
                   RowBlock::Decode(file.PlaceAt(offset), parts_->family, stored));
  if (rows->first() != place.first) {
    return file.Corrupt(offset, Mismatch("first row of block", place.first, rows->first()));
  }
  if (rows->row_count() != place.count) {
    return file.Corrupt(offset, Mismatch("rows of block", place.count, rows->row_count()));
  }
  return rows;
}

Result<RowBlockRef> StoreFile::AdmitRows(uint32_t block, std::string_view stored) {
  ASSIGN_OR_RETURN(RowBlockRef rows, DecodeRows(block, stored));
  BlockCache* const cache = parts_->blocks.cache();
  if (cache == nullptr) return rows;
  auto kept = std::dynamic_pointer_cast<const RowBlock>(
      cache->Insert(number(), BlockAt(block).handle.offset, rows));
  if (kept == nullptr) return rows;
  parts_->rows.loaded()->slots[block].Set(kept);
  return kept;
}

Result<RowBlockRef> StoreFile::ReadRows(uint32_t block) {
  ASSIGN_OR_RETURN(const Parts::Rows* rows, parts_->LoadRows());
  if (RowBlockRef cached = CachedRows(block); cached != nullptr) return cached;
  const BlockHandle handle = rows->index.At(block).handle;
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, parts_->blocks.ReadStored(handle));
  return AdmitRows(block, {stored.get(), handle.stored_bytes});
}

RowBlockRef StoreFile::CachedRows(uint32_t block) {
  Parts::Rows& rows = *parts_->rows.loaded();
  if (RowBlockRef found = rows.slots[block].Get(); found != nullptr) {
    found->used.store(true, std::memory_order_relaxed);
    return found;
  }
  auto found =
      std::dynamic_pointer_cast<const RowBlock>(parts_->blocks.Cached(rows.index.At(block).handle));
  if (found != nullptr) rows.slots[block].Set(found);
  return found;
}

void StoreFile::PrefetchRows(uint32_t block) const {
  parts_->rows.loaded()->slots[block].Prefetch();
}

Result<RowBlockRef> StoreFile::ReadRowsUncached(uint32_t block) {
  ASSIGN_OR_RETURN(const Parts::Rows* rows, parts_->LoadRows());
  const BlockHandle handle = rows->index.At(block).handle;
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, parts_->blocks.ReadStored(handle));
  return DecodeRows(block, {stored.get(), handle.stored_bytes});
}

Result<uint32_t> StoreFile::LowerBound(std::string_view key) {
  ASSIGN_OR_RETURN(const Parts::Rows* file_rows, parts_->LoadRows());
  ASSIGN_OR_RETURN(const RowBlockRef rows, ReadRows(file_rows->index.Find(key)));
  return rows->first() + rows->LowerBound(key);
}

Result<std::optional<Ordinal>> StoreFile::FindByHash(std::string_view key, uint64_t hash) {
  ASSIGN_OR_RETURN(const Parts::Rows* rows, parts_->LoadRows());
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, KeyHashes());
  const uint32_t place = rows->index.Find(key);
  rows->slots[place].Prefetch();  // Whoever finds the row mostly reads it.
  const DataBlock block = rows->index.At(place);
  const size_t at = FindHash(hashes.subspan(block.first, block.count), hash);
  if (at == block.count) return std::optional<Ordinal>();
  return std::optional(Ordinal(block.first + static_cast<uint32_t>(at)));
}

}  // namespace tandem::format

// Reading the blocks of one file, through the cache or bypassing it.
#include "format/block/block_file.h"

#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "format/corruption.h"

namespace tandem::format {

BlockFile::BlockFile(std::unique_ptr<base::File> file, FileNumber number, FileId id,
                     BlockCache* cache)
    : file_(std::move(file)),
      name_(std::make_shared<const std::string>(file_->name())),
      number_(number),
      id_(id),
      cache_(cache) {}

Result<BlockRef> BlockFile::Read(BlockHandle handle, BlockKind expected) const {
  if (BlockRef block = Cached(handle); block != nullptr) {
    if (block->kind == expected) return block;
    return Corrupt(handle.offset, Mismatch("kind of block", static_cast<uint64_t>(expected),
                                           static_cast<uint64_t>(block->kind)));
  }
  ASSIGN_OR_RETURN(BlockRef block, ReadAt(KeptPlaceAt(handle.offset), handle, expected));
  return Keep(handle, std::move(block));
}

BlockRef BlockFile::Cached(BlockHandle handle) const {
  return cache_ == nullptr ? nullptr : cache_->Find(number_, handle.offset);
}

Result<BlockRef> BlockFile::ReadUncached(BlockHandle handle, BlockKind expected) const {
  if (known_.Hold(handle.offset, handle.stored_bytes)) {
    RETURN_IF_ERROR(CheckHandle(handle));
    return DecodeBlock(PlaceAt(handle.offset), expected,
                       known_.At(handle.offset, handle.stored_bytes));
  }
  return ReadAt(PlaceAt(handle.offset), handle, expected);
}

Result<BlockRef> BlockFile::ReadAt(const BlockPlace& place, BlockHandle handle,
                                   BlockKind expected) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, ReadStored(handle));
  return DecodeBlock(place, expected, {stored.get(), handle.stored_bytes});
}

Status BlockFile::CheckHandle(BlockHandle handle) const {
  if (handle.stored_bytes < kBlockHeaderBytes ||
      handle.stored_bytes > kBlockHeaderBytes + kBlockStoredBytesMax) {
    return Corrupt(handle.offset, "size of block, " + std::to_string(handle.stored_bytes) +
                                      ", is outside its limits");
  }
  if (handle.offset % kBlockAlignment != 0) {
    return Corrupt(handle.offset, "offset of block is no multiple of 8");
  }
  // No file is that large, and the system would return an error instead of 0 bytes.
  if (handle.offset > std::numeric_limits<int64_t>::max() - uint64_t{handle.stored_bytes}) {
    return Corrupt(handle.offset, "offset of block is past the end of every file");
  }
  return {};
}

Result<std::unique_ptr<char[]>> BlockFile::ReadStored(BlockHandle handle) const {
  RETURN_IF_ERROR(CheckHandle(handle));
  auto buffer = std::make_unique_for_overwrite<char[]>(handle.stored_bytes);
  ASSIGN_OR_RETURN(const size_t size,
                   file_->Read(handle.offset, {buffer.get(), handle.stored_bytes}));
  if (size != handle.stored_bytes) {
    return Corrupt(handle.offset, Mismatch("bytes of block", handle.stored_bytes, size));
  }
  return buffer;
}

base::MemoryCharge BlockFile::Charge(base::MemoryPart part, uint64_t bytes) const {
  if (cache_ == nullptr) return {};
  return cache_->Charge(part, bytes);
}

Status BlockFile::Corrupt(uint64_t offset, std::string_view what) const {
  return CorruptionAt(*name_, offset, what);
}

BlockRef BlockFile::Keep(BlockHandle handle, BlockRef block) const {
  if (cache_ == nullptr) return block;
  return cache_->Insert(number_, handle.offset, std::move(block));
}

}  // namespace tandem::format

// Blocks of key hashes are not compressed and all but the last are full, so the offset of each
// follows from its number.
#include "store_file/key_hashes_reader.h"

#include <algorithm>
#include <bit>

#include "base/status_macros.h"
#include "format/block/block_codec.h"
#include "format/block/section_table.h"
#include "format/corruption.h"

namespace tandem::format {
namespace {

constexpr uint64_t kFullBlockBytes = kBlockHeaderBytes + kKeyHashesPerBlock * sizeof(uint64_t);
static_assert(kFullBlockBytes % kBlockAlignment == 0 && kBlockHeaderBytes % sizeof(uint64_t) == 0);
static_assert(std::endian::native == std::endian::little);

}  // namespace

Result<KeyHashesReader> KeyHashesReader::Open(StoreFile* file) {
  RETURN_IF_ERROR(file->KeyHashes().status());
  return KeyHashesReader(file);
}

KeyHashesReader::KeyHashesReader(StoreFile* file)
    : file_(file),
      all_(file->LoadedKeyHashes()),
      section_(FindSection(file->sections(), SectionKind::kKeyHashes)) {}

Result<std::span<const uint64_t>> KeyHashesReader::Read(uint32_t first, uint32_t count) {
  if (!all_.empty()) return all_.subspan(first, count);
  if (joined_.Holds(first, count)) return joined_.From(first).first(count);
  const uint32_t block = first / kKeyHashesPerBlock;
  if (!block_.Holds(first, 1)) {
    const Status status = Load(block);
    if (status.code() == StatusCode::kCorruption) return ReadAll(first, count);
    RETURN_IF_ERROR(status);
  }
  if (block_.Holds(first, count)) return block_.From(first).first(count);
  joined_ = {};
  const std::span<const uint64_t> begin = block_.From(first);
  joined_hashes_.assign(begin.begin(), begin.end());
  for (uint32_t next = block + 1; joined_hashes_.size() < count; ++next) {
    const Status status = Load(next);
    if (status.code() == StatusCode::kCorruption) return ReadAll(first, count);
    RETURN_IF_ERROR(status);
    const size_t wanted = std::min(block_.hashes.size(), count - joined_hashes_.size());
    joined_hashes_.insert(joined_hashes_.end(), block_.hashes.begin(),
                          block_.hashes.begin() + static_cast<ptrdiff_t>(wanted));
  }
  joined_ = {first, joined_hashes_};
  return joined_.hashes;
}

// The file may compute its hashes from the rows; otherwise this finds the same corruption.
Result<std::span<const uint64_t>> KeyHashesReader::ReadAll(uint32_t first, uint32_t count) {
  ASSIGN_OR_RETURN(all_, file_->AllKeyHashes());
  return all_.subspan(first, count);
}

// A block that was read is in the processor's caches already.
void KeyHashesReader::Prefetch(uint32_t first, uint32_t count) const {
  constexpr size_t kLineHashes = 64 / sizeof(uint64_t);
  if (all_.empty()) return;
  for (size_t i = 0; i < count; i += kLineHashes) __builtin_prefetch(&all_[first + i]);
  __builtin_prefetch(&all_[first + count - 1]);
}

Status KeyHashesReader::Load(uint32_t block) {
  const uint32_t first = block * kKeyHashesPerBlock;
  const uint32_t count = std::min(kKeyHashesPerBlock, file_->row_count() - first);
  const uint64_t bytes = kBlockHeaderBytes + count * sizeof(uint64_t);
  const uint64_t at = block * kFullBlockBytes;
  const BlockFile& blocks = file_->blocks();
  block_ = {};
  if (section_ == nullptr || at + bytes > section_->size_bytes) {
    return blocks.Corrupt(0, "section of key hashes is too short for its rows");
  }
  if (stored_ == nullptr) {
    charge_ = blocks.Charge(base::MemoryPart::kKeyHashes, kFullBlockBytes);
    stored_ = std::make_unique_for_overwrite<uint64_t[]>(kFullBlockBytes / sizeof(uint64_t));
  }
  char* const stored = reinterpret_cast<char*>(stored_.get());
  const uint64_t offset = section_->offset + at;
  ASSIGN_OR_RETURN(const size_t size, blocks.file().Read(offset, {stored, bytes}));
  if (size != bytes) return blocks.Corrupt(offset, Mismatch("bytes of block", bytes, size));
  ASSIGN_OR_RETURN(const PlainBlock found,
                   CheckPlainBlock(blocks.PlaceAt(offset), BlockKind::kKeyHashes, {stored, bytes}));
  if (found.first != first || found.count != count) {
    return blocks.Corrupt(offset, "block of key hashes breaks its layout");
  }
  block_ = {first, {stored_.get() + kBlockHeaderBytes / sizeof(uint64_t), count}};
  return {};
}

}  // namespace tandem::format

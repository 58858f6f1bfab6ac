// Blocks of key hashes are not compressed and all but the last are full, so the place of each
// follows from its number.
#include "format/key_hash_window.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/block_codec.h"
#include "format/byte_reader.h"
#include "format/corruption.h"
#include "format/find_section.h"

namespace tandem::format {
namespace {

constexpr uint64_t kFullBlockBytes = kBlockHeaderBytes + kKeyHashesPerBlock * sizeof(uint64_t);
static_assert(kFullBlockBytes % kBlockAlignment == 0);

}  // namespace

KeyHashWindow::KeyHashWindow(StoreFile* file) : file_(file), all_(file->LoadedKeyHashes()) {}

Result<std::span<const uint64_t>> KeyHashWindow::Read(uint32_t first, uint32_t count) {
  if (!all_.empty()) return all_.subspan(first, count);
  const uint64_t end = uint64_t{first_} + hashes_.size();
  uint32_t block = first / kKeyHashesPerBlock;
  if (first < first_ || first >= end) {
    hashes_.clear();
    first_ = block * kKeyHashesPerBlock;
  } else {
    hashes_.erase(hashes_.begin(), hashes_.begin() + (block * kKeyHashesPerBlock - first_));
    first_ = block * kKeyHashesPerBlock;
    block = static_cast<uint32_t>(end / kKeyHashesPerBlock);
  }
  while (first_ + hashes_.size() < uint64_t{first} + count) RETURN_IF_ERROR(AppendBlock(block++));
  return std::span<const uint64_t>(hashes_).subspan(first - first_, count);
}

Status KeyHashWindow::AppendBlock(uint32_t block) {
  const SectionEntry* section = FindSection(file_->sections(), SectionKind::kKeyHashes, 0);
  const uint32_t first = block * kKeyHashesPerBlock;
  const uint32_t count = std::min(kKeyHashesPerBlock, file_->row_count() - first);
  const uint64_t bytes = count * sizeof(uint64_t);
  const uint64_t at = block * kFullBlockBytes;
  if (section == nullptr || at + kBlockHeaderBytes + bytes > section->size_bytes) {
    return file_->blocks().Corrupt(0, "section of key hashes is too short for its rows");
  }
  const BlockHandle handle{section->offset + at, static_cast<uint32_t>(kBlockHeaderBytes + bytes)};
  ASSIGN_OR_RETURN(const BlockRef found,
                   file_->blocks().ReadUncached(handle, BlockKind::kKeyHashes));
  if (found->first != first || found->count != count || found->raw_bytes != bytes) {
    return found->Corrupt("block of key hashes breaks its layout");
  }
  const size_t held = hashes_.size();
  hashes_.resize(held + count);
  for (uint32_t i = 0; i < count; ++i) {
    hashes_[held + i] = LoadAt<uint64_t>(found->raw(), i * sizeof(uint64_t));
  }
  return {};
}

}  // namespace tandem::format

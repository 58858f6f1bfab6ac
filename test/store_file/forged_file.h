// Changing the bytes of a store file so that its checksums agree, and finding its blocks.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block_codec.h"
#include "format/block/footer.h"
#include "format/block/section_table.h"
#include "format/file_header.h"
#include "format/hash.h"
#include "test/store_file/store_files.h"

namespace tandem::test {

/// Writes the checksum that makes the block at `offset` right again.
inline void SealBlock(std::string* bytes, uint64_t offset) {
  uint32_t stored;
  std::memcpy(&stored, bytes->data() + offset + 8, sizeof(stored));
  if (stored > bytes->size() - offset - format::kBlockHeaderBytes) return;
  const std::string_view covered =
      std::string_view(*bytes).substr(offset + 8, format::kBlockHeaderBytes - 8 + stored);
  const uint64_t checksum = format::Hash64(covered, format::ChecksumSeed(kStoreFileId, offset));
  std::memcpy(bytes->data() + offset, &checksum, sizeof(checksum));
}

/// Where each block of the file lies, section tables included.
inline std::vector<format::BlockHandle> BlocksOf(const std::string& bytes) {
  std::vector<format::BlockHandle> blocks;
  uint64_t offset = format::kFileHeaderBytes;
  const auto skip_zeros = [&] {
    while (offset + 8 < bytes.size() - format::kFooterBytes &&
           bytes.compare(offset, 8, std::string(8, '\0')) == 0) {
      offset += 8;
    }
  };
  for (skip_zeros(); offset < bytes.size() - format::kFooterBytes; skip_zeros()) {
    uint32_t stored;
    std::memcpy(&stored, bytes.data() + offset + 8, sizeof(stored));
    blocks.push_back({offset, static_cast<uint32_t>(stored + format::kBlockHeaderBytes)});
    offset = format::AlignUp(offset + stored + format::kBlockHeaderBytes, 8);
  }
  return blocks;
}

inline bool IsRefusal(const Status& status) {
  return status.code() == StatusCode::kCorruption || status.code() == StatusCode::kUnsupported;
}

}  // namespace tandem::test

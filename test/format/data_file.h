// A file in memory whose only section holds data blocks that a test writes one by one, for wide
// rows and overflow values; reads are counted, and blocks can be forged with their checksums made
// right.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/block/block_codec.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/byte_reader.h"
#include "format/hash.h"
#include "format/row/row_block.h"
#include "test/support/forwarding_file.h"
#include "tools/simulation/memory_file.h"

namespace tandem::test {

inline constexpr format::FileId kDataFileId{{9, 8, 7, 6, 5, 4, 3, 2, 1}};

/// Lifetime: what `out` has is in `bytes` after Close; `blocks` reads it.
struct DataFile {
  DataFile() : out(&memory, kDataFileId, 64) {
    (void)out.Begin(format::SectionKind::kData, 0).ok();
  }
  /// Ends the section and opens what was written.
  void Close() {
    (void)out.End(0).ok();
    (void)out.Flush().ok();
    bytes = memory.bytes();
    Open();
  }
  /// Opens `bytes`, as they are now.
  void Open() {
    blocks = std::make_unique<format::BlockFile>(
        std::make_unique<CountingFile>(std::make_unique<MemoryFile>(bytes), &reads),
        format::FileNumber(7), kDataFileId, nullptr);
  }
  Result<format::RowBlockRef> Rows(format::BlockHandle handle) {
    auto stored = blocks->ReadStored(handle);
    if (!stored.has_value()) return stored.error();
    return format::RowBlock::Decode(blocks->PlaceAt(handle.offset), format::FamilyId(0),
                                    {stored->get(), handle.stored_bytes});
  }
  /// Replaces the block at `handle`, which is not compressed, after `change` had its content:
  /// header fields (without checksum and sizes) and raw bytes, whose size stays. Call Open then.
  void Forge(format::BlockHandle handle,
             const std::function<void(format::BlockContent*, std::string*)>& change) {
    using format::LoadAt;
    const std::string stored = bytes.substr(handle.offset, handle.stored_bytes);
    std::string raw = stored.substr(format::kBlockHeaderBytes);
    format::BlockContent content;
    content.kind = static_cast<format::BlockKind>(stored[16]);
    content.flags = LoadAt<uint16_t>(stored, 18);
    content.count = LoadAt<uint32_t>(stored, 20);
    content.first = LoadAt<uint32_t>(stored, 24);
    change(&content, &raw);
    content.raw = raw;
    std::string scratch, forged;
    AppendBlock(content, format::ChecksumSeed(kDataFileId, handle.offset), &scratch, &forged);
    bytes.replace(handle.offset, forged.size(), forged);
  }

  MemoryFile memory;
  format::SectionWriter out;
  std::string bytes;
  std::unique_ptr<format::BlockFile> blocks;
  uint64_t reads = 0;
};

}  // namespace tandem::test

// Blocks: the unit of checksums, compression, reads and caching. A section is a sequence of blocks.
//
// Block header, 32 bytes, little-endian, at a multiple of 8 of the file:
//   OFFSET SIZE FIELD        MEANING
//        0    8 checksum     XXH3-64 of bytes 8 up to the payload's end, seeded by ChecksumSeed
//        8    4 stored size  bytes of the payload as stored, at most 16 MiB + 64 KiB
//       12    4 raw size     bytes of the payload decompressed, at most 16 MiB
//       16    1 kind         BlockKind
//       17    1 codec        0 none, 1 zstd
//       18    2 flags        by kind
//       20    4 count        by kind: rows, entries, ...
//       24    4 first        by kind: first ordinal or position, ...
//       28    4 zero         must be 0
// The payload follows; zeros pad it to the next multiple of 8.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/block_pool.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kBlockHeaderBytes = 32;
inline constexpr size_t kBlockAlignment = 8;
inline constexpr uint32_t kBlockRawBytesMax = 16 * 1024 * 1024;

/// Numbers are on disk. 18 to 21 (dead bitmaps, covering columns, value filters) are reserved.
enum class BlockKind : uint8_t {
  kRows = 1,
  kChunk = 2,     ///< Cells of a wide row (format/row/wide_row.h).
  kWideHead = 3,  ///< Where a wide row's reader starts.
  kValue = 4,     ///< A piece of an overflow value (format/cell/overflow_value.h).
  kBlockIndex = 5,
  kBlockIndexTop = 6,  ///< Leads to the pieces of a block index.
  kDictionary = 7,
  kKeyHashes = 8,
  kBitmap = 9,
  kFilter = 10,
  kIndexLeaf = 11,
  kIndexDirectory = 12,
  kPostings = 13,
  kSchema = 14,
  kStatistics = 15,
  kDigests = 16,
  kSectionTable = 17,
};

/// The location of a block; `stored_bytes` includes the header but not the padding.
struct BlockHandle {
  uint64_t offset = 0;
  uint32_t stored_bytes = 0;
  bool operator==(const BlockHandle&) const = default;
};

/// Where the next block starts, unless it has a larger alignment.
inline uint64_t BlockEnd(const BlockHandle& handle) {
  constexpr uint64_t kMask = kBlockAlignment - 1;
  return (handle.offset + handle.stored_bytes + kMask) & ~kMask;
}

/// A block in memory: checksum verified, decompressed. Row blocks derive from it, so that the cache
/// holds them ready for use.
struct Block {
  virtual ~Block() = default;

  BlockKind kind{};
  uint16_t flags = 0;
  uint32_t count = 0;
  uint32_t first = 0;
  uint32_t raw_bytes = 0;
  base::BlockMemory data;
  std::shared_ptr<const std::string> file_name;  ///< Where it came from, for messages.
  uint64_t offset = 0;
  /// Number of lookups, for the cache; saturates at kUsesMax. Relaxed: a hint that orders nothing.
  mutable std::atomic<uint8_t> uses{0};
  static constexpr uint8_t kUsesMax = 3;
  void CountUse() const {
    const uint8_t before = uses.load(std::memory_order_relaxed);
    if (before < kUsesMax) uses.store(before + 1, std::memory_order_relaxed);
  }

  std::string_view raw() const { return {data.get(), raw_bytes}; }
  /// A kCorruption that names the file, the block's offset and what is wrong with its content.
  Status Corrupt(std::string_view what) const;
};
/// Pins the block: it lives as long as someone holds a reference.
using BlockRef = std::shared_ptr<const Block>;

}  // namespace tandem::format

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

/// Numbers are on disk. 20 and 21 (dead bitmaps, value filters) are reserved.
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
  kIndexRecords = 18,
  kIndexRecordDirectory = 19,
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

class BlockSlot;

/// A block in memory: checksum verified, decompressed. Row blocks derive from it, so that the cache
/// holds them ready for use.
struct Block {
  virtual ~Block();

  BlockKind kind{};
  uint16_t flags = 0;
  uint32_t count = 0;
  uint32_t first = 0;
  uint32_t raw_bytes = 0;
  base::BlockMemory data;
  std::shared_ptr<const std::string> file_name;  ///< Where it came from, for messages.
  uint64_t offset = 0;
  /// The first slot that remembered the block, which forgets it when it ends: a weak reference that
  /// stayed would keep this object's memory, for every block that was ever read.
  mutable std::shared_ptr<BlockSlot> slot;
  mutable std::atomic<bool> has_slot{false};
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

/// A weak reference to a block at the place that leads to it. It finds a cached block without
/// searching a table, while only the cache decides how long the block lives. A spin bit guards it,
/// which is held for a few instructions and never across a wait. Threads: any.
class BlockSlot {
 public:
  /// nullptr when the block is gone.
  BlockRef Get() const {
    Lock();
    BlockRef block = block_.lock();
    Unlock();
    return block;
  }
  /// Makes `slot` refer to `block` until it ends.
  static void Set(const std::shared_ptr<BlockSlot>& slot, const BlockRef& block);
  /// Drops the reference if it is to `block`, which ends.
  void Forget(const Block* block);

 protected:
  /// Of the block when it was set: only to prefetch, never dereferenced. nullptr: it is gone.
  const void* address() const { return address_.load(std::memory_order_relaxed); }

 private:
  void Lock() const {
    if (busy_.exchange(true, std::memory_order_acquire)) Wait();
  }
  void Wait() const;
  void Unlock() const { busy_.store(false, std::memory_order_release); }

  mutable std::atomic<bool> busy_{false};      // Acquired by Lock, released by a plain store.
  std::weak_ptr<const Block> block_;           // Guarded by busy_.
  std::atomic<const void*> address_{nullptr};  // Relaxed.
};

}  // namespace tandem::format

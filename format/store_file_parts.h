// What a StoreFile consists of. Only the store_file*.cc files include this.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/bloom_filter.h"
#include "format/footer.h"
#include "format/once_loaded.h"
#include "format/store_file.h"

namespace tandem::format {

/// Knows the row block of one entry of the block index for as long as somebody else keeps it. A
/// spin bit guards it: it is held for a few instructions and never while anything is waited for.
/// Threads: any.
class RowSlot {
 public:
  /// nullptr when the block is gone.
  RowBlockRef Get() const;
  void Set(const RowBlockRef& rows);
  /// Has the processor fetch the block's object, if it is still there.
  void Prefetch() const;

 private:
  void Lock() const;

  mutable std::atomic<bool> busy_{false};  // Acquired by Lock, released by a plain store.
  std::weak_ptr<const RowBlock> rows_;     // Guarded by busy_.
  // Where the block was when it was set: to prefetch from, never to be followed. Relaxed.
  std::atomic<const void*> address_{nullptr};
};

/// Everything up to `sections` is set by Open and never changes; the rest is loaded on first use.
struct StoreFile::Parts {
  explicit Parts(BlockFile block_file) : blocks(std::move(block_file)) {}

  BlockFile blocks;
  uint64_t size_bytes = 0;
  uint32_t alignment = 0;
  Footer footer;
  TableRecord table;
  std::string region_start;
  FileStatistics statistics;
  FamilyId family;
  std::vector<SectionEntry> sections;

  struct Rows {
    BlockIndex index;
    std::unique_ptr<RowSlot[]> slots;  ///< One an entry of the index.
  };
  OnceLoaded<Rows> rows;
  OnceLoaded<Dictionary> names;
  OnceLoaded<std::vector<uint64_t>> key_hashes;
  OnceLoaded<Bitmap> clean_rows;
  OnceLoaded<BloomFilter> filter;
  /// One for each index of the table; the map itself never changes after Open.
  std::map<IndexId, OnceLoaded<std::unique_ptr<IndexSection>>> indexes;

  Result<Rows*> LoadRows();
  Result<std::unique_ptr<IndexSection>> OpenIndex(IndexId index) const;
  /// The section of that kind, which Open found to be there.
  const SectionEntry& Section(SectionKind kind, uint32_t owner = 0) const;
};

}  // namespace tandem::format

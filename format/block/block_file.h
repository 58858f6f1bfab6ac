// Reading the blocks of one file: one read, checksum, decompression, cache.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/memory_account.h"
#include "format/block/block.h"
#include "format/block/block_cache.h"
#include "format/block/block_codec.h"
#include "format/file_window.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: any.
class BlockFile {
 public:
  /// `cache` may be null, for no caching. It must outlive this object.
  BlockFile(std::unique_ptr<base::File> file, FileNumber number, FileId id, BlockCache* cache);

  /// The block at `handle`, from the cache or the file. Errors: kIoError; kCorruption with file,
  /// offset, expected and found (bounds, checksum, kind, sizes, decompression).
  Result<BlockRef> Read(BlockHandle handle, BlockKind expected) const;
  /// The block when it is cached, else nullptr. No I/O.
  BlockRef Cached(BlockHandle handle) const;
  /// As Read, but does not use the cache: for scans of whole files.
  Result<BlockRef> ReadUncached(BlockHandle handle, BlockKind expected) const;

  /// The handle.stored_bytes bytes of a block as stored, bypassing the cache. Errors: kIoError,
  /// kCorruption (bounds).
  Result<std::unique_ptr<char[]>> ReadStored(BlockHandle handle) const;

  /// Bytes that the caller has read. ReadUncached and sequential readers use them, until they are
  /// replaced. Threads: one, while there are any. Lifetime: `known` outlives that.
  void set_known(const KnownBytes& known) { known_ = known; }
  const KnownBytes& known() const { return known_; }

  base::File& file() const { return *file_; }
  FileNumber number() const { return number_; }
  const FileId& id() const { return id_; }
  /// nullptr: no caching.
  BlockCache* cache() const { return cache_; }
  /// Charges `bytes` that are kept in memory for this file; the cache makes room for them.
  base::MemoryCharge Charge(base::MemoryPart part, uint64_t bytes) const;
  /// Whether `bytes` more of `part` may stay in memory (BlockCache::Fits). Without a cache, always.
  bool Fits(base::MemoryPart part, uint64_t bytes) const {
    return cache_ == nullptr || cache_->Fits(part, bytes);
  }
  /// The location of a block at `offset`, for its decoder.
  BlockPlace PlaceAt(uint64_t offset) const {
    return {name_, id_, offset, nullptr, first_sequence_};
  }
  /// The same for a block that stays in memory.
  BlockPlace KeptPlaceAt(uint64_t offset) const {
    return {name_, id_, offset, cache_ == nullptr ? nullptr : &cache_->pool(), first_sequence_};
  }
  /// What is added to the sequences that its cells are stored with (kIncompatibleOneSequence).
  uint64_t first_sequence() const { return first_sequence_; }
  /// Requires: no cell was read yet.
  void set_first_sequence(uint64_t sequence) { first_sequence_ = sequence; }
  /// A kCorruption that names this file and `offset`.
  Status Corrupt(uint64_t offset, std::string_view what) const;

 private:
  Status CheckHandle(BlockHandle handle) const;
  Result<BlockRef> ReadAt(const BlockPlace& place, BlockHandle handle, BlockKind expected) const;
  BlockRef Keep(BlockHandle handle, BlockRef block) const;

  std::unique_ptr<base::File> file_;
  std::shared_ptr<const std::string> name_;
  FileNumber number_;
  FileId id_;
  BlockCache* cache_;
  uint64_t first_sequence_ = 0;
  KnownBytes known_;
};

}  // namespace tandem::format

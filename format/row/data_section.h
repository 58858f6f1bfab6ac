// The cells of one family of a store file: its own positions, row blocks, block index and names.
//
// The rows of a file, over all families, are its ordinals 0..n-1. A family that some rows lack
// numbers the rows that it has 0..m-1, its positions: a presence bitmap with ranks maps ordinals to
// positions and back. Every family's blocks hold the keys of their rows. The key carrier of a file
// is its lowest family with m = n; if there is none, blocks of rows without cells (owner
// kKeysOwner) hold the keys.
//
// The blocks of all families are in the file's one data section, in extents: the finished blocks of
// a family wait until they reach kExtentBytes and are written together. So a file is written front
// to back in bounded memory, and a scan of one family still reads large contiguous pieces. Within a
// family offsets ascend with positions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/memory_account.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/cell/dictionary.h"
#include "format/row/block_index.h"
#include "format/row/presence.h"
#include "format/row/row_block.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kExtentBytes = 1 << 20;

/// The sections that a DataSection is loaded from.
struct DataPlaces {
  const SectionEntry* data = nullptr;      ///< The data section of the file.
  const SectionEntry* index = nullptr;     ///< The family's block index.
  const SectionEntry* top = nullptr;       ///< Its top; nullptr: it has none.
  const SectionEntry* names = nullptr;     ///< Its dictionary; nullptr for kKeysOwner.
  const SectionEntry* presence = nullptr;  ///< nullptr: every row has cells of it.
};

/// Made by StoreFile, with the top of the block index, the presence bitmap and the names loaded.
/// Threads: any. Lifetime: that of its file.
class DataSection {
 public:
  DataSection(DataSection&&) noexcept;
  ~DataSection();
  /// Reads the sections of `family` (kKeysOwner: of the keys) in a file of `file_rows` rows.
  /// Errors: kCorruption, kIoError. Lifetime: `file` outlives the result.
  static Result<DataSection> Load(const BlockFile& file, const DataPlaces& places, FamilyId family,
                                  uint32_t file_rows);

  FamilyId family() const { return family_; }
  const BlockFile& blocks() const { return *file_; }
  /// Empty for kKeysOwner, whose rows have no cells.
  const Dictionary& names() const { return names_; }
  uint32_t row_count() const { return row_count_; }  ///< m, its positions.
  bool is_full() const { return presence_ == nullptr; }

  /// Whether row `ordinal` has cells of the family. Requires: ordinal < rows of the file.
  bool Has(uint32_t ordinal) const { return presence_ == nullptr || presence_->Has(ordinal); }
  /// The number of its rows with smaller ordinals, which is the row's position if Has(ordinal).
  /// Requires: ordinal <= rows of the file.
  uint32_t RankOf(uint32_t ordinal) const {
    return presence_ == nullptr ? ordinal : presence_->RankOf(ordinal);
  }
  /// Requires: position < row_count().
  uint32_t OrdinalOf(uint32_t position) const {
    return presence_ == nullptr ? position : presence_->OrdinalOf(position);
  }

  uint32_t block_count() const { return index_.size(); }
  /// Requires: block < block_count(). Errors: kCorruption, kIoError, when a piece of the block
  /// index must be read; the same for everything below that takes the number of a block, a position
  /// or a key.
  Result<DataBlock> BlockAt(uint32_t block) const { return index_.At(block); }
  /// The block that holds `position`; `hint` is a block near it, before it if possible.
  Result<uint32_t> BlockOf(uint32_t position, uint32_t hint = 0) const {
    return index_.BlockOf(position, hint);
  }
  /// The only block that may hold `key` (BlockIndex::Find).
  Result<uint32_t> BlockOfKey(std::string_view key) const { return index_.Find(key); }
  /// The same, galloping from `hint`, a block at or before it.
  Result<uint32_t> BlockOfKey(std::string_view key, uint32_t hint) const {
    return index_.Find(key, hint);
  }
  /// Sets `*separator`: BlockOfKey is `block` for this key, and less for every smaller key.
  /// Requires: 0 < block < block_count().
  Status SeparatorOf(uint32_t block, std::string* separator) const {
    return index_.Separator(block, separator);
  }
  /// Keeps the block index entries of all blocks, as far as they fit in memory.
  Status LoadBlocks() const { return index_.LoadBlocks(0, index_.size()); }
  /// The stored bytes of the blocks [first, end).
  Result<uint64_t> BytesOfBlocks(uint32_t first, uint32_t end) const {
    return index_.DataBytes(first, end);
  }
  /// For callers that load many of its pieces at once.
  const BlockIndex& index() const { return index_; }

  /// The parsed rows of a block, read or from the cache. Errors: kCorruption, kIoError.
  Result<RowBlockRef> ReadRows(uint32_t block) const;
  Result<RowBlockRef> ReadRows(const DataBlock& block) const;
  /// The same for bytes that the caller read, all of the block's handle. Puts the block into the
  /// cache.
  Result<RowBlockRef> AdmitRows(const DataBlock& block, std::string_view stored) const;
  /// The same without putting the block into the cache.
  Result<RowBlockRef> DecodeRows(const DataBlock& block, std::string_view stored) const;
  /// nullptr without I/O when the block is not cached.
  RowBlockRef CachedRows(const DataBlock& block) const;
  /// The same without a cache lookup, and without counting as a use: nullptr also when nobody has
  /// read the block through this object, or its piece of the block index is not kept.
  RowBlockRef RememberedRows(uint32_t block) const;
  /// The same, as a use.
  RowBlockRef UsedRows(uint32_t block) const;
  /// Prefetches the object that RememberedRows will return into the processor's cache.
  void PrefetchRows(uint32_t block) const;
  /// Prefetches the slot of one of the `count` rows of the block.
  void PrefetchSlot(uint32_t block, uint32_t count, uint32_t slot) const {
    if (const RowSlot* rows = index_.SlotOf(block); rows != nullptr)
      rows->PrefetchSlot(count, slot);
  }
  /// As ReadRows, but bypassing the cache.
  Result<RowBlockRef> ReadRowsUncached(const DataBlock& block) const;

 private:
  Result<RowBlockRef> DecodeRowsAt(const BlockPlace& where, const DataBlock& block,
                                   std::string_view stored) const;
  DataSection() = default;

  FamilyId family_;
  const BlockFile* file_ = nullptr;
  uint32_t row_count_ = 0;
  BlockIndex index_;
  std::unique_ptr<const Presence> presence_;
  Dictionary names_;
  std::array<base::MemoryCharge, 3> charges_;
};

}  // namespace tandem::format

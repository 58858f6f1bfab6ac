// The in-memory block index of a family: its top, and its pieces as they are needed. The byte
// tables are in block_index_writer.h.
//
// Opening reads only the top. A piece is read and checked against the top when it is first needed.
// If it fits in its share of memory (BlockCache::Fits), it is kept: searches find it without a
// lock, and it remembers the row blocks that it leads to. Otherwise it is a block of the block
// cache, which may evict it; a search pins it while it looks at it. An index without a top (it has
// one piece, its top would exceed 16 MiB, or an older version wrote it) is loaded whole, and a top
// is built from its pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_account.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/lazy.h"
#include "format/row/block_index_table.h"
#include "format/row/row_block.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// A row block, as its block index describes it.
struct DataBlock {
  BlockHandle handle;
  uint32_t first = 0;   ///< Position of its first row.
  uint32_t count = 0;   ///< Rows.
  uint32_t number = 0;  ///< Among the blocks of its family.
};

/// A piece of a block index in memory, checked against the top.
struct IndexPiece {
  IndexTable table;
  uint32_t first_block = 0;  ///< Number of the block of its first entry.
  uint32_t end = 0;          ///< The position after the last row.

  /// Requires, as the next one: the block is in the piece.
  DataBlock At(uint32_t block) const {
    const uint32_t entry = block - first_block;
    const uint32_t first = table.FirstOf(entry);
    const uint32_t after = entry + 1 < table.count() ? table.FirstOf(entry + 1) : end;
    return {table.HandleOf(entry), first, after - first, block};
  }
  /// The block that holds `position`; costs little if it is `hint` or the one after it. Any `hint`
  /// before the piece is as good as none.
  uint32_t BlockOf(uint32_t position, uint32_t hint) const {
    const uint32_t low = hint < first_block ? 0 : hint - first_block;
    return first_block + table.EntryOf(position, low, end);
  }
};
/// A piece as a block, for the cache.
struct IndexPieceBlock final : Block {
  IndexPiece piece;  ///< Views the block.
};
/// Pins a piece, unless its index keeps it.
using IndexPieceRef = std::shared_ptr<const IndexPiece>;

/// The sections that a BlockIndex is opened from.
struct IndexPlaces {
  const SectionEntry* index = nullptr;
  const SectionEntry* top = nullptr;   ///< nullptr: the index is loaded whole.
  const SectionEntry* data = nullptr;  ///< The section with the row blocks.
};

/// Threads: any. Searches in kept pieces take no lock; if several threads load a piece at once, one
/// wins. Lifetime: what is returned by value needs no piece.
class BlockIndex {
 public:
  BlockIndex() = default;
  /// Opens the index of a family with `row_count` rows. Errors: kIoError; kCorruption when the top
  /// contradicts itself or the section table, or, without a top, when a piece is bad.
  /// Lifetime: `file` outlives the result.
  static Result<BlockIndex> Open(const BlockFile& file, const IndexPlaces& places,
                                 uint32_t row_count);

  uint32_t size() const { return size_; }  ///< Blocks.
  /// Memory without the pieces, which are charged as they are kept.
  uint64_t memory_bytes() const;

  /// Requires: block < size(). Errors: kCorruption, kIoError, when its piece has to be read.
  Result<DataBlock> At(uint32_t block) const {
    if (const Kept* kept = KeptWith(block); kept != nullptr) return kept->piece.At(block);
    return AtSlowly(block);
  }
  /// The slot that remembers the parsed rows of a block; nullptr: its piece is not kept. Requires:
  /// as At.
  RowSlot* SlotOf(uint32_t block) const {
    const Kept* kept = KeptWith(block);
    return kept == nullptr ? nullptr : &kept->slots[block & mask()];
  }
  std::shared_ptr<RowSlot> SharedSlotOf(uint32_t block) const {
    const Kept* kept = KeptWith(block);
    if (kept == nullptr) return nullptr;
    return std::shared_ptr<RowSlot>(kept->slots, &kept->slots[block & mask()]);
  }

  /// The block that holds `position`. Costs little if it is `hint` or the one after it, or if the
  /// blocks have about as many rows each. Requires: position < row_count, hint < size(). Errors, of
  /// all that look into a piece: kCorruption, kIoError.
  Result<uint32_t> BlockOf(uint32_t position, uint32_t hint) const;
  /// The only block that may hold `key`; if it does not, `key` sorts before its first row (block 0
  /// only), within it, or directly after its last row.
  Result<uint32_t> Find(std::string_view key) const;
  /// The same, galloping from `hint`, a block at or before it; any other hint costs an extra
  /// search. Requires: hint < size().
  Result<uint32_t> Find(std::string_view key, uint32_t hint) const;
  /// Sets `*separator` to the separator of the block: greater than every key of the block before,
  /// not greater than the first key of this one. Reads nothing for the first block of a piece.
  /// Requires: block < size().
  Status Separator(uint32_t block, std::string* separator) const;
  /// Keeps the pieces of the blocks [first, end) that fit. Reads adjacent ones with large reads.
  Status LoadBlocks(uint32_t first, uint32_t end) const;

  // Pieces, for callers that read many of them.
  uint32_t piece_count() const { return top_.count(); }
  /// nullptr: it is not kept. Lifetime, here and of references that pin nothing: that of the index.
  const IndexPiece* KeptPiece(uint32_t piece) const {
    const Kept* kept = pieces_[piece].loaded();
    return kept == nullptr ? nullptr : &kept->piece;
  }
  bool HasPiece(uint32_t piece) const { return pieces_[piece].loaded() != nullptr; }
  /// Whether a piece that takes so many bytes in the file would be kept now.
  bool Fits(uint64_t stored_bytes) const;
  /// The piece if the block cache has it, without I/O; else nullptr.
  IndexPieceRef CachedPiece(uint32_t piece) const;
  /// The piece that contains `position`, galloping from `hint`, a piece at or before it.
  uint32_t PieceOf(uint32_t position, uint32_t hint) const;
  uint32_t PieceWith(uint32_t block) const { return block >> bits_; }
  /// The position after the last row of a piece.
  uint32_t EndOfPiece(uint32_t piece) const { return firsts_[piece + 1]; }
  BlockHandle PlaceOfPiece(uint32_t piece) const { return top_.HandleOf(piece); }
  uint32_t FirstBlockOf(uint32_t piece) const { return piece << bits_; }
  /// The stored bytes of the blocks before those of `piece`. Requires: piece <= piece_count().
  uint64_t DataBytesBefore(uint32_t piece) const { return piece == 0 ? 0 : data_bytes_[piece - 1]; }
  /// The stored bytes of the blocks [first, end).
  Result<uint64_t> DataBytes(uint32_t first, uint32_t end) const;
  /// Admits a piece from `stored`, read from the place of the piece: it is kept if it fits, else
  /// put into the block cache if `caches`. Errors: kCorruption when it is malformed or does not
  /// agree with the top.
  Result<IndexPieceRef> AdmitPiece(uint32_t piece, std::string_view stored, bool caches) const;
  /// The same without keeping or caching it.
  Result<IndexPieceRef> DecodePiece(uint32_t piece, std::string_view stored) const;

 private:
  using PieceBlock = std::shared_ptr<const IndexPieceBlock>;
  // The number of a row block gives the piece and the entry in it.
  struct Kept {
    IndexPiece piece;
    BlockRef block;                    // Holds its bytes.
    std::shared_ptr<RowSlot[]> slots;  // Shared with their row blocks.
    base::MemoryCharge charge;
  };
  static constexpr uint64_t kReadMax = 1 << 20;

  explicit BlockIndex(const BlockFile* file) : file_(file) {}
  Status ReadTop(const IndexPlaces& places, uint32_t row_count);
  Status CheckPlacesOfPieces(const SectionEntry& index) const;
  Status LoadWhole(const IndexPlaces& places, uint32_t row_count);
  Status SetTop(BlockRef top, const SectionEntry& data, uint32_t row_count);
  Result<PieceBlock> Decode(uint32_t piece, const BlockPlace& place, std::string_view stored) const;
  Status Check(uint32_t piece, IndexPieceBlock* block) const;
  Status CheckEntries(uint32_t piece, const Block& block, const IndexTable& table) const;
  IndexPieceRef Keep(uint32_t piece, const PieceBlock& block) const;
  IndexPieceRef Cache(uint32_t piece, PieceBlock block) const;
  PieceBlock Cached(uint32_t piece) const;
  Status LoadRun(uint32_t first, uint32_t end) const;
  Result<DataBlock> AtSlowly(uint32_t block) const;
  Result<uint64_t> DataBytesUpTo(uint32_t block) const;

  uint32_t mask() const { return (uint32_t{1} << bits_) - 1; }
  const Kept* KeptWith(uint32_t block) const { return pieces_[block >> bits_].loaded(); }
  // Calls `look` with the piece, which is kept or pinned meanwhile.
  template <typename Look>
  auto WithPiece(uint32_t piece, Look look) const
      -> Result<decltype(look(std::declval<const IndexPiece&>()))> {
    if (const Kept* kept = pieces_[piece].loaded(); kept != nullptr) return look(kept->piece);
    Result<IndexPieceRef> loaded = LoadSlowly(piece);
    if (!loaded) return loaded.error();
    return look(**loaded);
  }
  Result<IndexPieceRef> LoadSlowly(uint32_t piece) const;

  const BlockFile* file_ = nullptr;
  uint32_t size_ = 0;
  uint32_t bits_ = 0;  // A piece but the last has 2^bits_ entries.
  BlockRef top_block_;
  IndexTable top_;                      // Views top_block_.
  std::vector<uint32_t> firsts_;        // Of the pieces, then row_count.
  std::vector<uint64_t> data_offsets_;  // Of the pieces, then the end of the data section.
  std::vector<uint64_t> data_bytes_;    // Of the pieces up to and including this one.
  std::unique_ptr<Lazy<Kept>[]> pieces_;
};

}  // namespace tandem::format

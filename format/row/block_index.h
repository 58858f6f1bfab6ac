// The in-memory block index of a family: its top, and its pieces as they are needed. The byte
// tables are in block_index_writer.h.
//
// Opening reads only the top. A piece is read and checked against the top when it is first needed,
// and then stays in memory. An index without a top (it has one piece, its top would exceed 16 MiB,
// or an older version wrote it) is loaded whole, and a top is built from its pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
  uint32_t first = 0;  ///< Position of its first row.
  uint32_t count = 0;  ///< Rows.
};

/// The sections that a BlockIndex is opened from.
struct IndexPlaces {
  const SectionEntry* index = nullptr;
  const SectionEntry* top = nullptr;   ///< nullptr: the index is loaded whole.
  const SectionEntry* data = nullptr;  ///< The section with the row blocks.
};

/// Threads: any. Searches take no lock; if several threads load a piece at once, one wins.
class BlockIndex {
 public:
  BlockIndex() = default;
  /// Opens the index of a family with `row_count` rows. Errors: kIoError; kCorruption when the top
  /// contradicts itself or the section table, or, without a top, when a piece is bad.
  /// Lifetime: `file` outlives the result.
  static Result<BlockIndex> Open(const BlockFile& file, const IndexPlaces& places,
                                 uint32_t row_count);

  uint32_t size() const { return size_; }  ///< Blocks.
  /// Memory without the pieces, which are charged as they are loaded.
  uint64_t memory_bytes() const;

  /// Requires: block < size(), it came from BlockOf or Find, or LoadBlocks was called for it.
  DataBlock At(uint32_t block) const {
    const Piece& piece = Loaded(block);
    const uint32_t entry = block & mask();
    const uint32_t first = piece.table.FirstOf(entry);
    const uint32_t end =
        entry + 1 < piece.table.count() ? piece.table.FirstOf(entry + 1) : piece.end;
    return {piece.table.HandleOf(entry), first, end - first};
  }
  /// The slot that remembers the parsed rows of a block. Requires: as At.
  RowSlot& SlotOf(uint32_t block) const { return Loaded(block).slots[block & mask()]; }
  std::shared_ptr<RowSlot> SharedSlotOf(uint32_t block) const {
    return std::shared_ptr<RowSlot>(Loaded(block).slots, &SlotOf(block));
  }

  /// The block that holds `position`. Costs little if it is `hint` or the one after it, or if the
  /// blocks have about as many rows each. Loads its piece. Requires: position < row_count, hint <
  /// size(). Errors: kCorruption, kIoError.
  Result<uint32_t> BlockOf(uint32_t position, uint32_t hint) const;
  /// The only block that may hold `key`; if it does not, `key` sorts before its first row (block 0
  /// only), within it, or directly after its last row. Loads its piece. Errors: kCorruption,
  /// kIoError.
  Result<uint32_t> Find(std::string_view key) const;
  /// The same, galloping from `hint`, a block at or before it; any other hint costs an extra
  /// search. Requires: hint < size().
  Result<uint32_t> Find(std::string_view key, uint32_t hint) const;
  /// Sets `*separator` to the separator of the block: greater than every key of the block before,
  /// not greater than the first key of this one. Loads nothing for the first block of a piece.
  /// Requires: block < size(). Errors: kCorruption, kIoError.
  Status Separator(uint32_t block, std::string* separator) const;
  /// Loads the pieces of the blocks [first, end), adjacent pieces with large reads. Errors:
  /// kCorruption, kIoError.
  Status LoadBlocks(uint32_t first, uint32_t end) const;

  // Pieces, for callers that read many of them.
  uint32_t piece_count() const { return top_.count(); }
  bool HasPiece(uint32_t piece) const { return pieces_[piece].loaded() != nullptr; }
  /// The piece that contains `position`, galloping from `hint`, a piece at or before it.
  uint32_t PieceOf(uint32_t position, uint32_t hint) const;
  /// The position after the last row of a piece.
  uint32_t EndOfPiece(uint32_t piece) const { return firsts_[piece + 1]; }
  BlockHandle PlaceOfPiece(uint32_t piece) const { return top_.HandleOf(piece); }
  uint32_t FirstBlockOf(uint32_t piece) const { return piece << bits_; }
  /// The stored bytes of the blocks before those of `piece`. Requires: piece <= piece_count().
  uint64_t DataBytesBefore(uint32_t piece) const { return piece == 0 ? 0 : data_bytes_[piece - 1]; }
  /// The stored bytes of the blocks [first, end). Loads the pieces of both. Errors: kCorruption,
  /// kIoError.
  Result<uint64_t> DataBytes(uint32_t first, uint32_t end) const;
  /// Admits a piece from `stored`, read from the place of the piece. Errors: kCorruption when it is
  /// malformed or does not agree with the top.
  Status AdmitPiece(uint32_t piece, std::string_view stored) const;

 private:
  // The number of a row block gives the piece and the entry in it.
  struct Piece {
    IndexTable table;
    BlockRef block;  // Holds the bytes of `table`.
    uint32_t end = 0;
    std::shared_ptr<RowSlot[]> slots;  // Shared with their row blocks.
    base::MemoryCharge charge;
  };
  static constexpr uint64_t kReadMax = 1 << 20;

  explicit BlockIndex(const BlockFile* file) : file_(file) {}
  Status ReadTop(const IndexPlaces& places, uint32_t row_count);
  Status CheckPlacesOfPieces(const SectionEntry& index) const;
  Status LoadWhole(const IndexPlaces& places, uint32_t row_count);
  Status SetTop(BlockRef top, const SectionEntry& data, uint32_t row_count);
  Result<Piece> MakePiece(uint32_t piece, BlockRef block) const;
  Status CheckEntries(uint32_t piece, const Block& block, const IndexTable& table) const;
  Status LoadRun(uint32_t first, uint32_t end) const;
  Result<uint64_t> DataBytesUpTo(uint32_t block) const;

  uint32_t mask() const { return (uint32_t{1} << bits_) - 1; }
  /// The piece of a block.
  const Piece& Loaded(uint32_t block) const { return *pieces_[block >> bits_].loaded(); }
  Result<const Piece*> Load(uint32_t piece) const {
    if (const Piece* loaded = pieces_[piece].loaded(); loaded != nullptr) return loaded;
    return LoadSlowly(piece);
  }
  Result<const Piece*> LoadSlowly(uint32_t piece) const;

  const BlockFile* file_ = nullptr;
  uint32_t size_ = 0;
  uint32_t bits_ = 0;  // A piece but the last has 2^bits_ entries.
  BlockRef top_block_;
  IndexTable top_;                      // Views top_block_.
  std::vector<uint32_t> firsts_;        // Of the pieces, then row_count.
  std::vector<uint64_t> data_offsets_;  // Of the pieces, then the end of the data section.
  std::vector<uint64_t> data_bytes_;    // Of the pieces up to and including this one.
  std::unique_ptr<Lazy<Piece>[]> pieces_;
};

}  // namespace tandem::format

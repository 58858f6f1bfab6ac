// The block index of a family in memory: flat arrays over all its row blocks. The byte table stands
// in block_index_writer.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/block_file.h"
#include "format/section_writer.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// A row block as its block index places it.
struct DataBlock {
  BlockHandle handle;
  uint32_t first = 0;  ///< Position of its first row.
  uint32_t count = 0;  ///< Rows.
};

/// Threads: any.
class BlockIndex {
 public:
  /// Reads the section `index` of a family with `row_count` rows, whose blocks lie in the section
  /// `data`. Errors: kCorruption when blocks lie outside the data section or one over another,
  /// offsets, positions or separators do not rise, or the layout is broken.
  static Result<BlockIndex> Load(const BlockFile& file, const SectionEntry& index,
                                 const SectionEntry& data, uint32_t row_count);

  uint32_t size() const { return static_cast<uint32_t>(offsets_.size()); }
  uint64_t memory_bytes() const;
  /// Requires: block < size().
  DataBlock At(uint32_t block) const;
  /// The block that holds `position`, galloping from `hint`, a block at or before it.
  /// Requires: position < row_count, hint < size().
  uint32_t BlockOf(uint32_t position, uint32_t hint) const;
  /// The only block that may hold `key`; if it does not, `key` sorts before its first row (block 0
  /// only), within it, or directly after its last row.
  uint32_t Find(std::string_view key) const;
  /// The same, galloping from `hint`, a block at or before it; any other is searched for in vain
  /// first. Requires: hint < size().
  uint32_t Find(std::string_view key, uint32_t hint) const;
  /// Replaces `*separator` by the key that Find tells from those of the blocks before: above every
  /// key of the block before, not above the first of this one. Requires: block < size().
  void Separator(uint32_t block, std::string* separator) const;

 private:
  // Entries [first, end) share `prefix`; their separators' rests lie from `heap` on in heap_.
  struct Piece {
    std::string prefix;
    std::string first_separator;
    size_t heap = 0;
    uint32_t first = 0;
    uint32_t end = 0;
  };
  void Reserve(uint64_t entries);
  bool AddPiece(const Block& block);
  bool RestsRise(const Piece& piece) const;
  Status CheckPlaces(const BlockFile& file, const SectionEntry& index, const SectionEntry& data,
                     uint32_t row_count) const;
  const Piece& PieceOf(uint32_t entry) const;
  std::string_view Rest(const Piece& piece, uint32_t entry) const;
  uint32_t UpperBound(const Piece& piece, std::string_view key) const;

  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> stored_bytes_;
  std::vector<uint32_t> firsts_;  // With row_count behind the last one.
  std::vector<uint64_t> heads_;
  std::vector<uint32_t> key_ends_;
  std::string heap_;
  std::vector<Piece> pieces_;
};

}  // namespace tandem::format

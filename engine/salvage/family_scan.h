// What can be proved of the rows of one family of a damaged store file: which blocks are good,
// which rows are lost, and between which keys.
//
// 1. The pieces of the block index, each by itself, place blocks and say how many rows each has.
// 2. Where a piece is broken, row blocks that no piece names fill the gap by the positions that
//    they state, if no other family could own them.
// 3. Every block is decoded, every cell, chunk and overflow value of its rows is read. If one of
//    them is broken, the others of its row are kept (partial_row.h).
// What is then missing of the positions 0..m-1 is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/salvage/damaged_file.h"
#include "engine/salvage/partial_row.h"
#include "format/block/block.h"
#include "format/cell/cell_stream.h"
#include "format/cell/dictionary.h"
#include "format/row/presence.h"
#include "format/row/row_block.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// A row of a good block of which a chunk or an overflow value is broken. A row has several where
/// it is broken in several places.
struct BrokenRow {
  uint32_t slot = 0;
  std::string key;
  std::string reason;                  ///< With file and offset if they are not the block's.
  std::optional<LostColumns> columns;  ///< What of it is lost; nullopt: all.
};

/// Rows of a family that are together in one block, or in one gap of the block index.
struct ScannedBlock {
  BlockHandle handle;  ///< Of a gap: no bytes.
  uint32_t first = 0;  ///< Position of its first row.
  uint32_t count = 0;
  /// A bound: no key is smaller, every key before is. nullopt where the block index is broken.
  std::optional<std::string> separator;
  bool is_good = false;
  std::string reason;               ///< Why it is not good, without file and offset.
  std::vector<BrokenRow> broken;    ///< Of a good block, by slot.
  std::string first_key, last_key;  ///< Of a good block.

  bool is_gap() const { return handle.stored_bytes == 0; }
};

/// Threads: one at a time. Lifetime: `file` outlives it.
struct FamilyScan {
  FamilyId family;
  uint32_t row_count = 0;            ///< m; what the section table says.
  bool is_full = false;              ///< Positions are ordinals.
  std::optional<Presence> presence;  ///< nullopt: full, or broken.
  Dictionary names;
  std::vector<ScannedBlock> blocks;  ///< By position; they cover 0..m-1.
  std::vector<std::string> damage;   ///< What was broken and is replaced.

  /// The ordinal of a position; nullopt when presence is broken.
  std::optional<uint32_t> OrdinalOf(uint32_t position) const {
    if (is_full) return position;
    if (!presence.has_value() || position >= presence->count()) return std::nullopt;
    return presence->OrdinalOf(position);
  }
};

/// Scans all owners of the file, in their order. Errors: kIoError, kOutOfMemory; damage is what
/// it reports.
Result<std::vector<FamilyScan>> ScanFamilies(const DamagedFile& file);

/// The good rows of a scanned family, by key. Threads: one at a time. Lifetime: `file` and
/// `scan` outlive it.
class IntactRows {
 public:
  IntactRows(const DamagedFile& file, const FamilyScan& scan) : file_(file), scan_(scan) {}
  /// Moves to the next row; the first call moves to the first. Errors: kCorruption (the file
  /// changed since it was scanned), kIoError.
  Status Next();
  bool valid() const { return block_ != nullptr; }
  /// The current row's. Requires: valid().
  const std::string& key() const { return key_; }
  FamilyId family() const { return scan_.family; }
  /// nullopt: unknown.
  std::optional<uint32_t> ordinal() const { return scan_.OrdinalOf(block_->first() + slot_); }
  /// Whether it is to be read by Stream: it is wide, or only a part of it is good.
  bool comes_in_pieces() const { return block_->is_wide() || IsBroken(/*whole=*/false); }
  /// Appends its cells. Requires: !comes_in_pieces(). Lifetime: of `cells`, until the next but one
  /// Next.
  Status Cells(std::vector<Cell>* cells) const;
  /// Its good cells; a piece may be empty.
  Result<std::unique_ptr<CellStream>> Stream() const;

 private:
  Status NextBlock();
  bool IsBroken(bool whole) const;

  const DamagedFile& file_;
  const FamilyScan& scan_;
  size_t next_block_ = 0;
  RowBlockRef block_, previous_block_;
  uint32_t slot_ = 0;
  std::string key_;
};

}  // namespace tandem::format

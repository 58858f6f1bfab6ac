// What can be proved of the rows of one family of a damaged store file: which blocks are good,
// which rows are lost, and between which keys.
//
// 1. The pieces of the block index, each by itself, place blocks and say how many rows each has.
// 2. Where a piece is broken, row blocks that no piece names fill the gap by the positions that
//    they state, if no other family could own them.
// 3. Every block is decoded, every cell, chunk and far value of its rows is read.
// What is then missing of the positions 0..m-1 is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/block.h"
#include "format/cell_stream.h"
#include "format/damaged_file.h"
#include "format/dictionary.h"
#include "format/presence.h"
#include "format/row_block.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// A row of a good block that cannot be used: a chunk or a far value of it is broken.
struct BrokenRow {
  uint32_t slot = 0;
  std::string key;
  std::string reason;
};

/// Rows of a family that stand together in one block, or in one gap of the block index.
struct SurveyedBlock {
  BlockHandle handle;  ///< Of a gap: no bytes.
  uint32_t first = 0;  ///< Position of its first row.
  uint32_t count = 0;
  /// A bound: no key is smaller, every key before is. nullopt where the block index is broken.
  std::optional<std::string> separator;
  bool is_good = false;
  std::string reason;               ///< Why it is not good.
  std::vector<BrokenRow> broken;    ///< Of a good block, rising.
  std::string first_key, last_key;  ///< Of a good block.
};

/// Threads: one at a time. Lifetime: `file` outlives it.
struct FamilySurvey {
  FamilyId family;
  uint32_t row_count = 0;            ///< m; what the section table says.
  bool is_full = false;              ///< Positions are ordinals.
  std::optional<Presence> presence;  ///< nullopt: full, or broken.
  Dictionary names;
  std::vector<SurveyedBlock> blocks;  ///< By position; they cover 0..m-1.
  std::vector<std::string> damage;    ///< What was broken and is replaced.

  /// The ordinal of a position; nullopt when presence is broken.
  std::optional<uint32_t> OrdinalOf(uint32_t position) const {
    if (is_full) return position;
    if (!presence.has_value() || position >= presence->count()) return std::nullopt;
    return presence->OrdinalOf(position);
  }
};

/// Surveys all owners of the file, in their order. Errors: kIoError, kOutOfMemory; damage is what
/// it reports.
Result<std::vector<FamilySurvey>> SurveyFamilies(const DamagedFile& file);

/// The good rows of a surveyed family, by key. Threads: one at a time. Lifetime: `file` and
/// `survey` outlive it.
class GoodRows {
 public:
  GoodRows(const DamagedFile& file, const FamilySurvey& survey) : file_(file), survey_(survey) {}
  /// Moves to the next row; at first to the first. Errors: kCorruption (the file changed since it
  /// was surveyed), kIoError.
  Status Next();
  bool valid() const { return block_ != nullptr; }
  /// Of the row it stands on. Requires: valid().
  const std::string& key() const { return key_; }
  uint32_t position() const { return block_->first() + slot_; }
  bool is_wide() const { return block_->is_wide(); }
  /// Appends its cells. Requires: !is_wide(). Lifetime: of `cells`, until the next but one Next.
  Status Cells(std::vector<Cell>* cells) const;
  Result<std::unique_ptr<CellStream>> Stream() const;

 private:
  Status NextBlock();
  bool IsBroken() const;

  const DamagedFile& file_;
  const FamilySurvey& survey_;
  size_t next_block_ = 0;
  RowBlockRef block_, previous_block_;
  uint32_t slot_ = 0;
  std::string key_;
};

}  // namespace tandem::format

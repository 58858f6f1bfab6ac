// Row blocks: rows of one family, sorted by key, with fixed-width key heads for branch-free search
// and slots that lead from an ordinal to its row without comparing a key. The byte table stands in
// row_block.cc's builder half, row_block_writer.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block.h"
#include "format/cell.h"
#include "tandem/status.h"

namespace tandem::format {

/// The names of a family's columns in one file: ids 1..n by appearance.
class Dictionary {
 public:
  /// Requires: ids 1..size().
  std::string_view Name(uint32_t id) const { return names_[id - 1]; }
  uint32_t size() const { return static_cast<uint32_t>(names_.size()); }
  /// Errors: kCorruption.
  static Result<Dictionary> Decode(BlockRef block);

 private:
  BlockRef block_;
  std::vector<std::string_view> names_;
};

/// A row block that was parsed: its header, heads and slots are within bounds. Rows themselves are
/// checked as they are decoded.
class RowBlock {
 public:
  /// Errors: kCorruption.
  static Result<std::shared_ptr<const RowBlock>> Parse(BlockRef block, FamilyId family);

  uint32_t row_count() const { return count_; }
  uint32_t first() const { return first_; }  ///< Ordinal of row 0.

  /// First slot whose key is >= `key`; row_count() when there is none.
  uint32_t LowerBound(std::string_view key) const;
  /// Puts the key of row `slot` together in `*key` (replaced). Errors: kCorruption.
  Status Key(uint32_t slot, std::string* key) const;
  /// Whether the row at `slot` has exactly this key.
  Result<bool> KeyEquals(uint32_t slot, std::string_view key) const;
  /// Appends the cells of row `slot` in order; views point into the block and the dictionary.
  /// `columns` (sorted qualifiers; empty span with null data: all) limits the Puts and column
  /// markers to those columns; DeleteFamily markers are always given. Errors: kCorruption.
  Status Cells(uint32_t slot, const Dictionary& names, const std::vector<std::string>* columns,
               std::vector<Cell>* out) const;

 private:
  RowBlock() = default;
  BlockRef block_;
  std::string_view raw_;
  FamilyId family_;
  uint32_t count_ = 0;
  uint32_t first_ = 0;
  uint32_t heads_at_ = 0, slots_at_ = 0, prefix_at_ = 0, rows_at_ = 0;
  uint16_t prefix_bytes_ = 0;
  int64_t base_timestamp_ = 0;
  uint64_t base_sequence_ = 0;
  uint16_t flags_ = 0;
};
using RowBlockRef = std::shared_ptr<const RowBlock>;

}  // namespace tandem::format

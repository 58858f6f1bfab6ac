// Writes the cells of one family of a store file, or the keys of its rows (kKeysOwner). Rows become
// blocks, which wait until they fill an extent (data_section.h) and are written together.
// Dictionary, presence bitmap and block index follow the data section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/bitmap.h"
#include "format/block/section_writer.h"
#include "format/cell/cell.h"
#include "format/cell/dictionary.h"
#include "format/row/block_index_writer.h"
#include "format/row/row_block_writer.h"
#include "format/row/stored_row.h"
#include "format/row/wide_row_writer.h"
#include "format/types.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time.
class FamilyWriter {
 public:
  /// `out` has the data section open while rows are added, and outlives this. Blocks are written as
  /// soon as they reach `extent_bytes`, which is 0 when no other family is written and they are
  /// compressed one by one.
  FamilyWriter(FamilyId family, const FamilyOptions& options, size_t extent_bytes,
               SectionWriter* out);

  FamilyId family() const { return family_; }
  Compression compression() const { return compression_; }
  /// Rows so far, its positions.
  uint32_t row_count() const { return row_count_; }
  /// Rows whose block was copied.
  uint32_t copied_blocks() const { return copied_blocks_; }
  /// Bytes of the blocks that wait, before compression.
  size_t waiting_bytes() const { return extent_.unpacked_bytes; }

  /// Memory of the waiting blocks and of the index of written blocks, without the state of a wide
  /// row.
  uint64_t memory_bytes() const;

  /// Appends the row `ordinal` of the file, which gets the position row_count(). Requires: ordinals
  /// and keys ascend; cells are sorted, at least one (the keys: none), of kWideRowBytes at most,
  /// and references to overflow values point into this file. `stored`, if it is not null, holds
  /// exactly these cells, and is copied if it would be written alike. Errors: kIoError, kNoSpace.
  Status AddRow(uint32_t ordinal, std::string_view key, std::span<const Cell> cells,
                const StoredRow* stored = nullptr);
  /// Starts a row of more than kWideRowBytes, after writing the waiting blocks. Add the row's cells
  /// to the result, then call EndWideRow before anything else. `key_hash`: RowHash. Errors:
  /// kIoError, kNoSpace. Lifetime: until EndWideRow.
  Result<WideRowWriter*> BeginWideRow(std::string_view key, uint64_t key_hash);
  /// Ends it as row `ordinal` of the file. `deletes` are its DeleteFamily markers, sorted.
  Status EndWideRow(uint32_t ordinal, std::string_view key, std::span<const Cell> deletes);
  /// Ends the block being filled and writes the waiting blocks.
  Status WriteBlocks();
  /// Its blocks and their places. Requires: WriteBlocks was called since the last row, and `out`
  /// was flushed or its section has ended.
  const BlockIndexWriter& index() const { return index_; }
  /// Writes the sections that follow the data of a file of `file_rows` rows. Requires: there are
  /// rows, WriteBlocks was called.
  Status WriteSections(uint32_t file_rows);

 private:
  void CountRow(uint32_t ordinal);
  bool MayCopy(const StoredRow& stored, std::span<const Cell> cells);
  Status CopyBlock(uint32_t ordinal, std::string_view key, std::string_view stored);
  BlockGroup::Member NextBlock(uint32_t first, std::string_view first_key);
  Status EndBlock();
  Status AddToExtent(const BlockGroup::Member& block, uint64_t unpacked_bytes);
  Status WriteExtent();
  Status WriteDictionary();

  FamilyId family_;
  Compression compression_;
  uint32_t block_bytes_;
  size_t extent_bytes_;
  SectionWriter* out_;
  uint32_t row_count_ = 0;
  uint32_t copied_blocks_ = 0;
  GrowingBitmap present_;  // Of the file's rows, from the first one on that the family lacks.
  DictionaryBuilder names_;
  RowBlockWriter rows_;
  std::optional<WideRowWriter> wide_row_;  // Between BeginWideRow and EndWideRow.
  BlockIndexWriter index_;
  std::string key_before_block_;  // The last key of the block before the one in rows_.
  BlockGroup extent_;             // The blocks that wait.
};

}  // namespace tandem::format

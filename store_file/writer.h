// Writes a store file front to back: header, rows, then at Finish dictionary, presence and block
// index of each family, key hashes, clean bits, filter, index sections, statistics, digests,
// schema, section table, footer. Blocks of several families go out in extents
// (format/row/data_section.h).
//
// While some family has every row so far, its blocks carry the keys. When the last such family
// first lacks a row, the keys of the rows before it are read back from its blocks, and from then on
// the keys are written as blocks of their own.
// A file whose cells all get one sequence that is not known yet (StoreFileSpec::one_sequence) is
// finished in two steps: FinishRows writes and syncs all but the end, Finish needs no time then.
//
// Finish syncs the file, or leaves that to the caller (StoreFileSpec::synced); its name becomes
// durable with the directory, which the caller syncs before the manifest names it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/file_system.h"
#include "format/block/block_cache.h"
#include "format/cell/cell.h"
#include "format/row/stored_row.h"
#include "format/schema.h"
#include "format/types.h"
#include "index/section_writer.h"
#include "store_file/end_writer.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

struct StoreFileSpec {
  FileNumber number;
  FileId id;
  DatabaseId database;
  const TableRecord* table = nullptr;  ///< Outlives the writer.
  std::string region_start;
  uint32_t alignment = 4096;  ///< Of sections; 64 in tests.
  /// The cells are added with sequence 0, and all have that of FinishAt.
  bool one_sequence = false;
  /// False: Finish leaves the sync to the caller, who has the file by TakeFile.
  bool synced = true;
  /// Makes room for the writer and counts what it takes; outlives it. May be null.
  BlockCache* cache = nullptr;
  /// Shares the work, all but the end of the file. May be null.
  base::Parallel* parallel = nullptr;
};

/// How the index entries of a row reach the file.
enum class RowEntries : uint8_t {
  kCollect,  ///< From the cells of the row.
  kCopied,   ///< From a section given to index(i).AddSection.
};

/// Threads: one at a time.
class StoreFileWriter {
 public:
  StoreFileWriter(std::unique_ptr<base::File> file, StoreFileSpec spec);
  ~StoreFileWriter();

  /// Appends a row and returns its ordinal. Requires: keys rise, cells are sorted by CellLess, at
  /// least one. Overflow values are copied from the files that hold them; a row may have any size.
  /// `stored` are blocks that hold exactly its cells of their families; those that would be written
  /// alike are copied.
  /// Errors: kUnsupported when the file passes kRowsPerFileMax (names the limit); kInvalidArgument;
  /// kCorruption of what is copied; kIoError, kNoSpace.
  Result<Ordinal> AddRow(std::string_view key, std::span<const Cell> cells,
                         RowEntries entries = RowEntries::kCollect,
                         std::span<const StoredRow> stored = {});

  /// The same for a row that does not fit in memory: BeginRow, any number of AddCells and
  /// AddFamilyDeletes, EndRow. Cells rise by CellLess over all calls, except that the DeleteFamily
  /// markers of a family may come at any time before a cell of a later family. Of the cells only
  /// those of indexed columns are kept until the row ends. Bytes need not outlive a call. After an
  /// error the writer must not be used. Errors: as AddRow; kCorruption for cells out of order.
  Status BeginRow(std::string_view key);
  Status AddCells(std::span<const Cell> cells);
  /// Requires: `cells` are DeleteFamily markers of one family, in any order.
  Status AddFamilyDeletes(std::span<const Cell> cells);
  /// Requires: the row has a cell.
  Result<Ordinal> EndRow(RowEntries entries = RowEntries::kCollect);

  uint32_t row_count() const;
  /// The approximate size of the file so far; blocks that wait for their extent count uncompressed.
  uint64_t size_bytes() const;
  /// Blocks that were copied as they were stored.
  uint64_t copied_blocks() const;
  /// The memory that the collected index entries take, as of some rows ago.
  uint64_t entry_bytes() const;
  /// The collector of the i-th index of the table.
  IndexSectionWriter& index(size_t i);
  /// Widens the bounds of sequences to those of a merge's inputs.
  void WidenSequences(SequenceNumber min, SequenceNumber max);

  /// Of what is written from here on, only rows that are noted as cached stay in the system's
  /// cache, and sections of indexes if `keeps_indexes`. Requires: no row was added.
  void SparePageCache(bool keeps_indexes);
  /// Whether the last row stays in the system's cache. Does nothing without SparePageCache. Errors:
  /// those of File::AwaitWriteBack.
  Status NoteRow(bool is_cached);

  /// Writes everything else and syncs the file. Requires: at least one row.
  Result<StoreFileSummary> Finish();
  /// The file, to be synced and closed. Requires: Finish has succeeded, and nothing else is called
  /// afterwards.
  std::unique_ptr<base::File> TakeFile();
  /// The same in two steps, for a file of one sequence: after the first, no row may be added, and
  /// the memory that they took is free.
  Status FinishRows();
  Result<StoreFileSummary> FinishAt(SequenceNumber sequence);

 private:
  Status WriteSections();
  Result<StoreFileSummary> WriteRest();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::format

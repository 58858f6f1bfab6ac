// Writes rows of any width to the families of a store file. Overflow values are written at once; a
// family with more than kWideRowBytes of a row stores it as a wide row, any other as a row of a
// block.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "format/block/section_writer.h"
#include "format/cell/cell.h"
#include "format/cell/overflow_value_writer.h"
#include "format/row/data_writer.h"
#include "format/row/stored_row.h"
#include "format/row/wide_row_writer.h"
#include "format/schema.h"
#include "store_file/pending_row.h"
#include "tandem/status.h"

namespace tandem::format {

/// The place of a row in the file being written.
struct RowLocation {
  uint32_t ordinal = 0;
  uint64_t key_hash = 0;  ///< RowHash.
};

/// Threads: one at a time. After an error it must not be used. Errors (all methods):
/// kInvalidArgument (a value above kOverflowValueBytesMax), kCorruption (of overflow values of
/// other files; cells out of order), kIoError, kNoSpace, kUnsupported (more DeleteFamily markers
/// than a block holds).
class RowWriter {
 public:
  /// All outlive this; `out` has the data section open while rows are added.
  RowWriter(const TableRecord& table, DataWriter* data, SectionWriter* out)
      : data_(data), overflow_(out), pieces_(table) {}

  /// Adds a whole row. `stored`: StoreFileWriter::AddRow. Requires: `cells` are sorted, at least
  /// one, of families of the table.
  Status AddRow(const RowLocation& place, std::string_view key, std::span<const Cell> cells,
                std::span<const StoredRow> stored);

  /// Starts a row that comes in pieces.
  void Begin(const RowLocation& place, std::string_view key);
  /// Adds cells of it: StoreFileWriter::AddCells. Requires: of families of the table.
  Status Add(std::span<const Cell> cells);
  /// Ends the row. Requires: it has a cell.
  Status End();
  /// Whether any cell of the row came.
  bool has_cells() const { return pieces_.family().has_value(); }
  const std::string& key() const { return pieces_.key(); }
  /// The cells of the row that concern indexes, sorted. Lifetime: until the next row.
  std::span<const Cell> IndexedCells() { return pieces_.IndexedCells(); }

 private:
  Status AddToFamily(const RowLocation& place, std::string_view key, std::span<const Cell> cells,
                     std::span<const StoredRow> stored);
  Status AddPiece(std::span<const Cell> cells);
  Status EndFamily();

  DataWriter* data_;
  OverflowValueWriter overflow_;
  // The row that comes in pieces.
  RowLocation place_;
  RowPieces pieces_;
  WideRowWriter* wide_ = nullptr;  // Of the current family, once it is wide.
};

}  // namespace tandem::format

// The rows of the files of a table in key order, each with the files that have it: all of them, or
// groups of neighbours from all over the table.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "engine/predicate/key_ranges.h"
#include "engine/region/view.h"
#include "format/cell/cell.h"
#include "format/cell/cell_buffer.h"
#include "format/schema.h"
#include "store_file/scanner.h"
#include "store_file/store_file.h"

namespace tandem::engine {

/// The cells of a row that indexes depend on. Of a wide row those alone are kept, of another all.
class IndexedCells {
 public:
  /// `table` has the indexes. Lifetime: it outlives this.
  explicit IndexedCells(const format::TableRecord& table) : table_(table) {}

  /// Those of the stream's row. Errors: kCorruption, kIoError. Lifetime: until the next call.
  Result<std::span<const format::Cell>> Of(const format::RowStream& stream);

 private:
  const format::TableRecord& table_;
  format::CellBuffer wide_;
  std::vector<format::Cell> cells_;
};

/// Which rows are read: one group of every `stride`.
struct RowSample {
  static constexpr uint32_t kGroupRows = 2048;

  uint64_t stride = 1;

  /// At most about `rows_max` of `rows`; 0: all.
  static RowSample Of(uint64_t rows, uint64_t rows_max) {
    return {rows_max == 0 || rows <= rows_max ? 1 : (rows + rows_max - 1) / rows_max};
  }
  /// Whether the group with that number is read.
  bool Has(uint64_t group) const { return group % stride == stride / 2; }
};

/// Threads: one at a time. Lifetime: the view and the table with the indexes outlive it. Memory:
/// windows and cells of a row of each file that has neighbouring keys.
class FileRows {
 public:
  /// A row of one file.
  struct Part {
    size_t slot = 0;  ///< Of the file among those that are open.
    format::StoreFile* file = nullptr;
    uint32_t ordinal = 0;
    std::span<const format::Cell> cells;
  };

  FileRows(const TableView& view, const format::TableRecord& indexed, RowSample sample,
           const base::Cancellation& cancellation);
  ~FileRows();

  /// Moves to the next row; false at the end. Errors: kCorruption, kIoError, kCancelled.
  Result<bool> Next();
  const std::string& key() const { return key_; }
  /// Of each file that has the row.
  std::span<const Part> parts() const { return parts_; }
  /// Rows of files so far.
  uint64_t rows_read() const { return rows_read_; }

 private:
  struct Stream;

  Status BeginRegion(const RegionVersion& region);
  Status BeginRange();
  Status OpenDue();

  const TableView& view_;
  const format::TableRecord& indexed_;
  const RowSample sample_;
  const base::Cancellation cancellation_;
  size_t next_region_ = 0;
  uint64_t group_ = 0;
  KeyRanges ranges_;  // Of the region, the last one first.
  const RegionVersion* region_ = nullptr;
  std::vector<std::unique_ptr<Stream>> due_;   // By first key, the last one first.
  std::vector<std::unique_ptr<Stream>> open_;  // By slot; null: the slot is free.
  std::string key_;
  std::vector<Part> parts_;
  uint64_t rows_read_ = 0;
};

}  // namespace tandem::engine

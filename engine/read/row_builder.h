// One row on its way out: its cells are gathered from the sources that hold it, reduced to the
// visible ones, tested and projected. All memory is reused from row to row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "engine/source/read_counters.h"
#include "engine/source/read_schema.h"
#include "engine/source/row_trees.h"
#include "format/cell/cell.h"
#include "format/cell/projection.h"
#include "format/row/data_section.h"
#include "format/row/row_batch.h"
#include "format/row/row_block.h"
#include "memstore/memstore.h"
#include "tandem/row.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: the schema outlives it, and nothing but its point changes,
/// between rows; views last until the next Begin.
class RowBuilder {
 public:
  /// `counters`, when not null, counts what memstores cost.
  explicit RowBuilder(const ReadSchema& schema, ReadCounters* counters = nullptr);

  /// Starts the next row.
  void Begin() {
    if (gathered_.capacity() == 0) Reserve();  // Not before: a read of plain rows needs none.
    Clear();
  }
  /// Forgets the row and what it pins. Allocates nothing.
  void Clear() {
    gathered_.clear();
    blocks_.clear();
    runs_ = sorted_cells_ = 0;
    visible_ = {};
    if (is_partial_ || !trees_.empty()) BeginAfterPartial();
  }
  /// Where the sources append the row's cells.
  std::vector<format::Cell>* gathered() { return &gathered_; }
  /// Appends the row's recent cells in a memstore, of the decoded families. Merge adds what the
  /// read needs of its older cells.
  void Append(const MemRow* row);
  /// Gathers nothing but Puts of the row in a memstore, of a family that is the only decoded one,
  /// by CellLess. False: the row has others, or the newest Put of a column is not what is shown.
  bool GatherPuts(const MemRow* row, format::FamilyId family);
  /// Appends the row's cells in one family of a file: those of `wanted`, or of a wide row those
  /// that are named. Errors: kCorruption, kIoError.
  Status Append(const format::DataSection& data, const format::RowBlockRef& rows, uint32_t slot,
                const format::Projection& wanted) {
    if (rows->is_wide()) return AppendWide(data, rows);
    blocks_.push_back(rows);
    const size_t first = gathered_.size();
    RETURN_IF_ERROR(rows->Cells(slot, wanted, &gathered_));
    AddRun(first);
    return {};
  }
  /// For a single-source row: all its cells are visible.
  void KeepAll() {
    visible_ = gathered_;
    has_one_version_ = true;
  }
  /// Reduces the gathered cells, of any number of sources, to the visible ones. A row may turn out
  /// to be partial or large.
  void Merge();

  /// The row is wide in a source, or a memstore has more of it than is gathered: cells of columns
  /// that are not named may be missing.
  bool is_partial() const { return is_partial_; }
  /// Cells that are returned are missing: the row has to be streamed.
  bool is_large() const { return is_large_; }
  std::span<const format::Cell> visible() const { return visible_; }
  /// Whether any of the visible cells is returned. (Memstores give cells of all columns.)
  bool returns_cells();
  /// The row as it is returned. Requires: KeepAll or Merge; !is_large(). The next two methods say
  /// whether its values are what the user wrote, and how large it is.
  RowView Project(std::string_view key);
  bool has_overflow_values() const { return has_overflow_values_; }
  uint64_t returned_bytes() const { return returned_bytes_; }
  /// Adds the row as it is returned to `*batch`, with the blocks that it lies in. False: it is
  /// partial, exceeds a piece or has an overflow value, and is not added. Requires: as Project.
  /// Lifetime of the row: that of the batch and of the memstores.
  bool AddTo(std::string_view key, format::RowBatch* batch);
  /// The cells that Project returned, as they came.
  std::vector<format::Cell> ReturnedCells();

 private:
  void Reserve();
  void BeginAfterPartial();
  Status AppendWide(const format::DataSection& data, const format::RowBlockRef& rows);
  void MergeTrees();
  bool GatherFromTrees(const ColumnSet::Family& columns, size_t cells_max);
  void Sort();
  void AddRun(size_t first);
  bool MergePuts();
  /// Of Puts alone the newest of each column is what the read shows.
  bool shows_newest_puts() const { return may_merge_puts_ && !schema_.point.is_bounded(); }
  /// Calls `use(cell)` for each cell that is returned.
  template <typename Use>
  void ForEachReturned(Use&& use);
  bool IsReturned(const format::Cell& cell);
  void FindFamily(format::FamilyId id);
  Cell ToReturned(const format::Cell& cell);

  const ReadSchema& schema_;
  ReadCounters* counters_;
  const bool decodes_all_families_;
  std::vector<format::Cell> gathered_, sorted_, merged_;
  RowTrees trees_{*schema_.table};
  std::span<const format::Cell> visible_;
  const bool may_merge_puts_;
  size_t runs_ = 0;               // Sorted ones that gathered_ consists of,
  size_t second_run_ = 0;         // where the second begins,
  size_t sorted_cells_ = 0;       // and where the last one ends.
  bool has_one_version_ = false;  // At most, of each column.
  bool is_partial_ = false, is_large_ = false;
  std::vector<std::shared_ptr<const void>> pins_;  // Of cells of wide rows.
  std::vector<format::RowBlockRef> blocks_;        // Of the others.
  // Of the last cell that was looked at: its family, and what is returned of it.
  const format::FamilyRecord* family_ = nullptr;
  const ColumnSet::Family* returned_columns_ = nullptr;
  std::vector<Cell> returned_;
  bool has_overflow_values_ = false;
  uint64_t returned_bytes_ = 0;
};

}  // namespace tandem::engine

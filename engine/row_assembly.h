// One row on its way out: its cells are gathered from the sources that hold it, reduced to the
// visible ones, tested and projected. All memory is reused from row to row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/memstore.h"
#include "engine/read_shape.h"
#include "format/cell.h"
#include "tandem/row.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: the shape outlives it and does not change any more; views last
/// until the next Begin.
class RowAssembly {
 public:
  explicit RowAssembly(const ReadShape& shape);

  /// Starts the next row.
  void Begin() {
    gathered_.clear();
    visible_ = {};
  }
  /// Where the sources append the row's cells.
  std::vector<format::Cell>* gathered() { return &gathered_; }
  /// Appends the cells that a memstore has of the row, of the families that are decoded.
  void Append(const MemRow* row);
  /// The cells of a settled row are visible as they are.
  void Settle() {
    visible_ = gathered_;
    is_settled_ = true;
  }
  /// Reduces the gathered cells, of any number of sources, to the visible ones.
  void Merge();

  std::span<const format::Cell> visible() const { return visible_; }
  /// Whether any of the visible cells is returned. (Memstores give cells of all columns.)
  bool returns_cells();
  /// The row as it is returned. Requires: Settle or Merge.
  RowView Project(std::string_view key);

 private:
  void ProjectVersions();
  bool IsReturned(const format::Cell& cell);
  Cell ToReturned(const format::Cell& cell);

  const ReadShape& shape_;
  const bool decodes_all_families_;
  std::vector<format::Cell> gathered_, merged_;
  std::span<const format::Cell> visible_;
  bool is_settled_ = false;  // At most one version a column.
  // Of the last cell that was looked at: its family, and what is returned of it.
  const format::FamilyRecord* family_ = nullptr;
  const ColumnSet::Family* returned_columns_ = nullptr;
  std::vector<Cell> returned_;
};

}  // namespace tandem::engine

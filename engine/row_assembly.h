// One row on its way out: its cells are gathered from the sources that hold it, reduced to the
// visible ones, tested and projected. All memory is reused from row to row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bound_predicate.h"
#include "engine/sources.h"
#include "engine/view.h"
#include "format/cell.h"
#include "format/projection.h"
#include "tandem/options.h"
#include "tandem/row.h"

namespace tandem::engine {

/// The view's moment under the bounds of the options.
format::ReadPoint PointOf(const TableView& view, const ReadOptions& options);

/// What a read returns of each row and what it must decode for that.
struct ReadShape {
  std::shared_ptr<const format::TableRecord> table;
  format::ReadPoint point;
  uint32_t versions = 1;
  /// Sorted qualifiers of the cells returned; nullopt: all.
  std::optional<std::vector<std::string>> returned;
  /// Of the cells decoded when the row is settled, and when it is not; a superset of `returned`.
  std::optional<std::vector<std::string>> settled, merged;
  bool needs_cells = false;  ///< A row without a cell to return is not returned.

  /// Errors: kNotFound (a family of `options.columns`), kInvalidArgument (versions is 0).
  static Result<ReadShape> Make(const TableView& view, const ReadOptions& options);
  /// Has `columns` decoded too. `existence`: unsettled rows are decoded whole, so that a row whose
  /// visible cells are all elsewhere is seen to exist.
  void Decode(std::vector<std::string> columns, bool existence);
};

/// The projections of a shape onto the names of one file.
struct FileColumns {
  format::Projection settled, merged;
  FileColumns(const ReadShape& shape, const FileSource& source);
};

/// Threads: one at a time. Lifetime: the shape outlives it; views last until the next Begin.
class RowAssembly {
 public:
  explicit RowAssembly(const ReadShape& shape) : shape_(shape) {}

  /// Starts the next row.
  void Begin() {
    gathered_.clear();
    visible_ = {};
  }
  /// Where the sources append the row's cells.
  std::vector<format::Cell>* gathered() { return &gathered_; }
  /// The cells of a settled row are visible as they are.
  void Settle() {
    visible_ = gathered_;
    is_settled_ = true;
  }
  /// Reduces the gathered cells, of any number of sources, to the visible ones.
  void Merge();

  std::span<const format::Cell> visible() const { return visible_; }
  /// Whether any of the visible cells is returned. (Memstores give cells of all columns.)
  bool returns_cells() const;
  /// The row as it is returned. Requires: Settle or Merge.
  RowView Project(std::string_view key);

 private:
  void ProjectVersions();
  bool IsReturned(const format::Cell& cell) const {
    return !shape_.returned.has_value() ||
           std::binary_search(shape_.returned->begin(), shape_.returned->end(), cell.qualifier,
                              std::less<>());
  }
  Cell ToReturned(const format::Cell& cell);

  const ReadShape& shape_;
  std::vector<format::Cell> gathered_, merged_;
  std::span<const format::Cell> visible_;
  bool is_settled_ = false;                       // At most one version a column.
  const format::FamilyRecord* family_ = nullptr;  // Of the last cell returned.
  std::vector<Cell> returned_;
};

}  // namespace tandem::engine

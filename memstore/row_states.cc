// States are merged column by column: a tree has the DeleteColumn markers of a column before its
// versions, so a column is sorted when it is complete. Neighbouring states share most of their
// cells.
#include "memstore/row_states.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "memstore/row_tree.h"

namespace tandem::engine {
namespace {

// Orders columns; the DeleteFamily markers of a family count as one column before the others.
bool ColumnLess(const format::Cell& a, const format::Cell& b) {
  if (a.family != b.family) return a.family < b.family;
  if (format::IsFamilyDelete(a) != format::IsFamilyDelete(b)) return format::IsFamilyDelete(a);
  return a.qualifier < b.qualifier;
}

// Sorts the cells from `first` on and removes duplicates.
void SortUnique(size_t first, std::vector<format::Cell>* cells) {
  const auto begin = cells->begin() + static_cast<ptrdiff_t>(first);
  std::sort(begin, cells->end(), format::CellLess);
  const auto is_same = [](const format::Cell& a, const format::Cell& b) {
    return !format::CellLess(a, b);
  };
  cells->erase(std::unique(begin, cells->end(), is_same), cells->end());
}

class StatesStream final : public format::CellStream {
 public:
  StatesStream(std::span<const RowTreeNode* const> roots, std::span<const format::Cell> recent)
      : recent_(recent) {
    for (const RowTreeNode* root : roots) cursors_.emplace_back(root).Seek({});
  }

  Result<bool> Next() override {
    constexpr size_t kPieceCells = 512;
    cells_.clear();
    while (cells_.size() < kPieceCells) {
      const std::optional<format::Cell> column = FirstColumn();
      if (!column.has_value()) break;
      AppendColumn(*column);
    }
    return !cells_.empty();
  }

 private:
  // A cell of the first column that is left; nullopt at the end.
  std::optional<format::Cell> FirstColumn() const {
    std::optional<format::Cell> first;
    if (!recent_.empty()) first = recent_.front();
    for (const RowTreeCursor& cursor : cursors_) {
      if (cursor.cell() == nullptr) continue;
      const format::Cell cell = ToCell(*cursor.cell());
      if (!first.has_value() || ColumnLess(cell, *first)) first = cell;
    }
    return first;
  }

  void AppendColumn(const format::Cell& column) {
    const size_t first = cells_.size();
    while (!recent_.empty() && !ColumnLess(column, recent_.front())) {
      cells_.push_back(recent_.front());
      recent_ = recent_.subspan(1);
    }
    for (RowTreeCursor& cursor : cursors_) {
      for (; cursor.cell() != nullptr; cursor.Next()) {
        const format::Cell cell = ToCell(*cursor.cell());
        if (ColumnLess(column, cell)) break;
        cells_.push_back(cell);
      }
    }
    SortUnique(first, &cells_);
  }

  std::vector<RowTreeCursor> cursors_;
  std::span<const format::Cell> recent_;
};

}  // namespace

// A state is the recent cells up to a tree, and the tree. What a snapshot sees that is older than
// the one before, but not than its tree, is a part of that state. So a row costs a look for each
// tree that a snapshot sees, however many snapshots there are.
RowStates::RowStates(const MemRow* row, std::span<const format::SequenceNumber> snapshots) {
  uint64_t looked_at = 0;
  format::SequenceNumber sequence = format::kSequenceMax;
  while (true) {
    const RowTreeView tree = Memstore::RecentCells(row, sequence, &recent_, &looked_at);
    if (tree.root != nullptr) roots_.push_back(tree.root);
    const auto next = std::lower_bound(snapshots.begin(), snapshots.end(), tree.last);
    if (next == snapshots.begin()) break;  // Also where no tree is left: 0 is before all of them.
    sequence = *std::prev(next);
  }
  std::sort(roots_.begin(), roots_.end());
  roots_.erase(std::unique(roots_.begin(), roots_.end()), roots_.end());
  SortUnique(0, &recent_);
}

uint64_t RowStates::size() const {
  uint64_t size = recent_.size();
  for (const RowTreeNode* root : roots_) size += root->size;
  return size;
}

std::unique_ptr<format::CellStream> RowStates::Open() const {
  return std::make_unique<StatesStream>(roots_, recent_);
}

void RowStates::Append(std::vector<format::Cell>* cells) const {
  StatesStream stream(roots_, recent_);
  while (stream.Next().value()) {  // It reads memory only: it cannot fail.
    cells->insert(cells->end(), stream.cells().begin(), stream.cells().end());
  }
}

}  // namespace tandem::engine

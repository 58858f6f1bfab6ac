// The cells of a hot row that a flush writes: the row as it is at the end, and as each registered
// snapshot sees it. Cells that no reader can see any more are not walked, however many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/cell/cell.h"
#include "format/cell/cell_stream.h"
#include "format/types.h"
#include "memstore/memstore.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: the memstore outlives it and its streams.
class RowStates {
 public:
  /// The states of a row at the latest sequence and at `snapshots`, which rise.
  RowStates(const MemRow* row, std::span<const format::SequenceNumber> snapshots);

  /// An upper bound on the number of its cells.
  uint64_t size() const;
  /// Every cell of any state, once, in the order of CellLess, in pieces of whole columns.
  /// Lifetime: this outlives the result.
  std::unique_ptr<format::CellStream> Open() const;
  /// The same, appended to `*cells`.
  void Append(std::vector<format::Cell>* cells) const;

 private:
  std::vector<const RowTreeNode*> roots_;  // Distinct.
  std::vector<format::Cell> recent_;       // Sorted, distinct.
};

}  // namespace tandem::engine

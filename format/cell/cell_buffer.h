// Cells with copies of their bytes, for rows that come in pieces with short-lived memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/cell/cell.h"

namespace tandem::format {

/// Memory is reused from row to row. Threads: one at a time.
class CellBuffer {
 public:
  /// Copies the cell and its bytes.
  void Add(const Cell& cell);
  void Clear();
  bool empty() const { return entries_.empty(); }
  /// Bytes of qualifiers and values.
  size_t size_bytes() const { return heap_.size(); }
  /// Appends the cells in the order of CellLess to `*out`. Lifetime: until Add or Clear.
  void AppendSorted(std::vector<Cell>* out) const;

 private:
  struct Entry {
    Cell cell;     // Only the lengths of its views are valid.
    size_t place;  // Of its qualifier in heap_; the value follows.
  };
  std::string heap_;
  std::vector<Entry> entries_;
};

}  // namespace tandem::format

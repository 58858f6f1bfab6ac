// Views are set only in AppendSorted, because the heap moves as it grows.
#include "format/cell/cell_buffer.h"

#include <algorithm>

namespace tandem::format {

void CellBuffer::Add(const Cell& cell) {
  entries_.push_back({cell, heap_.size()});
  heap_.append(cell.qualifier);
  heap_.append(cell.value);
}

void CellBuffer::Clear() {
  heap_.clear();
  entries_.clear();
}

void CellBuffer::AppendSorted(std::vector<Cell>* out) const {
  const size_t first = out->size();
  const std::string_view heap(heap_);
  for (const Entry& entry : entries_) {
    Cell& cell = out->emplace_back(entry.cell);
    cell.qualifier = heap.substr(entry.place, entry.cell.qualifier.size());
    cell.value = heap.substr(entry.place + cell.qualifier.size(), entry.cell.value.size());
  }
  const auto begin = out->begin() + static_cast<ptrdiff_t>(first);
  if (!std::is_sorted(begin, out->end(), CellLess)) std::sort(begin, out->end(), CellLess);
}

}  // namespace tandem::format

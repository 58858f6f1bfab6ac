// Rows as they leave the database: finding a column in a view, and copying a view into one block of
// memory.
#include "tandem/row.h"

#include <new>

namespace tandem {
namespace {

/// Copies pieces one after the other into a block that is large enough for all.
class Packer {
 public:
  explicit Packer(char* at) : at_(at) {}
  std::string_view Add(std::string_view bytes) {
    if (bytes.empty()) return {};
    char* start = at_;
    std::memcpy(start, bytes.data(), bytes.size());
    at_ += bytes.size();
    return {start, bytes.size()};
  }

 private:
  char* at_;
};

// Whether both are the same bytes, as the family's name usually is in all cells of a view.
bool IsSame(std::string_view a, std::string_view b) {
  return a.data() == b.data() && a.size() == b.size();
}

size_t PackedBytes(const RowView& view) {
  size_t bytes = view.key().size();
  const Cell* previous = nullptr;
  for (const Cell& cell : view.cells()) {
    const bool is_same = previous != nullptr && IsSame(cell.family, previous->family);
    bytes += (is_same ? 0 : cell.family.size()) + cell.qualifier.size() + cell.value.size();
    previous = &cell;
  }
  return bytes;
}

}  // namespace

std::optional<std::string_view> RowView::Find(std::string_view family,
                                              std::string_view qualifier) const {
  for (const Cell& cell : cells_) {
    if (cell.qualifier == qualifier && cell.family == family) return cell.value;
  }
  return std::nullopt;
}

Row::Row(const RowView& view) {
  const std::span<const Cell> cells = view.cells();
  block_ = std::make_unique_for_overwrite<char[]>(cells.size_bytes() + PackedBytes(view));
  static_assert(alignof(Cell) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  auto* const packed = reinterpret_cast<Cell*>(block_.get());
  Packer packer(block_.get() + cells.size_bytes());
  key_ = packer.Add(view.key());
  std::string_view family;
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool is_same = i > 0 && IsSame(cells[i].family, cells[i - 1].family);
    if (!is_same) family = packer.Add(cells[i].family);
    new (packed + i) Cell{family, packer.Add(cells[i].qualifier), cells[i].timestamp,
                          packer.Add(cells[i].value)};
  }
  cells_ = {packed, cells.size()};
}

}  // namespace tandem

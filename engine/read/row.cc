// Rows as they leave the database: finding a column in a view, and copying a view into one block of
// memory.
#include "tandem/row.h"

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

size_t PackedBytes(const RowView& view) {
  size_t bytes = view.key().size();
  for (const Cell& cell : view.cells()) {
    bytes += cell.family.size() + cell.qualifier.size() + cell.value.size();
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

Row::Row(const RowView& view)
    : bytes_(std::make_unique_for_overwrite<char[]>(PackedBytes(view))),
      key_bytes_(view.key().size()) {
  Packer packer(bytes_.get());
  packer.Add(view.key());
  cells_.reserve(view.cells().size());
  for (const Cell& cell : view.cells()) {
    cells_.push_back({.family = packer.Add(cell.family),
                      .qualifier = packer.Add(cell.qualifier),
                      .timestamp = cell.timestamp,
                      .value = packer.Add(cell.value)});
  }
}

}  // namespace tandem

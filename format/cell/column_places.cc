// Finding the columns of a condition among the names of a file.
#include "format/cell/column_places.h"

#include <algorithm>

namespace tandem::format {

ColumnPlaces::ColumnPlaces(const Dictionary& names, std::span<const std::string> columns)
    : names_(names), columns_(columns), places_(names.size()) {
  for (uint32_t id = 1; id <= names.size(); ++id) places_[id - 1] = Find(names.Name(id));
}

size_t ColumnPlaces::Find(std::string_view name) const {
  const auto found = std::lower_bound(columns_.begin(), columns_.end(), name);
  if (found == columns_.end() || *found != name) return kNone;
  return static_cast<size_t>(found - columns_.begin());
}

}  // namespace tandem::format

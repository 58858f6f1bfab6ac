// Resolves wanted columns to the ids of a file.
#include "format/cell/projection.h"

#include <algorithm>

namespace tandem::format {

Projection::Projection(const Dictionary& names, std::span<const std::string> columns,
                       const BlockFile* file)
    : names_(names), file_(file), all_(false), columns_(columns), wanted_(names.size()) {
  for (uint32_t id = 1; id <= names.size(); ++id) wanted_[id - 1] = WantsName(names.Name(id));
}

bool Projection::WantsName(std::string_view name) const {
  return std::binary_search(columns_.begin(), columns_.end(), name, std::less<std::string_view>());
}

}  // namespace tandem::format

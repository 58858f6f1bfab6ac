// See delete_cell.h.
#include "engine/commit/delete_cell.h"

#include <algorithm>
#include <limits>

namespace tandem::engine {

std::optional<size_t> FindVersion(std::span<const format::Cell> versions,
                                  std::optional<int64_t> timestamp) {
  const auto is_meant = [timestamp](const format::Cell& version) {
    return !timestamp.has_value() || version.timestamp == *timestamp;
  };
  const auto found = std::find_if(versions.begin(), versions.end(), is_meant);
  if (found == versions.end()) return std::nullopt;
  return static_cast<size_t>(found - versions.begin());
}

std::vector<format::Cell> CellsOfDelete(const format::TableRecord& table,
                                        const format::Cell& marker,
                                        std::span<const format::Cell> versions, size_t hit) {
  std::vector<format::Cell> cells{marker};
  cells.back().timestamp = versions[hit].timestamp;

  const int64_t oldest = versions.back().timestamp;
  const format::FamilyRecord* family = table.FindFamily(marker.family);
  const size_t versions_max = family == nullptr ? 0 : family->options.max_versions;
  if (versions.size() >= versions_max && oldest > std::numeric_limits<int64_t>::min()) {
    format::Cell& cut = cells.emplace_back(marker);
    cut.kind = format::CellKind::kDeleteColumn;
    cut.timestamp = oldest - 1;
  }
  if (hit == 0 && versions.size() > 1) cells.push_back(versions[1]);
  return cells;
}

}  // namespace tandem::engine

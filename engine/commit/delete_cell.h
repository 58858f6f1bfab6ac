// What a DeleteCell writes, as a function of the versions that are visible before it (rule 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/cell/cell.h"
#include "format/schema.h"

namespace tandem::engine {

/// Which version is deleted, of those of a column from the newest on: that of exactly `timestamp`,
/// without one the newest. nullopt: none is, and nothing is written.
std::optional<size_t> FindVersion(std::span<const format::Cell> versions,
                                  std::optional<int64_t> timestamp);

/// The marker of the version `versions[hit]`; where as many are visible as the family keeps, a
/// DeleteColumn below them, since no version may come back; last, if it was the newest, the one
/// below it once more. `marker` names the column. Lifetime: that of the cells that are given.
std::vector<format::Cell> CellsOfDelete(const format::TableRecord& table,
                                        const format::Cell& marker,
                                        std::span<const format::Cell> versions, size_t hit);

}  // namespace tandem::engine

// The counters of a copy: at least what every file and every frame of the source has used,
// including those that are lost. A sequence number that is assigned twice would hide a later write
// behind an older one, or bring back what was deleted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/file_system.h"
#include "engine/salvage/report.h"
#include "engine/salvage/surviving_catalog.h"
#include "engine/storage/catalog.h"
#include "tandem/status.h"

namespace tandem::engine {

/// No database gets there: a million a second take two thousand years. A larger number is not
/// believed, since a counter raised to it might have none left to assign.
inline constexpr uint64_t kPlausibleMax = uint64_t{1} << 56;

/// Sequences up to this one are believed: kPlausibleMax, or the catalog's own.
inline uint64_t SequenceLimit(const format::Catalog& catalog) {
  return std::max(kPlausibleMax, catalog.counters.last_sequence);
}

/// Raises the counters of the catalog to what ROOT, every frame of every manifest and segment and
/// every store file show, and to what the catalog itself names. Timestamps come from frames and
/// counters alone: those of cells are their user's. What is not plausible is named in `report`.
/// Errors: kIoError, kOutOfMemory.
Status RaiseCounters(base::Directory* source, SurvivingCatalog* surviving, SalvageReport* report);

}  // namespace tandem::engine

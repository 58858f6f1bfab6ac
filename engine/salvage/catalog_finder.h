// The catalog of a damaged database, from the best source that survives.
#pragma once

#include "base/file_system.h"
#include "engine/salvage/report.h"
#include "engine/salvage/surviving_catalog.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Its counters are at least what every file and frame shows. Says in `report` where the catalog
/// comes from and what it may lack. Errors: kNotFound (no database), kCorruption (neither a
/// manifest nor a store file that says what its table is), kUnsupported, kIoError.
Result<SurvivingCatalog> FindCatalog(base::Directory* directory, SalvageReport* report);

}  // namespace tandem::engine

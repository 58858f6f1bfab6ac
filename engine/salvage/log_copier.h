// The log of a damaged database: what the chain proves is appended to the log of the copy, frame by
// frame, under the sequences that it had.
#pragma once

#include <string>

#include "base/file_system.h"
#include "engine/salvage/report.h"
#include "engine/salvage/surviving_catalog.h"
#include "engine/storage/storage.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Appends the frames of `source` to the log of `target` and syncs it. The first hole ends that:
/// what follows it is reported, and appended too when `past_holes` is set. Operations on tables
/// that the catalog lacks are left out and reported. Errors: kIoError, kNoSpace, kUnsupported.
Status SalvageLog(base::Directory* source, const SurvivingCatalog& catalog, bool past_holes,
                  Storage* target, SalvageReport* report);

}  // namespace tandem::engine

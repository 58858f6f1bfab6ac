// The log of a database that does not open: every segment, whatever the others are like.
#pragma once

#include "base/file_system.h"
#include "engine/salvage/surviving_catalog.h"
#include "tandem/status.h"
#include "tandem/verify.h"

namespace tandem::engine {

/// Follows the chain of each segment that the catalog names, and of each newer one. Damage becomes
/// findings, which say how many groups and operations after the damage are good by themselves; so
/// does a torn tail, which costs nothing that was acknowledged. Errors: kIoError, kOutOfMemory.
Status VerifyLog(base::Directory* directory, const SurvivingCatalog& surviving,
                 VerifyReport* report);

}  // namespace tandem::engine

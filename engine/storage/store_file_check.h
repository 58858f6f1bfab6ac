// The store files of a catalog, looked at before an open writes anything.
#pragma once

#include "base/file_system.h"
#include "engine/storage/storage.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Checks of each store file of the catalog that it exists, has its size, begins and ends as the
/// catalog says and may be written beside by this version. A few are open at a time, however many
/// there are; their reads go together, and bring what opening them reads next into the system's
/// cache. Errors: kCorruption, kUnsupported, kIoError.
Status CheckStoreFiles(base::FileSystem* file_system, Storage* storage);

}  // namespace tandem::engine

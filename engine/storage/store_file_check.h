// Checks the store files of a catalog before an open writes anything.
#pragma once

#include "base/file_system.h"
#include "engine/storage/storage.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Checks that each store file of the catalog exists, has its size, a header and a footer that fit
/// the catalog, and was not written by a later version that allows only reading. Only a few are
/// open at a time; their reads are submitted together, and bring what opening the files reads next
/// into the system's cache. Errors: kCorruption, kUnsupported, kIoError.
Status CheckStoreFiles(base::FileSystem* file_system, Storage* storage);

}  // namespace tandem::engine

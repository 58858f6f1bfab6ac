// Checks the store files of a catalog before an open writes anything.
#pragma once

#include <functional>
#include <memory>

#include "base/file_system.h"
#include "engine/storage/catalog.h"
#include "engine/storage/storage.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Takes a file whose ends are good.
using UseChecked =
    std::function<Status(const format::FileRecord& record, std::unique_ptr<base::File> file)>;

/// Checks that each store file of the catalog exists, has its size, a header and a footer that fit
/// the catalog, and was not written by a later version that allows only reading; passes each to
/// `use`. Only a few are checked at a time; their reads are submitted together, and bring what it
/// reads next into the system's cache. Errors: kCorruption, kUnsupported, kIoError, those of `use`.
Status CheckStoreFiles(base::FileSystem* file_system, Storage* storage,
                       const format::Catalog& catalog, const UseChecked& use);

}  // namespace tandem::engine

// Checks store files of a catalog before an open writes anything.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/file_system.h"
#include "engine/storage/catalog.h"
#include "engine/storage/storage.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Takes a file whose ends are good, and what was read of them.
using UseChecked =
    std::function<Status(const format::FileRecord& record, std::unique_ptr<base::File> file,
                         const format::FileEnds& ends)>;

/// Checks that each of the store files, which are those of a catalog of `database`, exists, has its
/// size, a header and a footer that fit the catalog, and was not written by a later version that
/// allows only reading; passes each to `use`. Only a few are checked at a time; their reads are
/// submitted together. Errors: kCorruption, kUnsupported, kIoError, those of `use`. Threads: any.
Status CheckStoreFiles(base::FileSystem* file_system, Storage* storage,
                       const format::DatabaseId& database,
                       std::span<const format::FileRecord* const> files, const UseChecked& use);

}  // namespace tandem::engine

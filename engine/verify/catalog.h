// What the catalog says about the store files, against the files.
#pragma once

#include "engine/region/view.h"
#include "engine/storage/storage.h"
#include "engine/verify/view.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Compares every file of the view with its record in the catalog: size, hash of all its bytes,
/// counts and bounds, and its sequences with the last one of the catalog. Mismatches are appended
/// to the report's findings. A file that a compaction removed from the catalog meanwhile is
/// skipped. Errors: kIoError.
Status VerifyFilesOf(const TableView& view, Storage* storage, VerifyRun* run);

}  // namespace tandem::engine

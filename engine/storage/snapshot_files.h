// What named snapshots keep.
#pragma once

#include <set>

#include "engine/storage/catalog.h"
#include "format/types.h"

namespace tandem::format {

/// The files of a snapshot of the catalog.
std::set<FileNumber> FilesOf(const SnapshotRecord& snapshot);
/// Those that no other snapshot refers to.
std::set<FileNumber> FilesOfNoOther(const SnapshotRecord& snapshot, const Catalog& catalog);
/// The files that regions of tables refer to.
std::set<FileNumber> FilesOfTables(const Catalog& catalog);

}  // namespace tandem::format

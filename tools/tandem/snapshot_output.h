// How named snapshots are shown by snapshot, du and info.
#pragma once

#include <span>

#include "tandem/space.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// Nothing where there is none.
void WriteSnapshots(std::span<const NamedSnapshotInfo> snapshots, RecordWriter* writer);

}  // namespace tandem::tools

// The frames of a manifest, as records.
#pragma once

#include "format/frame.h"
#include "tandem/status.h"
#include "tools/tandem/dump.h"

namespace tandem::tools {

/// What one frame of a manifest changes: counters, tables, files, regions, segments. Errors:
/// kCorruption, kUnsupported.
Status DumpManifestFrame(Dump& dump, const format::DecodedFrame& frame);

}  // namespace tandem::tools

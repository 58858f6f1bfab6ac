// Chains of frames: what dumps of log segments and manifests share.
#pragma once

#include <functional>
#include <string>

#include "format/frame.h"
#include "tandem/status.h"
#include "tools/dump/dump.h"
#include "wal/operation.h"

namespace tandem::tools {

/// Gives every frame to `visit`, which returns false to end the walk. Behind bytes that are neither
/// frame nor zero, which are noted, it goes on with the next good frame. Errors: kIoError,
/// kCancelled, what `visit` returns.
using FrameVisitor = std::function<Result<bool>(const format::DecodedFrame&)>;
Status WalkFrames(Dump& dump, const FrameVisitor& visit);
/// Gives every operation of a frame of a log segment to `visit`. Errors: kCorruption.
Status VisitOperations(const std::string& file, const format::DecodedFrame& decoded,
                       const std::function<void(const wal::Operation&)>& visit);

/// What one frame of a manifest changes: counters, tables, files, regions, segments. Errors:
/// kCorruption, kUnsupported.
Status DumpManifestFrame(Dump& dump, const format::DecodedFrame& frame);

}  // namespace tandem::tools

// How a chain of frames may end in a file that nothing vouches for.
#pragma once

#include <cstdint>

#include "base/file_system.h"
#include "format/frame.h"
#include "tandem/status.h"

namespace tandem::tools {

/// `reader` found no frame at `offset`. OK at the end of the file and before zeros up to it (the
/// reserve of a segment that is being written). Errors: kCorruption with file, offset, expected and
/// found for anything else; kIoError.
Status CheckChainEnd(base::File* file, const format::FrameReader& reader, uint64_t offset);

}  // namespace tandem::tools

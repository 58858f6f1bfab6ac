// Finds blocks by their own bytes, when the index or table that should locate them is damaged. Each
// multiple of 8 is tried; the checksum, which covers file and offset, decides.
#pragma once

#include <cstdint>
#include <functional>

#include "format/block/block_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Calls `visit` with each good block in [begin, end) of `file`, front to back. After bytes that
/// are not a block it continues at the next multiple of 8. Errors: kIoError, what `visit` returns.
Status FindBlocks(const BlockFile& file, uint64_t begin, uint64_t end,
                  const std::function<Status(const BlockRef&, BlockHandle)>& visit);

}  // namespace tandem::format

// Blocks found by their own bytes, where what should place them is damaged: each multiple of 8 is
// tried, and the checksum, which knows file and offset, decides.
#pragma once

#include <cstdint>
#include <functional>

#include "format/block/block_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Gives each good block in [begin, end) of `file` to `visit`, front to back; behind bytes that are
/// no block it goes on with the next multiple of 8. Errors: kIoError, what `visit` returns.
Status FindBlocks(const BlockFile& file, uint64_t begin, uint64_t end,
                  const std::function<Status(const BlockRef&, BlockHandle)>& visit);

}  // namespace tandem::format

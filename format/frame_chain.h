// Walks the frames of one log segment or manifest, and distinguishes a torn tail from damage. The
// chain ends at the first bytes that are not a frame; if the durable mark of a later good frame
// reaches that gap, the missing frames had been synced and the file is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "format/frame.h"
#include "tandem/status.h"

namespace tandem::format {

/// A position in a chain: the header before the walk, the last good frame after it.
struct FrameChain {
  uint64_t last_checksum = 0;  ///< Of the last frame; of the header before the first.
  uint64_t last_sequence = 0;  ///< Of the last frame's last operation.
  int64_t last_timestamp = 0;
  uint64_t durable_mark = 0;  ///< Highest of any frame.
  uint64_t frames = 0;
  bool only_zeros_follow = false;  ///< Known to be so: the rest of the file is reserved space.
};

/// Calls `visit` with each frame from reader->offset() on, up to the limit or the first bytes that
/// are not a frame, and returns the offset where the chain ends; reader->reason() then says why.
/// Errors: kCorruption with file and offset (a frame with a wrong predecessor or with sequences
/// that do not ascend; a gap that a later durable mark reaches), kIoError, errors of `visit`.
Result<uint64_t> FollowChain(FrameReader* reader, std::string_view file_name,
                             const std::function<Status(const Frame&)>& visit, FrameChain* chain);

/// Whether all bytes are zero, as those of reserved space are.
bool IsZero(std::string_view bytes);
/// Whether the file has a nonzero byte in [begin, end). Reserved space is zero. Errors: kIoError.
Result<bool> HasBytes(base::File* file, uint64_t begin, uint64_t end);

}  // namespace tandem::format

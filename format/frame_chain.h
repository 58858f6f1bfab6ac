// The walk along the frames of one log segment or manifest, with the one rule that tells a torn
// tail from damage: the chain ends at the first bytes that are no frame; a later good frame whose
// durable mark reaches the gap there proves that what is missing had been synced.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "format/frame.h"
#include "tandem/status.h"

namespace tandem::format {

/// Where a chain stands: before a walk at the header, after it at its last good frame.
struct FrameChain {
  uint64_t last_checksum = 0;  ///< Of the last frame; of the header before the first.
  uint64_t last_sequence = 0;  ///< Of the last frame's last operation.
  int64_t last_timestamp = 0;
  uint64_t durable_mark = 0;  ///< Highest of any frame.
  uint64_t frames = 0;
};

/// Gives each frame from reader->offset() on to `visit` until the limit or the first bytes that are
/// no frame, and returns the offset where the chain ends; reader->reason() then tells why. Errors:
/// kCorruption naming file and offset (a frame with another predecessor, or whose sequences do not
/// ascend; a gap that a later durable mark reaches), kIoError, what `visit` returns.
Result<uint64_t> FollowChain(FrameReader* reader, std::string_view file_name,
                             const std::function<Status(const Frame&)>& visit, FrameChain* chain);

/// Whether any byte of [begin, end) is there and not zero, as bytes of reserved space are. Errors:
/// kIoError.
Result<bool> HasBytes(base::File* file, uint64_t begin, uint64_t end);

}  // namespace tandem::format

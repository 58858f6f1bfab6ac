// Walking a chain, and the rule for gaps:
// 1. A good frame must name the checksum of the one before it and sequences above it.
// 2. The first bytes that are not a frame start a gap at the last good sequence + 1.
// 3. Each multiple of 8 after it is searched for a frame. Only the durable mark of such a frame is
//    used: if it reaches the gap, synced frames are damaged.
// 4. Otherwise the chain ends before the gap, and the frames after it are discarded.
#include "format/frame_chain.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/corruption.h"

namespace tandem::format {
namespace {

uint64_t LastSequence(const Frame& frame) {
  return frame.first_sequence + (frame.count == 0 ? 0 : frame.count - 1);
}

Status CheckLink(const DecodedFrame& found, std::string_view file_name, const FrameChain& chain) {
  const Frame& frame = found.frame;
  if (frame.previous != chain.last_checksum) {
    return CorruptionAt(
        file_name, found.offset,
        HashMismatch("checksum of the frame before", chain.last_checksum, frame.previous));
  }
  if (frame.first_sequence <= chain.last_sequence || LastSequence(frame) < frame.first_sequence) {
    return CorruptionAt(
        file_name, found.offset,
        Mismatch("first sequence of frame: above", chain.last_sequence, frame.first_sequence));
  }
  if (frame.durable_mark >= frame.first_sequence) {
    return CorruptionAt(
        file_name, found.offset,
        Mismatch("durable mark of frame: below", frame.first_sequence, frame.durable_mark));
  }
  return {};
}

void Extend(const DecodedFrame& found, FrameChain* chain) {
  chain->last_checksum = found.checksum;
  chain->last_sequence = LastSequence(found.frame);
  chain->last_timestamp = found.frame.timestamp;
  if (found.frame.durable_mark > chain->durable_mark) {
    chain->durable_mark = found.frame.durable_mark;
  }
  ++chain->frames;
}

// Searches after the gap at reader->offset(). Keeps the reason for the gap in reader->reason().
Status CheckGap(FrameReader* reader, std::string_view file_name, FrameChain* chain) {
  const uint64_t gap = reader->offset();
  const std::string reason = reader->reason();
  ASSIGN_OR_RETURN(chain->only_zeros_follow, reader->SkipZeros());
  while (reader->offset() < reader->limit()) {
    ASSIGN_OR_RETURN(const std::optional<DecodedFrame> later, reader->FindNext());
    if (!later || later->frame.durable_mark <= chain->last_sequence) continue;
    return CorruptionAt(file_name, gap,
                        reason + "; the frame at offset " + std::to_string(later->offset) +
                            " says that sequence " + std::to_string(later->frame.durable_mark) +
                            " was durable, the last one found is " +
                            std::to_string(chain->last_sequence));
  }
  reader->set_reason(reason);
  return {};
}

}  // namespace

Result<uint64_t> FollowChain(FrameReader* reader, std::string_view file_name,
                             const std::function<Status(const Frame&)>& visit, FrameChain* chain) {
  while (reader->offset() < reader->limit()) {
    ASSIGN_OR_RETURN(const std::optional<DecodedFrame> found, reader->Next());
    if (!found) break;
    RETURN_IF_ERROR(CheckLink(*found, file_name, *chain));
    RETURN_IF_ERROR(visit(found->frame));
    Extend(*found, chain);
  }
  const uint64_t end = reader->offset();
  if (end < reader->limit()) {
    RETURN_IF_ERROR(CheckGap(reader, file_name, chain));
  } else {
    reader->set_reason("the bytes end here");
  }
  return end;
}

// The first is, and each is as the one before it.
bool IsZero(std::string_view bytes) {
  return bytes.empty() ||
         (bytes.front() == '\0' && bytes.substr(1) == bytes.substr(0, bytes.size() - 1));
}

Result<bool> HasBytes(base::File* file, uint64_t begin, uint64_t end) {
  char piece[4096];
  for (uint64_t at = begin; at < end; at += sizeof(piece)) {
    const size_t wanted = std::min<uint64_t>(sizeof(piece), end - at);
    ASSIGN_OR_RETURN(const size_t count, file->Read(at, {piece, wanted}));
    if (!IsZero({piece, count})) return true;
    if (count < wanted) break;
  }
  return false;
}

}  // namespace tandem::format

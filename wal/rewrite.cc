// Rewrites many segments into one. Frames are copied whole, one at a time, so that batches are not
// split and memory does not grow with the log.
#include <algorithm>

#include "base/status_macros.h"
#include "format/corruption.h"
#include "wal/log.h"

namespace tandem::wal {
namespace {

constexpr uint64_t kWriteBytes = 1 << 20;

class Rewriting {
 public:
  Rewriting(const std::function<bool(const format::Frame&)>& is_needed, SegmentWriter* to)
      : is_needed_(is_needed), to_(*to) {}

  // Copies the needed frames of `segment`, up to the end that replay found.
  Status Copy(base::File* file, const format::BoundFile& segment) {
    format::FrameReader reader(file, segment.id, kSegmentHeaderBytes, segment.length_bytes);
    while (reader.offset() < reader.limit()) {
      ASSIGN_OR_RETURN(const auto found, reader.Next());
      if (!found) return format::CorruptionAt(file->name(), reader.offset(), reader.reason());
      if (!is_needed_(found->frame)) continue;
      format::Frame frame = found->frame;
      frame.durable_mark = frame.first_sequence - 1;
      to_.Append(frame);
      if (to_.size_bytes() - to_.end().length_bytes >= kWriteBytes) RETURN_IF_ERROR(to_.Write());
    }
    return {};
  }

 private:
  const std::function<bool(const format::Frame&)>& is_needed_;
  SegmentWriter& to_;
};

}  // namespace

SegmentEnd RewrittenPredecessor(const ReplayReport& log) {
  return {.last_checksum = std::max<uint64_t>(log.end.last_checksum, 1)};
}

Status RewriteLog(const ReplayReport& log, const SegmentOpener& open,
                  const std::function<bool(const format::Frame&)>& is_needed, SegmentWriter* to) {
  Rewriting rewriting(is_needed, to);
  for (const format::BoundFile& segment : log.segments) {
    ASSIGN_OR_RETURN(const std::shared_ptr<base::File> file, open(segment.number));
    RETURN_IF_ERROR(rewriting.Copy(file.get(), segment));
  }
  return to->Close();
}

}  // namespace tandem::wal

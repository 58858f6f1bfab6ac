// Replay:
// 1. Every header is read. It must belong to this database and to the segment that the catalog
//    names.
// 2. Each segment but the last ends where its successor's header says. If the log is not closed,
//    later bytes are ignored: a crash left them, and the recovery after it discarded them.
// 3. The frames of each segment are read along the chain (format/frame_chain.h).
// 4. Only the last segment may end early, at a torn tail, and not before the bytes known to be
//    durable.
// Steps 1 and 3 open one segment at a time: there may be more segments than descriptors.
#include <algorithm>

#include "base/status_macros.h"
#include "format/corruption.h"
#include "format/frame_chain.h"
#include "wal/log.h"

namespace tandem::wal {
namespace {

// A segment, with the facts known before its frames are read.
struct Opened {
  const ReplaySegment* segment = nullptr;
  std::shared_ptr<base::File> file;  // While its header or its frames are read.
  std::string name;
  SegmentHeader header;
  uint64_t size_bytes = 0;
  const SegmentEnd* vouched = nullptr;  // The end that the successor states.
};

Result<Opened> OpenSegment(const ReplaySegment& segment, const format::DatabaseId& database,
                           const SegmentOpener& open) {
  Opened opened;
  opened.segment = &segment;
  ASSIGN_OR_RETURN(const std::shared_ptr<base::File> file, open(segment.number));
  opened.name = file->name();
  ASSIGN_OR_RETURN(opened.size_bytes, file->Size());
  ASSIGN_OR_RETURN(opened.header, ReadSegmentHeader(file.get()));
  const SegmentSpec& spec = opened.header.spec;
  if (spec.database != database || spec.number != segment.number || spec.id != segment.id) {
    return format::CorruptionAt(opened.name, 40,
                                "database id, number or file id is not as the catalog says");
  }
  return opened;
}

Status CheckLength(const Opened& opened) {
  const format::BoundFile* bound = opened.segment->bound;
  if (bound != nullptr && opened.size_bytes != bound->length_bytes) {
    return format::CorruptionAt(
        opened.name, std::min(opened.size_bytes, bound->length_bytes),
        format::Mismatch("bytes of file", bound->length_bytes, opened.size_bytes));
  }
  if (opened.vouched == nullptr) return {};
  const uint64_t length = opened.vouched->length_bytes;
  if (opened.size_bytes < length || (bound != nullptr && opened.size_bytes != length)) {
    return format::CorruptionAt(
        opened.name, std::min(opened.size_bytes, length),
        format::Mismatch("bytes of file, as its successor says", length, opened.size_bytes));
  }
  return {};
}

Result<std::vector<Opened>> OpenAll(const std::vector<ReplaySegment>& segments,
                                    const format::DatabaseId& database, const SegmentOpener& open) {
  std::vector<Opened> opened;
  for (const ReplaySegment& segment : segments) {
    ASSIGN_OR_RETURN(Opened next, OpenSegment(segment, database, open));
    opened.push_back(std::move(next));
  }
  for (size_t i = 0; i < opened.size(); ++i) {
    if (i + 1 < opened.size()) opened[i].vouched = &opened[i + 1].header.spec.predecessor;
    RETURN_IF_ERROR(CheckLength(opened[i]));
  }
  return opened;
}

// Checks a segment's end against ROOT, its successor's header and the bytes known to be durable.
Status CheckEnd(const Opened& opened, const SegmentEnd& end, const std::string& reason) {
  const format::BoundFile* bound = opened.segment->bound;
  const SegmentEnd* vouched = opened.vouched;
  uint64_t length_min = opened.segment->durable_bytes;
  if (bound != nullptr) length_min = std::max(length_min, bound->length_bytes);
  if (vouched != nullptr) length_min = std::max(length_min, vouched->length_bytes);
  if (end.length_bytes < length_min) {
    return format::CorruptionAt(opened.name, end.length_bytes,
                                reason + "; " + std::to_string(length_min) + " bytes were durable");
  }
  if (bound != nullptr && end.last_checksum != bound->last_checksum) {
    return format::CorruptionAt(opened.name, end.length_bytes,
                                format::HashMismatch("last checksum, as ROOT says",
                                                     bound->last_checksum, end.last_checksum));
  }
  if (vouched == nullptr) return {};
  if (end.last_checksum != vouched->last_checksum) {
    return format::CorruptionAt(opened.name, end.length_bytes,
                                format::HashMismatch("last checksum, as its successor says",
                                                     vouched->last_checksum, end.last_checksum));
  }
  if (end.last_sequence != vouched->last_sequence) {
    return format::CorruptionAt(opened.name, end.length_bytes,
                                format::Mismatch("last sequence, as its successor says",
                                                 vouched->last_sequence, end.last_sequence));
  }
  return {};
}

// Bytes from `end` to the last one that is not zero.
Result<uint64_t> TornBytes(const Opened& opened, uint64_t end) {
  uint64_t torn = 0;
  std::string chunk;
  for (uint64_t offset = end; offset < opened.size_bytes; offset += chunk.size()) {
    chunk.resize(std::min<uint64_t>(opened.size_bytes - offset, 64 * 1024));
    ASSIGN_OR_RETURN(const size_t count, opened.file->Read(offset, chunk));
    const auto read = std::string_view(chunk).substr(0, count);
    if (!format::IsZero(read)) torn = offset + read.find_last_not_of('\0') + 1 - end;
    if (count < chunk.size()) break;
  }
  return torn;
}

Status ReplayOne(const Opened& opened, bool is_last, const FrameVisitor& visit,
                 ReplayReport* report) {
  format::FrameChain chain;
  chain.last_checksum = opened.header.checksum;
  chain.last_sequence = opened.header.spec.predecessor.last_sequence;
  const uint64_t limit = opened.vouched ? opened.vouched->length_bytes : opened.size_bytes;
  format::FrameReader reader(opened.file.get(), opened.segment->id, kSegmentHeaderBytes, limit);
  const auto count_and_visit = [&](const format::Frame& frame) {
    report->operations += frame.count;
    const Status status = visit(frame);
    if (status.code() != StatusCode::kCorruption) return status;
    // The visitor knows what is wrong; only the reader knows where.
    return format::CorruptionAt(
        opened.name, reader.offset() - format::FrameBytes(frame.payload.size()), status.message());
  };
  ASSIGN_OR_RETURN(const uint64_t end,
                   format::FollowChain(&reader, opened.name, count_and_visit, &chain));
  report->end = {end, chain.last_checksum, chain.last_sequence};
  report->last_segment = opened.segment->number;
  report->segments.push_back(
      {opened.segment->number, opened.segment->id, end, chain.last_checksum});
  report->frames += chain.frames;
  report->durable_mark = std::max(report->durable_mark, chain.durable_mark);
  if (chain.frames > 0) {
    report->last_sequence = chain.last_sequence;
    report->last_timestamp = chain.last_timestamp;
  }
  RETURN_IF_ERROR(CheckEnd(opened, report->end, reader.reason()));
  // Reserved space is not read again.
  if (!is_last || chain.only_zeros_follow) return Status();
  ASSIGN_OR_RETURN(report->torn_bytes, TornBytes(opened, end));
  return Status();
}

}  // namespace

Result<ReplayReport> Replay(const std::vector<ReplaySegment>& segments,
                            const format::DatabaseId& database, const SegmentOpener& open,
                            const FrameVisitor& visit) {
  ReplayReport report;
  ASSIGN_OR_RETURN(std::vector<Opened> opened, OpenAll(segments, database, open));
  for (Opened& segment : opened) {
    ASSIGN_OR_RETURN(segment.file, open(segment.segment->number));
    RETURN_IF_ERROR(ReplayOne(segment, &segment == &opened.back(), visit, &report));
    segment.file.reset();
  }
  return report;
}

}  // namespace tandem::wal

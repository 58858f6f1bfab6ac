// A segment's end is vouched for by its successor's header, by the manifest or by nobody; a chain
// that breaks off before it has lost operations.
#include "engine/salvage/verify_log.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "engine/verify/findings.h"
#include "format/corruption.h"
#include "format/frame_chain.h"
#include "wal/log.h"
#include "wal/operation.h"

namespace tandem::engine {
namespace {

using format::Findings;

constexpr format::FindingTopic kLost = {"log", FindingEffect::kRows};

struct Segment {
  LocalFile file;
  std::unique_ptr<base::File> bytes;  // Null: it is missing.
  uint64_t size_bytes = 0;
  std::optional<format::FileId> id;
  Result<wal::SegmentHeader> header = Status::NotFound("not read");
};

class LogVerifier {
 public:
  LogVerifier(base::Directory* directory, const SurvivingCatalog& surviving, VerifyReport* report)
      : directory_(*directory), surviving_(surviving), report_(*report) {}

  Status Run();

 private:
  Status ListSegments();
  Status Open(Segment* segment);
  Status Verify(size_t at);
  Status Follow(const Segment& segment, const wal::SegmentEnd* stated, Findings* findings);
  Status CompareEnd(const wal::SegmentEnd& end, const wal::SegmentEnd& stated, Findings* findings);
  Status AddTail(const Segment& segment, uint64_t end, Findings* findings);
  Status AddBreak(const Segment& segment, uint64_t offset, std::string reason, Findings* findings);
  uint64_t DurableBytes(const Segment& segment, const wal::SegmentEnd* stated) const;

  base::Directory& directory_;
  const SurvivingCatalog& surviving_;
  VerifyReport& report_;
  std::vector<Segment> segments_;
};

Status LogVerifier::Run() {
  RETURN_IF_ERROR(ListSegments());
  for (size_t at = 0; at < segments_.size(); ++at) RETURN_IF_ERROR(Verify(at));
  return {};
}

// Segments before the catalog's first one were dropped: what they held is in store files.
Status LogVerifier::ListSegments() {
  const auto& named = surviving_.catalog.segments;
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, ListLocalFiles(&directory_));
  for (const LocalFile& file : files) {
    const bool is_old = !named.empty() && file.number < named.front().number;
    if (file.kind == LocalFileKind::kSegment && !is_old) segments_.emplace_back().file = file;
  }
  for (const format::SegmentRecord& record : named) {
    auto found = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& segment) {
      return segment.file.number == record.number;
    });
    if (found == segments_.end()) {
      found = segments_.insert(segments_.end(), Segment());
      found->file = {LocalFileKind::kSegment, record.number, SegmentName(record.number)};
    }
    found->id = record.id;
  }
  std::sort(segments_.begin(), segments_.end(),
            [](const Segment& a, const Segment& b) { return a.file.number < b.file.number; });
  for (Segment& segment : segments_) RETURN_IF_ERROR(Open(&segment));
  return {};
}

Status LogVerifier::Open(Segment* segment) {
  auto opened = directory_.Open(segment->file.name, base::OpenMode::kReadOnly);
  if (!opened) return base::MayPass(opened.error()) ? opened.error() : Status();
  segment->bytes = *std::move(opened);
  ASSIGN_OR_RETURN(segment->size_bytes, segment->bytes->Size());
  segment->header = wal::ReadSegmentHeader(segment->bytes.get());
  if (segment->header && !segment->id.has_value()) segment->id = segment->header->spec.id;
  return {};
}

Status LogVerifier::Verify(size_t at) {
  const Segment& segment = segments_[at];
  Findings findings(segment.file.name, &report_);
  findings.set_topic(kLost);
  if (segment.bytes == nullptr) {
    // An old manifest may name segments that were dropped since.
    if (!surviving_.is_whole) findings.set_topic({"log", FindingEffect::kAccess});
    findings.Add("the manifest names this segment, but it does not exist");
    return {};
  }
  ++report_.files;
  report_.bytes += segment.size_bytes;
  if (!segment.header) {
    // A crash may leave a segment half begun, before the manifest knows of it.
    const bool is_begun = !segment.id.has_value() && at + 1 == segments_.size();
    if (is_begun) findings.set_topic({"log", FindingEffect::kNothing});
    RETURN_IF_ERROR(findings.AddError(segment.header.error()));
    return segment.id.has_value()
               ? AddBreak(segment, wal::kSegmentHeaderBytes, "the header is broken", &findings)
               : Status();
  }
  if (*segment.id != segment.header->spec.id) {
    findings.AddAt(64, "the file id is not the one that the manifest names");
    return {};
  }
  const bool is_followed = at + 1 < segments_.size() && segments_[at + 1].header.has_value();
  const wal::SegmentEnd* stated =
      is_followed ? &segments_[at + 1].header->spec.predecessor : nullptr;
  return Follow(segment, stated, &findings);
}

uint64_t LogVerifier::DurableBytes(const Segment& segment, const wal::SegmentEnd* stated) const {
  if (stated != nullptr) return stated->length_bytes;
  const bool is_marked = segment.file.number.value == surviving_.durable_log_segment;
  return is_marked ? surviving_.durable_log_bytes : 0;
}

// `stated`: the end that the successor's header vouches for; nullptr: there is none.
Status LogVerifier::Follow(const Segment& segment, const wal::SegmentEnd* stated,
                           Findings* findings) {
  const uint64_t durable = DurableBytes(segment, stated);
  const uint64_t limit =
      stated != nullptr ? std::min(segment.size_bytes, durable) : segment.size_bytes;
  format::FrameChain chain;
  chain.last_checksum = segment.header->checksum;
  chain.last_sequence = segment.header->spec.predecessor.last_sequence;
  format::FrameReader reader(segment.bytes.get(), *segment.id, wal::kSegmentHeaderBytes, limit);
  uint64_t good = wal::kSegmentHeaderBytes;
  const auto visit = [&](const format::Frame& frame) {
    wal::GroupReader group(frame.payload, format::SequenceNumber(frame.first_sequence),
                           frame.timestamp);
    wal::Operation operation;
    while (group.Next(&operation)) report_.cells += operation.cells.size();
    if (group.status().ok()) good = reader.offset();
    return group.status();
  };
  const Result<uint64_t> end = format::FollowChain(&reader, segment.file.name, visit, &chain);
  if (!end) {
    if (end.error().code() != StatusCode::kCorruption) return end.error();
    return AddBreak(segment, good, std::string(end.error().message()), findings);
  }
  if (*end < durable) {
    return AddBreak(segment, *end,
                    reader.reason() + "; " + std::to_string(durable) + " bytes were durable",
                    findings);
  }
  if (stated != nullptr) {
    return CompareEnd({*end, chain.last_checksum, chain.last_sequence}, *stated, findings);
  }
  return AddTail(segment, *end, findings);
}

Status LogVerifier::CompareEnd(const wal::SegmentEnd& end, const wal::SegmentEnd& stated,
                               Findings* findings) {
  if (end.last_checksum != stated.last_checksum) {
    findings->AddAt(end.length_bytes,
                    format::HashMismatch("last checksum, as its successor says",
                                         stated.last_checksum, end.last_checksum));
  }
  if (end.last_sequence != stated.last_sequence) {
    findings->AddAt(end.length_bytes, format::Mismatch("last sequence, as its successor says",
                                                       stated.last_sequence, end.last_sequence));
  }
  return {};
}

// After the end of the last segment there are zeros, or what a crash left of the last group.
Status LogVerifier::AddTail(const Segment& segment, uint64_t end, Findings* findings) {
  char piece[4096];
  uint64_t torn = 0;
  for (uint64_t at = end; at < segment.size_bytes; at += sizeof(piece)) {
    ASSIGN_OR_RETURN(const size_t count, segment.bytes->Read(at, piece));
    const size_t last = std::string_view(piece, count).find_last_not_of('\0');
    if (last != std::string_view::npos) torn = at + last + 1 - end;
    if (count < sizeof(piece)) break;
  }
  if (torn == 0) return {};
  findings->AddOn({"log", FindingEffect::kNothing, end},
                  std::to_string(torn) + " torn bytes: a group that a crash cut off");
  return {};
}

Status LogVerifier::AddBreak(const Segment& segment, uint64_t offset, std::string reason,
                             Findings* findings) {
  uint64_t groups = 0, operations = 0;  // That are good by themselves.
  format::FrameReader rest(segment.bytes.get(), *segment.id, offset, segment.size_bytes);
  RETURN_IF_ERROR(rest.FindAll([&](const format::Frame& frame) {
    ++groups;
    operations += frame.count;
    return Status();
  }));
  // The error of a chain names file and offset itself.
  reason = format::WithoutPlace(reason, segment.file.name, offset);
  findings->AddAt(offset, std::move(reason) + "; after it " + std::to_string(groups) +
                              " groups with " + std::to_string(operations) +
                              " operations are good");
  return {};
}

}  // namespace

Status VerifyLog(base::Directory* directory, const SurvivingCatalog& surviving,
                 VerifyReport* report) {
  return LogVerifier(directory, surviving, report).Run();
}

}  // namespace tandem::engine

// 1. The segments are those of the catalog and any newer one; one that is missing is a hole.
// 2. Each is followed along the chain, up to where its successor says that it ends.
// 3. After a hole, frames are found only by their own bytes.
#include "engine/salvage/log_copier.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/salvage/counters.h"
#include "engine/salvage/schema_check.h"
#include "engine/storage/files.h"
#include "format/frame_chain.h"
#include "wal/log.h"
#include "wal/operation.h"

namespace tandem::engine {
namespace {

constexpr uint64_t kSegmentBytesMax = 64 << 20;

struct Segment {
  std::string name;
  format::FileNumber number;
  std::unique_ptr<base::File> file;  // Null: it is missing.
  uint64_t size_bytes = 0;
  std::optional<format::FileId> id;          // nullopt: unknown.
  std::optional<wal::SegmentHeader> header;  // nullopt: broken.
  std::string reason;                        // Why the header is broken.
};

class LogSalvage {
 public:
  LogSalvage(base::Directory* source, const SurvivingCatalog& catalog, bool past_holes,
             Storage* target, SalvageReport* report)
      : source_(*source),
        surviving_(catalog),
        catalog_(catalog.catalog),
        past_holes_(past_holes),
        target_(*target),
        report_(*report) {}

  Status Run();

 private:
  Status ListSegments();
  Status OpenSegment(Segment* segment);
  void DropUnusedRewriting();
  Status Follow(size_t at);
  std::string WhyNotJoined(size_t at) const;
  void BeginHole(const Segment& segment, uint64_t offset, std::string reason);
  Status ReadBehind(const Segment& segment, uint64_t offset);
  Status CopyFrame(const format::Frame& frame);
  Status CopyOperations(const format::Frame& frame);
  Status CheckPlaceFor(const wal::Operation& operation) const;
  void Lose(const wal::Operation& operation, const Status& why);
  void DescribeLost();

  base::Directory& source_;
  const SurvivingCatalog& surviving_;
  const format::Catalog& catalog_;
  const bool past_holes_;
  Storage& target_;
  SalvageReport& report_;
  std::vector<Segment> segments_;
  wal::SegmentEnd end_;  // Of the segment before.
  std::optional<LogHole> hole_;
  uint64_t appended_through_ = 0;
  std::string reading_;  // Name of the current segment.
  size_t lost_begin_ = 0;
};

Status LogSalvage::Run() {
  lost_begin_ = report_.lost.size();
  RETURN_IF_ERROR(ListSegments());
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (!hole_.has_value()) {
      RETURN_IF_ERROR(Follow(i));
    } else {
      RETURN_IF_ERROR(ReadBehind(segments_[i], wal::kSegmentHeaderBytes));
    }
  }
  if (hole_.has_value()) report_.holes.push_back(*hole_);
  DescribeLost();
  return target_.SyncLog();
}

Status LogSalvage::ListSegments() {
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, ListLocalFiles(&source_));
  const auto& named = catalog_.segments;
  for (const LocalFile& file : files) {
    // Segments before the catalog's first one were dropped: all they held is in store files.
    const bool is_old =
        surviving_.is_from_manifest && !named.empty() && file.number < named.front().number;
    if (file.kind != LocalFileKind::kSegment || is_old) continue;
    segments_.emplace_back();
    segments_.back().name = file.name;
    segments_.back().number = file.number;
  }
  for (const format::SegmentRecord& record : named) {
    const auto found = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& one) {
      return one.number == record.number;
    });
    Segment& segment = found == segments_.end() ? segments_.emplace_back() : *found;
    segment.name = SegmentName(record.number);
    segment.number = record.number;
    segment.id = record.id;
  }
  std::sort(segments_.begin(), segments_.end(),
            [](const Segment& a, const Segment& b) { return a.number < b.number; });
  for (Segment& segment : segments_) RETURN_IF_ERROR(OpenSegment(&segment));
  // A segment that was created but not named, and has no header yet, holds nothing.
  while (!segments_.empty() && !segments_.back().id.has_value() &&
         segments_.back().size_bytes <= wal::kSegmentHeaderBytes) {
    segments_.pop_back();
  }
  DropUnusedRewriting();
  return {};
}

// A rewritten segment replaces the older ones by the edit that names it; one that a crash left
// without a name may be half written. Frames in a later segment show that it was named.
void LogSalvage::DropUnusedRewriting() {
  if (!surviving_.is_from_manifest || catalog_.segments.empty()) return;
  const format::FileNumber newest = catalog_.segments.back().number;
  const auto unused = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& one) {
    return one.number > newest && one.header.has_value() && wal::IsRewritten(one.header->spec);
  });
  if (unused == segments_.end()) return;
  const bool was_named = std::any_of(unused + 1, segments_.end(), [](const Segment& later) {
    return later.size_bytes > wal::kSegmentHeaderBytes;
  });
  if (!was_named) segments_.erase(unused, segments_.end());
}

Status LogSalvage::OpenSegment(Segment* segment) {
  auto file = source_.Open(segment->name, base::OpenMode::kReadOnly);
  if (!file) {
    if (file.error().code() != StatusCode::kNotFound) return file.error();
    segment->reason = "the segment is missing";
    return {};
  }
  segment->file = *std::move(file);
  ASSIGN_OR_RETURN(segment->size_bytes, segment->file->Size());
  Result<wal::SegmentHeader> header = wal::ReadSegmentHeader(segment->file.get());
  if (!header) {
    if (header.error().code() != StatusCode::kCorruption) return header.error();
    segment->reason = header.error().message();
    return {};
  }
  const bool is_ours =
      (!surviving_.is_from_manifest || header->spec.database == catalog_.database) &&
      (!segment->id.has_value() || header->spec.id == *segment->id);
  if (!is_ours) {
    segment->reason = segment->name + " is of another database, or another file";
    return {};
  }
  segment->id = header->spec.id;
  segment->header = *std::move(header);
  return {};
}

// Why segment `at` does not continue where the one before ended; empty: it does.
std::string LogSalvage::WhyNotJoined(size_t at) const {
  const Segment& segment = segments_[at];
  if (segment.file == nullptr || !segment.id.has_value()) return segment.reason;
  if (at == 0 || !segment.header.has_value()) return "";
  if (wal::IsRewritten(segment.header->spec)) return "";  // It begins a log of its own.
  const wal::SegmentEnd& stated = segment.header->spec.predecessor;
  const bool joins = stated.length_bytes == end_.length_bytes &&
                     stated.last_checksum == end_.last_checksum &&
                     stated.last_sequence == end_.last_sequence;
  return joins ? "" : "the segment before does not end as this one says";
}

Status LogSalvage::Follow(size_t at) {
  const Segment& segment = segments_[at];
  reading_ = segment.name;
  if (std::string reason = WhyNotJoined(at); !reason.empty()) {
    BeginHole(segment, 0, std::move(reason));
    return ReadBehind(segment, wal::kSegmentHeaderBytes);
  }
  const bool is_followed = at + 1 < segments_.size() && segments_[at + 1].header.has_value();
  uint64_t limit = segment.size_bytes, durable = 0;
  if (is_followed) {
    durable = segments_[at + 1].header->spec.predecessor.length_bytes;
    limit = std::min(limit, durable);
  } else if (segment.number.value == surviving_.durable_log_segment) {
    durable = surviving_.durable_log_bytes;
  }
  format::FrameChain chain;
  chain.last_sequence = end_.last_sequence;
  if (segment.header.has_value()) {
    chain.last_checksum = segment.header->checksum;
    chain.last_sequence = segment.header->spec.predecessor.last_sequence;
  } else {
    // Its id is known, so the first frame proves itself; only the header cannot be compared.
    format::FrameReader first(segment.file.get(), *segment.id, wal::kSegmentHeaderBytes, limit);
    ASSIGN_OR_RETURN(const auto frame, first.Next());
    if (frame) chain.last_checksum = frame->frame.previous;
    report_.repaired.push_back({segment.name, segment.reason});
  }
  format::FrameReader reader(segment.file.get(), *segment.id, wal::kSegmentHeaderBytes, limit);
  uint64_t good = wal::kSegmentHeaderBytes;
  const auto copy = [&](const format::Frame& frame) {
    RETURN_IF_ERROR(CopyFrame(frame));
    good = reader.offset();
    return Status();
  };
  const Result<uint64_t> end = format::FollowChain(&reader, segment.name, copy, &chain);
  if (!end && end.error().code() != StatusCode::kCorruption) return end.error();
  end_ = {good, chain.last_checksum, chain.last_sequence};
  std::string reason = end ? "" : std::string(end.error().message());
  if (reason.empty() && good < durable) {
    reason = reader.reason() + "; " + std::to_string(durable) + " bytes were durable";
  }
  // The catalog names a segment once its header is durable. If the header is lost, more may be.
  if (reason.empty() && !segment.header.has_value() && good == wal::kSegmentHeaderBytes) {
    reason = segment.reason + "; no group follows";
  }
  if (reason.empty()) {
    format::FrameReader rest(segment.file.get(), *segment.id, good, limit);
    ASSIGN_OR_RETURN(const auto frame, rest.FindNext());
    // A torn group and a damaged one leave the same kind of bytes.
    ASSIGN_OR_RETURN(const bool is_torn, format::HasBytes(segment.file.get(), good, limit));
    if (!frame && !is_torn) return {};
    reason = reader.reason() + "; a group was here, or only begun when a crash came";
  }
  BeginHole(segment, good, std::move(reason));
  return ReadBehind(segment, good);
}

void LogSalvage::BeginHole(const Segment& segment, uint64_t offset, std::string reason) {
  hole_.emplace();
  hole_->segment = segment.name;
  hole_->offset = offset;
  hole_->after_sequence = std::max(end_.last_sequence, appended_through_);
  hole_->copied = past_holes_;
  hole_->reason = std::move(reason);
}

Status LogSalvage::ReadBehind(const Segment& segment, uint64_t offset) {
  reading_ = segment.name;
  if (segment.file == nullptr || !segment.id.has_value()) return {};
  format::FrameReader reader(segment.file.get(), *segment.id, offset, segment.size_bytes);
  return reader.FindAll([&](const format::Frame& frame) {
    if (hole_->frames++ == 0) hole_->first_sequence = frame.first_sequence;
    hole_->operations += frame.count;
    hole_->last_sequence = frame.first_sequence + std::max(frame.count, 1u) - 1;
    if (!past_holes_) return Status();
    // The frame may not hold a valid group.
    const Status copied = CopyFrame(frame);
    return copied.code() == StatusCode::kCorruption ? Status() : copied;
  });
}

// OK, or why the copy cannot have the operation.
Status LogSalvage::CheckPlaceFor(const wal::Operation& operation) const {
  RETURN_IF_ERROR(CheckSequence(operation.sequence, SequenceLimit(catalog_)));
  const auto table = catalog_.tables.find(operation.table);
  if (table == catalog_.tables.end()) {
    // It was dropped: the copy skips the operation, as the database did.
    if (surviving_.is_whole) return {};
    return Status::Corruption("table " + std::to_string(operation.table.value) +
                              " is not in the catalog");
  }
  for (const format::Cell& cell : operation.cells) {
    RETURN_IF_ERROR(CheckFits(table->second, cell));
  }
  return {};
}

void LogSalvage::Lose(const wal::Operation& operation, const Status& why) {
  LostRange lost;
  lost.file = reading_;
  lost.rows = 1;
  lost.keys = {std::string(operation.row), std::string(operation.row) + '\0'};
  lost.reason =
      "operation " + std::to_string(operation.sequence.value) + ": " + std::string(why.message());
  const auto table = catalog_.tables.find(operation.table);
  lost.table = table == catalog_.tables.end() ? "table " + std::to_string(operation.table.value)
                                              : table->second.name;
  AddLostRow(std::move(lost), lost_begin_, &report_.lost);
}

// For rows that lost an operation, older operations and files may show data that it hid.
void LogSalvage::DescribeLost() {
  for (size_t i = lost_begin_; i < report_.lost.size(); ++i) {
    LostRange& lost = report_.lost[i];
    for (const auto& [id, region] : catalog_.regions) {
      const bool is_inside = catalog_.tables.at(region.table).name == lost.table &&
                             lost.keys.low >= region.start_key &&
                             (region.end_key.empty() || lost.keys.low < region.end_key);
      if (is_inside) lost.region = id.value;
    }
    report_.uncertain.push_back({.table = lost.table,
                                 .region = lost.region,
                                 .family = {},
                                 .keys = lost.keys,
                                 .because = lost.file + ", " + lost.reason});
  }
}

Status LogSalvage::CopyFrame(const format::Frame& frame) {
  const uint64_t last = frame.first_sequence + std::max(frame.count, 1u) - 1;
  if (frame.first_sequence <= appended_through_ || last < frame.first_sequence) return {};
  wal::GroupReader group(frame.payload, format::SequenceNumber(frame.first_sequence),
                         frame.timestamp);
  wal::Operation operation;
  uint64_t placed = 0;
  while (group.Next(&operation)) placed += CheckPlaceFor(operation).ok();
  RETURN_IF_ERROR(group.status());
  if (group.sequences() != frame.count) {
    return Status::Corruption("a group at sequence " + std::to_string(frame.first_sequence) +
                              " has another number of operations than its frame says");
  }
  if (placed == frame.count) {
    target_.AppendLog(frame);
  } else {
    RETURN_IF_ERROR(CopyOperations(frame));
  }
  appended_through_ = last;
  ++report_.frames;
  report_.operations += placed;
  RETURN_IF_ERROR(target_.WriteLog());
  return target_.segment_bytes() > kSegmentBytesMax ? target_.RollLog() : Status();
}

// Each operation that has a place becomes a frame of its own, under its sequence.
Status LogSalvage::CopyOperations(const format::Frame& frame) {
  wal::GroupReader group(frame.payload, format::SequenceNumber(frame.first_sequence),
                         frame.timestamp);
  wal::Operation operation;
  std::string payload;
  while (group.Next(&operation)) {
    if (const Status fits = CheckPlaceFor(operation); !fits.ok()) {
      Lose(operation, fits);
      continue;
    }
    wal::BatchEncoder batch;
    batch.BeginOperation(operation.table, operation.row);
    for (const format::Cell& cell : operation.cells) batch.AddCell(cell, cell.timestamp);
    payload.clear();
    wal::AppendBatch(batch, &payload);
    format::Frame alone;
    alone.first_sequence = operation.sequence.value;
    alone.timestamp = frame.timestamp;
    alone.count = 1;
    alone.payload = payload;
    target_.AppendLog(alone);
  }
  return group.status();
}

}  // namespace

Status SalvageLog(base::Directory* source, const SurvivingCatalog& catalog, bool past_holes,
                  Storage* target, SalvageReport* report) {
  return LogSalvage(source, catalog, past_holes, target, report).Run();
}

}  // namespace tandem::engine

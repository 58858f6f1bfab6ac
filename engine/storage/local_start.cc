// The start of the writer's storage, after everything was read, replayed and checked:
// 1. ROOT says open, with file numbers reserved: before the first write to anything else.
// 2. What was replayed is cut to its end, written again and synced.
// 3. The manifest is continued or, after a crash, replaced by a new one.
// 4. Files that nothing names are removed, which may free the space for what follows.
// 5. If earlier opens left many segments, the frames that are still needed are copied into one.
// 6. A new segment vouches for the end of the last; the edit that adds it also adds the rewritten
//    one and removes those that it replaces.
// A crash at any point leaves the state from before, and the next start repeats the steps.
#include <algorithm>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/local.h"

namespace tandem::engine {
namespace {

// Writes bytes back unchanged, so that the next sync covers them: after a failed sync in an earlier
// process, the system may return them to readers and yet never write them to the disk.
Status WriteAgain(base::File* file, uint64_t from, uint64_t to) {
  std::string chunk;
  for (uint64_t offset = from; offset < to; offset += chunk.size()) {
    chunk.resize(std::min<uint64_t>(to - offset, 1 << 20));
    ASSIGN_OR_RETURN(const size_t count, file->Read(offset, chunk));
    if (count < chunk.size()) return Status::IoError(file->name() + ": shorter than a moment ago");
    RETURN_IF_ERROR(file->Write(offset, chunk));
  }
  return {};
}

std::vector<format::FileNumber> NumbersOf(const std::vector<format::BoundFile>& segments) {
  std::vector<format::FileNumber> numbers;
  for (const format::BoundFile& segment : segments) numbers.push_back(segment.number);
  return numbers;
}

}  // namespace

Status LocalStorage::Start(const StorageStart& start) {
  const std::unique_ptr<const Found> found = std::move(found_);
  RETURN_IF_ERROR(TakeOver(*found));
  RemoveOrphans(found->listing);
  return BeginOwnSegment(*found, start);
}

// Steps 1 to 3.
Status LocalStorage::TakeOver(const Found& found) {
  Turn turn(this);
  RETURN_IF_ERROR(manifest_.MarkOpen());
  if (!found.was_closed) RETURN_IF_ERROR(TrimSegments(found));
  const Status status = manifest_.BeginManifest(found.was_closed, log_.mark());
  Publish();
  return status;
}

// Cuts what a crash left after the ends of the segments, and makes what was replayed durable. All
// segments but the last were synced before their successor was begun.
Status LocalStorage::TrimSegments(const Found& found) {
  for (const format::BoundFile& segment : found.replay.segments) {
    ASSIGN_OR_RETURN(const std::unique_ptr<base::File> file,
                     directory_->Open(SegmentName(segment.number), base::OpenMode::kReadWrite));
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    const bool last = segment.number == found.replay.last_segment;
    if (!last && size == segment.length_bytes) continue;
    // The size is set even where it is right already, for the same reason as in WriteAgain.
    RETURN_IF_ERROR(file->Truncate(segment.length_bytes));
    if (last) {
      const format::LogMark& durable = found.durable;
      const uint64_t from = segment.number == durable.segment ? durable.length_bytes : 0;
      RETURN_IF_ERROR(WriteAgain(file.get(), from, segment.length_bytes));
    }
    RETURN_IF_ERROR(file->DataSync());
  }
  return {};
}

void LocalStorage::RemoveOrphans(const std::vector<LocalFile>& listing) {
  Turn turn(this);
  const std::shared_ptr<const format::Catalog> catalog = manifest_.catalog();
  for (const LocalFile& file : listing) {
    const bool named =
        (file.kind == LocalFileKind::kStore && catalog->files.contains(file.number)) ||
        (file.kind == LocalFileKind::kSegment && HasSegment(*catalog, file.number)) ||
        (file.kind == LocalFileKind::kManifest && file.number == manifest_.number());
    if (named) continue;
    if (file.kind != LocalFileKind::kManifest && IsHeldByReader(file.number)) {
      pending_deletes_.push_back(file.number);
      continue;
    }
    directory_->Remove(file.name).Ignore("nothing names it; the next open tries again");
  }
}

// Steps 5 and 6. A log without frames has nothing to replay again: its segments are removed when
// the new one is added.
Status LocalStorage::BeginOwnSegment(const Found& found, const StorageStart& start) {
  const wal::ReplayReport& replay = found.replay;
  replacement_.counters = start.counters;
  if (replay.frames == 0) {
    replacement_.old = NumbersOf(replay.segments);
  } else if (replay.segments.size() > former_segments_max_) {
    const Status rewritten = RewriteSegments(replay, start);
    if (!rewritten.ok() && start.log) {
      start.log("the log keeps " + std::to_string(replay.segments.size()) +
                " segments of former lives until the next open, since they could not be written " +
                "into one: " + rewritten.ToString());
    }
  }
  const Status status = RollLog();
  if (status.code() != StatusCode::kNoSpace || !replacement_.rewritten) return status;
  KeepOldSegments(replay);
  return RollLog();
}

// A file that fails is discarded: nothing names it yet.
Status LocalStorage::RewriteSegments(const wal::ReplayReport& replay, const StorageStart& start) {
  wal::SegmentSpec spec;
  spec.database = manifest_.catalog()->database;
  ASSIGN_OR_RETURN(spec.number, NextNumber(log_.mark()));
  spec.id = NewRandomId(random_);
  spec.predecessor = wal::RewrittenPredecessor(replay);
  const Result<wal::SegmentEnd> end = WriteRewritten(spec, replay, start);
  const bool is_empty = end && end->length_bytes == wal::kSegmentHeaderBytes;
  if (!end || is_empty) {
    directory_->Remove(SegmentName(spec.number))
        .Ignore("nothing names it; the next open removes it");
  }
  RETURN_IF_ERROR(end.status());
  replacement_.old = NumbersOf(replay.segments);
  if (is_empty) return {};
  replacement_.rewritten = {spec.number, spec.id};
  log_.ContinueAfter(*replacement_.rewritten, *end);
  return {};
}

Result<wal::SegmentEnd> LocalStorage::WriteRewritten(const wal::SegmentSpec& spec,
                                                     const wal::ReplayReport& replay,
                                                     const StorageStart& start) {
  ASSIGN_OR_RETURN(std::unique_ptr<base::File> file, directory_->Create(SegmentName(spec.number)));
  ASSIGN_OR_RETURN(const auto writer, wal::SegmentWriter::Create(std::move(file), spec));
  const auto every = [](const format::Frame&) { return true; };
  RETURN_IF_ERROR(wal::RewriteLog(replay, SegmentsOf(directory_.get()),
                                  start.is_needed ? start.is_needed : every, writer.get()));
  return writer->end();
}

// Gives up the rewritten segment, which took the space that the new one needs.
void LocalStorage::KeepOldSegments(const wal::ReplayReport& replay) {
  const format::BoundFile& last = replay.segments.back();
  log_.ContinueAfter({last.number, last.id}, replay.end);
  Turn turn(this);
  // A crash may show an edit that failed and names the file.
  pending_deletes_.push_back(std::exchange(replacement_, {}).rewritten->number);
  RemovePending();
}

}  // namespace tandem::engine

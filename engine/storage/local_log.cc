// Rolls from one segment to the next, in an order in which a crash at any point leaves a log that
// replays:
// 1. The next file is created and its space reserved, often ahead (PrepareFile). Without space the
//    last segment stays as it is.
// 2. The last segment is sealed: exact length, synced. It takes no more.
// 3. The new header, which vouches for that end, is written and synced.
// 4. The catalog learns of the segment, once its name is durable. Only then does it take frames.
// A crash or failure before 4 leaves a file that nothing names; the next roll begins another, or
// uses the same one if it only failed to reserve space.
#include "engine/storage/local_log.h"

#include <algorithm>

#include "base/guarded.h"
#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"

namespace tandem::engine {
namespace {

// When a whole segment cannot be reserved, this many times the waiting group must fit.
constexpr uint64_t kReserveFactor = 2;
constexpr uint64_t kReserveBytesMin = 256 * 1024;

}  // namespace

LocalLog::LocalLog(Dependencies dependencies, const wal::ReplayReport& replay)
    : deps_(std::move(dependencies)),
      replayed_{replay.last_segment, replay.end.length_bytes},
      last_end_(replay.end) {
  for (const format::BoundFile& segment : replay.segments) ends_[segment.number] = segment;
  current_.number = replay.last_segment;
}

void LocalLog::ContinueAfter(const format::SegmentRecord& segment, const wal::SegmentEnd& end) {
  ends_[segment.number] = {segment.number, segment.id, end.length_bytes, end.last_checksum};
  last_end_ = end;
}

std::shared_ptr<wal::SegmentWriter> LocalLog::writer() const {
  base::MutexLock lock(mutex_);
  return writer_;
}

void LocalLog::Append(const format::Frame& frame) {
  if (!dropped_.ok() || !poison_.ok()) return;
  if (writer()->sealed()) {
    dropped_ = RollFor(format::FrameBytes(frame.payload.size()));
    if (!dropped_.ok()) return;
  }
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  format::Frame marked = frame;
  marked.durable_mark = writer->synced_end().last_sequence;
  writer->Append(marked);
}

// The error of the next call, if any: the permanent poison or, once, the error that dropped the
// frames since the last Write.
Status LocalLog::Check() {
  RETURN_IF_ERROR(poison_);
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  if (writer != nullptr) RETURN_IF_ERROR(writer->status());
  return std::exchange(dropped_, Status());
}

Status LocalLog::Write() {
  RETURN_IF_ERROR(Check());
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  // A sealed segment has no frames waiting: the next Append begins another.
  return writer->sealed() ? Status() : writer->Write();
}

Status LocalLog::Sync() {
  RETURN_IF_ERROR(Check());
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  return writer->sealed() ? writer->Close() : writer->Sync();
}

// Segments before this one were synced before it was begun.
Status LocalLog::SyncWritten() { return writer()->SyncWritten(); }

bool LocalLog::is_extension_due() const { return writer()->is_extension_due(); }
void LocalLog::Extend() { writer()->Extend(); }

Status LocalLog::Roll() {
  RETURN_IF_ERROR(Check());
  return RollFor(0);
}

Status LocalLog::RollFor(uint64_t bytes) {
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  if (writer != nullptr && !writer->sealed()) RETURN_IF_ERROR(writer->Write());
  Status status = Prepare(bytes);
  if (status.ok() && writer != nullptr) status = writer->Close();
  if (status.ok()) status = Begin();
  // Nothing that was acknowledged is in doubt: the sealed segment is synced, or its writer keeps
  // the error, and a file that could not be begun is discarded.
  if (!status.ok() && !base::MayPass(status)) {
    poison_ = Status::ReadOnly("the log could not go on in a new segment: " +
                               std::string(status.message()));
  }
  return status;
}

Result<LocalLog::Spare> LocalLog::NewFile() {
  Spare spare;
  ASSIGN_OR_RETURN(spare.number, deps_.next_number(mark()));
  ASSIGN_OR_RETURN(spare.file, deps_.directory->Create(SegmentName(spare.number)));
  return spare;
}

void LocalLog::Discard(Spare spare) {
  if (spare.file == nullptr) return;
  deps_.directory->Remove(SegmentName(spare.number))
      .Ignore("nothing names it; Close or the next open removes it");
}

// Step 1, ahead.
Status LocalLog::PrepareFile() {
  {
    base::MutexLock lock(mutex_);
    if (prepared_.file != nullptr) return {};
  }
  ASSIGN_OR_RETURN(Spare spare, NewFile());
  const Status status =
      Guarded([&] { return wal::SegmentWriter::Reserve(spare.file.get(), deps_.segment_bytes); });
  if (!status.ok()) {
    Discard(std::move(spare));
    return status;
  }
  spare.reserved_bytes = deps_.segment_bytes;
  {
    base::MutexLock lock(mutex_);
    std::swap(prepared_, spare);
  }
  Discard(std::move(spare));  // Another thread's.
  return status;
}

// Numbers of segments rise: a file that was prepared before the last one began is of no use.
void LocalLog::TakePrepared() {
  Spare prepared;
  {
    base::MutexLock lock(mutex_);
    std::swap(prepared_, prepared);
  }
  const bool is_next = spare_.file == nullptr && prepared.number > current_.number;
  if (is_next) std::swap(spare_, prepared);
  Discard(std::move(prepared));
}

// Step 1.
Status LocalLog::Prepare(uint64_t bytes) {
  TakePrepared();
  if (spare_.file == nullptr) {
    ASSIGN_OR_RETURN(spare_, NewFile());
  }
  if (spare_.reserved_bytes == deps_.segment_bytes) return {};
  const Status status = wal::SegmentWriter::Reserve(spare_.file.get(), deps_.segment_bytes);
  if (status.ok()) spare_.reserved_bytes = deps_.segment_bytes;
  if (status.code() != StatusCode::kNoSpace) return status;
  const uint64_t enough = std::max(kReserveFactor * bytes, kReserveBytesMin);
  if (enough >= deps_.segment_bytes) return status;
  RETURN_IF_ERROR(wal::SegmentWriter::Reserve(spare_.file.get(), enough));
  spare_.reserved_bytes = enough;
  return {};
}

// Steps 3 and 4.
Status LocalLog::Begin() {
  if (const auto sealed = writer(); sealed != nullptr) {
    last_end_ = sealed->end();
    ends_[current_.number] = end_of(current_.number);
  }
  wal::SegmentSpec spec;
  spec.database = deps_.database;
  spec.number = spare_.number;
  spec.id = NewRandomId(deps_.random);
  spec.predecessor = last_end_;
  spec.reserved_bytes = spare_.reserved_bytes;
  auto created = wal::SegmentWriter::Create(std::move(spare_.file), spec);
  if (!created) {
    deps_.directory->Remove(SegmentName(spec.number))
        .Ignore("nothing names it; the next open removes it");
    return created.error();
  }
  // Once the catalog knows of the segment, nothing may fail for want of memory.
  std::shared_ptr<wal::SegmentWriter> writer = *std::move(created);
  const format::SegmentRecord record{spec.number, spec.id};
  const Status status = deps_.add_segment(record, mark());
  if (!status.ok()) {
    // A crash may still show the edit, so the file stays.
    writer->Close().Ignore("this only frees the space that it reserved");
    return status;
  }
  current_ = record;
  base::MutexLock lock(mutex_);
  writer_ = std::move(writer);
  return {};
}

Status LocalLog::Close() {
  RETURN_IF_ERROR(Check());
  TakePrepared();
  spare_ = {};
  RETURN_IF_ERROR(RemoveUnused());
  return writer()->Close();
}

// A segment newer than the last one would mean that a closed ROOT is an old copy.
Status LocalLog::RemoveUnused() {
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, ListLocalFiles(deps_.directory));
  for (const LocalFile& file : files) {
    if (file.kind != LocalFileKind::kSegment || file.number <= current_.number) continue;
    RETURN_IF_ERROR(deps_.directory->Remove(file.name));
  }
  return {};
}

uint64_t LocalLog::segment_bytes() const {
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  return writer != nullptr ? writer->size_bytes() : 0;
}

format::LogMark LocalLog::mark() const {
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  if (writer == nullptr) return replayed_;
  return {writer->number(), writer->synced_end().length_bytes};
}

format::LogMark LocalLog::written() const {
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  if (writer == nullptr) return replayed_;
  return {writer->number(), writer->end().length_bytes};
}

format::BoundFile LocalLog::end_of(format::FileNumber number) const {
  const std::shared_ptr<wal::SegmentWriter> writer = this->writer();
  if (writer != nullptr && number == current_.number) {
    const wal::SegmentEnd end = writer->end();
    return {number, current_.id, end.length_bytes, end.last_checksum};
  }
  const auto found = ends_.find(number);
  return found == ends_.end() ? format::BoundFile() : found->second;
}

}  // namespace tandem::engine

// Frames are appended in the order in which they were buffered, and only right before the write
// that carries them.
#include "engine/commit/group_log.h"

#include <utility>

#include "base/guarded.h"
#include "base/passing.h"
#include "base/status_macros.h"

namespace tandem::engine {

GroupLog::GroupLog(Storage* storage, SegmentTracker* segments, Health* health,
                   format::SequenceNumber last, base::MemoryAccount* account)
    : storage_(storage),
      segments_(segments),
      health_(health),
      charge_(account, base::MemoryPart::kLog),
      written_(last),
      synced_through_(last.value) {}

Status GroupLog::Fail(std::string_view what, const Status& status) {
  health_->TurnReadOnly(what, status);
  return status;
}

Status GroupLog::Buffer(LogGroup group) {
  if (buffered_bytes_ + group.payload.size() > kBufferedBytesMax) {
    RETURN_IF_ERROR(WriteBuffered());
  }
  buffered_.push_back(std::move(group));
  buffered_bytes_ += buffered_.back().payload.size();
  charge_.Set(buffered_bytes_);
  return {};
}

Status GroupLog::Write(const LogGroup& group) { return WriteFrames(&group); }

Status GroupLog::WriteBuffered() {
  if (buffered_.empty()) return {};
  return WriteFrames(nullptr);
}

void GroupLog::Append(const LogGroup& group) {
  storage_->AppendLog({.first_sequence = group.first.value,
                       .durable_mark = synced_through().value,
                       .timestamp = group.timestamp,
                       .count = group.count,
                       .payload = group.payload});
}

Status GroupLog::WriteFrames(const LogGroup* group) {
  RETURN_IF_ERROR(health_->CheckWritable());
  if (needs_roll_) RETURN_IF_ERROR(Roll());
  const Status appended = Guarded([&] {
    for (const LogGroup& waiting : buffered_) Append(waiting);
    if (group != nullptr) Append(*group);
    return Status();
  });
  // Some frames may be in the storage's buffer already and cannot be removed.
  if (!appended.ok()) return Fail("appending to the log", appended);
  const Status status = storage_->WriteLog();
  if (base::MayPass(status)) {
    needs_roll_ = true;
    return status;
  }
  if (!status.ok()) return Fail("writing the log", status);
  written_ = group != nullptr ? group->last() : buffered_.back().last();
  buffered_.clear();
  buffered_bytes_ = 0;
  charge_.Set(0);
  UpdateLogBytes();
  return {};
}

Status GroupLog::Sync() {
  RETURN_IF_ERROR(health_->CheckWritable());
  if (synced_through() == written_) return {};
  const Status status = storage_->SyncLog();
  if (!status.ok()) return Fail("syncing the log", status);
  RaiseSynced(written_);
  return {};
}

// What the leader writes meanwhile may be durable or not: only `through` counts.
Status GroupLog::SyncBeside(format::SequenceNumber through) {
  RETURN_IF_ERROR(health_->CheckWritable());
  if (synced_through() >= through) return {};
  const Status status = storage_->SyncWrittenLog();
  if (!status.ok()) return Fail("syncing the log", status);
  RaiseSynced(through);
  return {};
}

void GroupLog::RaiseSynced(format::SequenceNumber through) {
  uint64_t before = synced_through_.load(std::memory_order_relaxed);
  while (before < through.value &&
         !synced_through_.compare_exchange_weak(before, through.value, std::memory_order_release)) {
  }
}

Status GroupLog::Roll() {
  RETURN_IF_ERROR(health_->CheckWritable());
  const format::FileNumber sealed = storage_->current_segment();
  segments_->PrepareSeal();
  // Whatever fails, the segment may be sealed: the next write rolls again, and accounts for it.
  const Status status = Guarded([this] { return storage_->RollLog(); });
  if (base::MayPass(status)) {
    needs_roll_ = true;
    return status;
  }
  if (!status.ok()) return Fail("beginning a log segment", status);
  needs_roll_ = false;
  segments_->Seal(sealed, written_);
  UpdateLogBytes();
  RaiseSynced(written_);
  return {};
}

}  // namespace tandem::engine

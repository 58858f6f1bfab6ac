// Starting reads and waiting for the one that is needed next.
#include "engine/read_queue.h"

#include <utility>

#include "base/check.h"

namespace tandem::engine {

void ReadQueue::Prepare(base::File* file, uint64_t offset, size_t size, QueuedRead* read) {
  read->kind = base::IoRequest::Kind::kRead;
  read->file = file;
  read->offset = offset;
  read->bytes = std::make_unique_for_overwrite<char[]>(size);
  read->buffer = {read->bytes.get(), size};
  read->has_place = true;
  ++in_flight_;
  bytes_ += size;
  buffers_.Set(bytes_);
}

void ReadQueue::Start(std::span<QueuedRead* const> reads) {
  if (reads.empty()) return;
  if (queue_ == nullptr) queue_ = file_system_->NewQueue(kReadsMax);
  starting_.assign(reads.begin(), reads.end());
  for (QueuedRead* read : reads) read->is_started = true;
  queue_->Submit(starting_);
}

bool ReadQueue::WaitBefore(const QueuedRead& read) {
  if (!read.is_started) return false;
  auto* completed = static_cast<QueuedRead*>(queue_->Wait());
  CHECK(completed != nullptr);  // The read that is waited for is outstanding.
  completed->is_started = completed->has_place = false;
  --in_flight_;
  return true;
}

Status ReadQueue::Finish(QueuedRead* read) {
  while (WaitBefore(*read)) {
  }
  return read->status;
}

void ReadQueue::Release(QueuedRead* read) {
  Finish(read).Ignore("whoever releases a read does not use its bytes");
  if (std::exchange(read->has_place, false)) --in_flight_;  // It was never started.
  bytes_ -= read->buffer.size();
  buffers_.Set(bytes_);
  read->bytes.reset();
}

}  // namespace tandem::engine

// Starting reads and waiting for the one that is needed next.
#include "engine/source/read_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tandem::engine {
ReadQueue::~ReadQueue() {
  if (account_ != nullptr && read_bytes_ > 0) account_->heap().Freed(read_bytes_);
}

void ReadQueue::Prepare(base::File* file, uint64_t offset, size_t size, QueuedRead* read) {
  spare_.reserve(kReadsMax);  // Release, which destructors call, must not allocate.
  read->kind = base::IoRequest::Kind::kRead;
  read->file = file;
  read->offset = offset;
  read->bytes = TakeBuffer(size);
  read->buffer = read->bytes.Resize(size);
  read->has_place = true;
  ++in_flight_;
  bytes_ += read->bytes.memory_bytes();
  read_bytes_ += size;
  buffers_.Set(bytes_ + spare_bytes_);
}

// The size of a new buffer that is kept is that of the largest read, so that the next one fits.
base::PageBuffer ReadQueue::TakeBuffer(size_t size) {
  base::PageBuffer buffer;
  if (size < kReadBytesMin) return buffer;
  if (spare_.empty() || spare_.back().memory_bytes() < size) {
    buffer.Resize(std::max<size_t>(size, ReadBytes()), base::PagesComing::kAtOnce);
  } else {
    buffer = std::move(spare_.back());
    spare_.pop_back();
    spare_bytes_ -= buffer.memory_bytes();
  }
  return buffer;
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
  const size_t size = read->bytes.memory_bytes();
  bytes_ -= size;
  const bool is_kept = size >= kReadBytesMin && spare_.size() < kReadsMax &&
                       bytes_ + spare_bytes_ <= BytesMax() && Left() > 0;
  if (is_kept) {
    spare_.push_back(std::move(read->bytes));
    spare_bytes_ += size;
  }
  read->bytes.Clear();
  buffers_.Set(bytes_ + spare_bytes_);
}

}  // namespace tandem::engine

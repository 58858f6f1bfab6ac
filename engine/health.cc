// States: writable -> read-only (TurnReadOnly; final). Beside it: disk full or not (SetDiskFull).
#include "engine/health.h"

#include <utility>

#include "engine/guarded.h"

namespace tandem::engine {

void Health::Log(std::string_view line) const {
  if (monitor_ != nullptr) monitor_->Log(line);
}

Status Health::CheckWritable() const {
  if (!read_only_.load(std::memory_order_acquire)) return Status();
  return Status::ReadOnly(read_only_reason());
}

// It turns read-only first, with or without memory to say why: what failed before may be that very
// lack.
void Health::TurnReadOnly(std::string_view what, const Status& cause) {
  {
    base::MutexLock lock(mutex_);
    if (read_only_.load(std::memory_order_relaxed)) return;
    Guarded([&] {
      std::string reason(what);
      reason.append(": ").append(cause.ToString());
      reason_ = std::move(reason);
      return Status();
    }).Ignore("read_only_reason has words for it");
    read_only_.store(true, std::memory_order_release);
  }
  Guarded([&] {
    const std::string reason = read_only_reason();
    Log("the database is read-only from now on: " + reason);
    if (monitor_ != nullptr) monitor_->TurnedReadOnly(Status::ReadOnly(reason));
    return Status();
  }).Ignore("it is read-only, though nobody is told");
}

void Health::OpenReadOnly() {
  base::MutexLock lock(mutex_);
  reason_ = "the database was opened to read only";
  read_only_.store(true, std::memory_order_release);
}

std::string Health::read_only_reason() const {
  base::MutexLock lock(mutex_);
  const bool is_untold = reason_.empty() && read_only_.load(std::memory_order_relaxed);
  return is_untold ? "a failure, and no memory to keep its story" : reason_;
}

void Health::SetDiskFull(const Status& status) {
  bool changed = false;
  {
    base::MutexLock lock(mutex_);
    changed = disk_full_.ok() != status.ok();
    disk_full_ = status;
  }
  if (!changed) return;
  Log(status.ok() ? std::string("the disk has space again")
                  : "background work waits for disk space: " + status.ToString());
}

Status Health::disk_full() const {
  base::MutexLock lock(mutex_);
  return disk_full_;
}

}  // namespace tandem::engine

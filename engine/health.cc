// States: writable -> read-only (TurnReadOnly; final). Beside it: disk full or not (SetDiskFull).
#include "engine/health.h"

#include <utility>

namespace tandem::engine {

void Health::Log(std::string_view line) const {
  if (monitor_ != nullptr) monitor_->Log(line);
}

Status Health::CheckWritable() const {
  if (!read_only_.load(std::memory_order_acquire)) return Status();
  return Status::ReadOnly(read_only_reason());
}

void Health::TurnReadOnly(std::string_view what, const Status& cause) {
  std::string reason(what);
  reason.append(": ").append(cause.ToString());
  if (!SetReason(reason)) return;
  Log("the database is read-only from now on: " + reason);
  if (monitor_ != nullptr) monitor_->TurnedReadOnly(Status::ReadOnly(std::move(reason)));
}

void Health::OpenReadOnly() { SetReason("the database was opened to read only"); }

// False: another reason stands already.
bool Health::SetReason(std::string reason) {
  base::MutexLock lock(mutex_);
  if (read_only_.load(std::memory_order_relaxed)) return false;
  reason_ = std::move(reason);
  read_only_.store(true, std::memory_order_release);
  return true;
}

std::string Health::read_only_reason() const {
  base::MutexLock lock(mutex_);
  return reason_;
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

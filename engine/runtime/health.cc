// States: writable -> read-only (TurnReadOnly, OpenReadOnly; final). Independent of it: hindered or
// not (SetHindrance).
#include "engine/runtime/health.h"

#include <utility>

#include "base/guarded.h"

namespace tandem::engine {

void Health::Log(std::string_view line) const {
  if (monitor_ != nullptr) monitor_->Log(line);
}

Status Health::CheckWritable() const {
  if (!read_only_.load(std::memory_order_acquire)) return {};
  return Status::ReadOnly(read_only_reason());
}

// The state changes first, even without memory for the reason: the cause may be a lack of memory.
void Health::TurnReadOnly(std::string_view what, const Status& cause) {
  std::string words;
  Guarded([&] {
    words.assign(what).append(": ").append(cause.ToString());
    return Status();
  }).Ignore("read_only_reason has words for it");
  {
    base::MutexLock lock(mutex_);
    if (read_only_.load(std::memory_order_relaxed)) return;
    reason_ = std::move(words);
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

void Health::SetHindrance(const Status& status) {
  bool changed = false;
  {
    base::MutexLock lock(mutex_);
    changed = hindrance_.code() != status.code();
    hindrance_ = status;
  }
  if (!changed) return;
  Guarded([&] {
    Log(status.ok() ? std::string("background work goes on again")
                    : "background work waits and tries again: " + status.ToString());
    return Status();
  }).Ignore("a line of the log is not worth more");
}

Status Health::hindrance() const {
  base::MutexLock lock(mutex_);
  return hindrance_;
}

}  // namespace tandem::engine

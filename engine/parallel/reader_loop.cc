// The iterations are given out in order, so when one fails all before it have begun.
#include "engine/parallel/reader_loop.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/guarded.h"
#include "base/mutex.h"

namespace tandem::engine {
namespace {

class Loop {
 public:
  Loop(size_t count, std::function<Status(size_t)> iteration)
      : iteration_(std::move(iteration)), count_(count) {}

  /// Runs iterations until none is left to begin. One that comes late does nothing.
  void Run() EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    while (next_ < count_) {
      const size_t i = next_++;
      ++running_;
      mutex_.Unlock();
      Status status = Guarded([&] { return iteration_(i); });
      mutex_.Lock();
      --running_;
      if (status.ok()) continue;
      next_ = count_;
      if (i < failed_) status_ = std::move(status);
      failed_ = std::min(failed_, i);
    }
    ended_.NotifyAll();
  }
  Status Wait() EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    while (running_ > 0) ended_.Wait(mutex_);
    return status_;
  }

 private:
  const std::function<Status(size_t)> iteration_;
  const size_t count_;
  base::Mutex mutex_;
  base::CondVar ended_;
  size_t next_ GUARDED_BY(mutex_) = 0;     // To begin.
  size_t running_ GUARDED_BY(mutex_) = 0;  // That have not returned.
  size_t failed_ GUARDED_BY(mutex_) = SIZE_MAX;
  Status status_ GUARDED_BY(mutex_);  // Of that one.
};

}  // namespace

Status RunOnReaders(base::Executor* readers, uint32_t threads, size_t count,
                    std::function<Status(size_t)> iteration) {
  const auto loop = std::make_shared<Loop>(count, std::move(iteration));
  const size_t helpers =
      readers == nullptr || count == 0 ? 0 : std::min<size_t>(threads, count) - 1;
  for (size_t i = 0; i < helpers; ++i) {
    readers->Schedule(base::NewJob(base::Priority::kHigh, [loop] { loop->Run(); }));
  }
  loop->Run();
  return loop->Wait();
}

}  // namespace tandem::engine

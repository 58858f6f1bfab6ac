// A large value that is loaded on first use and kept. One thread loads, and others that need the
// value wait for it, so that it is in memory once. No lock is held while loading. A thread that is
// loading another value does not wait, but loads on its own: waits form no circles, whatever a
// load calls (it may tell a listener of damage, which may read).
#pragma once

#include <utility>

#include "base/mutex.h"
#include "format/lazy.h"
#include "tandem/status.h"

namespace tandem::format {

/// Loads under way on this thread, of any values.
inline thread_local int loads_of_thread = 0;

/// Threads: any. Lifetime: the value lives as long as this object.
template <typename T>
class LazyOnce {
 public:
  LazyOnce() = default;
  LazyOnce(const LazyOnce&) = delete;
  LazyOnce& operator=(const LazyOnce&) = delete;

  /// nullptr before the first successful Get.
  T* loaded() const { return value_.loaded(); }
  /// The value; calls `load()` -> Result<T> if it is not loaded yet. After a load that failed or
  /// threw, each thread that waited tries in turn.
  template <typename Load>
  Result<T*> Get(Load load) EXCLUDES(mutex_) {
    if (T* const value = loaded(); value != nullptr) return value;
    const Turn turn(this);
    return value_.Get(std::move(load));
  }

 private:
  // The right to load; waits for it unless this thread is loading something already.
  class Turn {
   public:
    explicit Turn(LazyOnce* lazy) : lazy_(lazy) {
      if (loads_of_thread++ > 0) return;
      base::MutexLock lock(lazy_->mutex_);
      while (lazy_->is_loading_) lazy_->ended_.Wait(lazy_->mutex_);
      lazy_->is_loading_ = holds_ = true;
    }
    ~Turn() {
      --loads_of_thread;
      if (!holds_) return;
      base::MutexLock lock(lazy_->mutex_);
      lazy_->is_loading_ = false;
      lazy_->ended_.NotifyAll();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    LazyOnce* lazy_;
    bool holds_ = false;
  };

  Lazy<T> value_;
  base::Mutex mutex_;
  base::CondVar ended_;
  bool is_loading_ GUARDED_BY(mutex_) = false;
};

}  // namespace tandem::format

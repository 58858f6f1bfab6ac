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

/// Guards whose turn it is, for all values: a file has several, many are never loaded, and a mutex
/// and a condition for each would be most of what an idle file takes.
struct LoadTurns {
  base::Mutex mutex;
  base::CondVar ended;  ///< A load of any value.
};
inline LoadTurns load_turns;

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
  Result<T*> Get(Load load) EXCLUDES(load_turns.mutex) {
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
      base::MutexLock lock(load_turns.mutex);
      while (lazy_->is_loading_) load_turns.ended.Wait(load_turns.mutex);
      lazy_->is_loading_ = holds_ = true;
    }
    ~Turn() {
      --loads_of_thread;
      if (!holds_) return;
      base::MutexLock lock(load_turns.mutex);
      lazy_->is_loading_ = false;
      load_turns.ended.NotifyAll();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    LazyOnce* lazy_;
    bool holds_ = false;
  };

  Lazy<T> value_;
  bool is_loading_ GUARDED_BY(load_turns.mutex) = false;
};

}  // namespace tandem::format

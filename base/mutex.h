// Mutex and condition variable that Clang's thread-safety analysis understands
// (-Wthread-safety). With other compilers the annotations vanish.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#if defined(__clang__)
#define TANDEM_ATTRIBUTE(x) __attribute__((x))
#else
#define TANDEM_ATTRIBUTE(x)
#endif
#define CAPABILITY(x) TANDEM_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY TANDEM_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) TANDEM_ATTRIBUTE(guarded_by(x))
#define REQUIRES(...) TANDEM_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) TANDEM_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) TANDEM_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) TANDEM_ATTRIBUTE(release_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS TANDEM_ATTRIBUTE(no_thread_safety_analysis)

namespace tandem::base {

class CAPABILITY("mutex") Mutex {
 public:
  void Lock() ACQUIRE() { mutex_.lock(); }
  void Unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

/// Holds a Mutex for a scope.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  /// Releases `mutex` while waiting and holds it again on return. Wakes spuriously: wait in a loop.
  void Wait(Mutex& mutex) REQUIRES(mutex);
  /// As Wait, but returns false when `micros` passed without a wake-up.
  bool WaitFor(Mutex& mutex, int64_t micros) REQUIRES(mutex);
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace tandem::base

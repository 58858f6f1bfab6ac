// The POSIX calls under std::mutex and std::condition_variable, for this test program alone: the
// definitions in a program come before those of the C library. On a scheduled thread they are the
// scheduler's; on any other, and outside of a run, the C library's. A mutex or
// condition is used by one of the two kinds of threads at a time: a run begins and ends with all of
// its own at rest.
#include <dlfcn.h>
#include <pthread.h>

#include "test/interleave/scheduler.h"

#define INTERPOSED extern "C" __attribute__((visibility("default")))

namespace tandem::test {
namespace {

// Conditions have had two layouts; these are the versions of the present one.
constexpr const char* kConditionVersion = "GLIBC_2.3.2";

template <typename Function>
Function* Real(Function** cached, const char* name, const char* version = nullptr) {
  if (*cached == nullptr) {
    void* found = version == nullptr ? dlsym(RTLD_NEXT, name) : dlvsym(RTLD_NEXT, name, version);
    if (found == nullptr) found = dlsym(RTLD_NEXT, name);
    *cached = reinterpret_cast<Function*>(found);
  }
  return *cached;
}

}  // namespace
}  // namespace tandem::test

using tandem::test::kConditionVersion;
using tandem::test::Real;
using tandem::test::Scheduler;

INTERPOSED int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static int (*real)(pthread_mutex_t*) = nullptr;
  Scheduler* scheduler = Scheduler::Current();
  if (scheduler == nullptr) return Real(&real, "pthread_mutex_lock")(mutex);
  scheduler->Lock(mutex);
  return 0;
}

INTERPOSED int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static int (*real)(pthread_mutex_t*) = nullptr;
  Scheduler* scheduler = Scheduler::Current();
  if (scheduler == nullptr) return Real(&real, "pthread_mutex_trylock")(mutex);
  return scheduler->TryLock(mutex) ? 0 : EBUSY;
}

INTERPOSED int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static int (*real)(pthread_mutex_t*) = nullptr;
  Scheduler* scheduler = Scheduler::Current();
  if (scheduler == nullptr) return Real(&real, "pthread_mutex_unlock")(mutex);
  scheduler->Unlock(mutex);
  return 0;
}

INTERPOSED int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static int (*real)(pthread_cond_t*, pthread_mutex_t*) = nullptr;
  Scheduler* scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return Real(&real, "pthread_cond_wait", kConditionVersion)(condition, mutex);
  }
  (void)scheduler->Wait(condition, mutex, false);
  return 0;
}

INTERPOSED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      const timespec* until) {
  static int (*real)(pthread_cond_t*, pthread_mutex_t*, const timespec*) = nullptr;
  Scheduler* scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return Real(&real, "pthread_cond_timedwait", kConditionVersion)(condition, mutex, until);
  }
  return scheduler->Wait(condition, mutex, true) ? 0 : ETIMEDOUT;
}

INTERPOSED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      clockid_t clock, const timespec* until) {
  static int (*real)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*) = nullptr;
  Scheduler* scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return Real(&real, "pthread_cond_clockwait")(condition, mutex, clock, until);
  }
  return scheduler->Wait(condition, mutex, true) ? 0 : ETIMEDOUT;
}

INTERPOSED int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  static int (*real)(pthread_cond_t*) = nullptr;
  Scheduler* scheduler = Scheduler::Current();
  if (scheduler == nullptr) return Real(&real, "pthread_cond_signal", kConditionVersion)(condition);
  scheduler->Notify(condition, false);
  return 0;
}

INTERPOSED int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  static int (*real)(pthread_cond_t*) = nullptr;
  Scheduler* scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return Real(&real, "pthread_cond_broadcast", kConditionVersion)(condition);
  }
  scheduler->Notify(condition, true);
  return 0;
}

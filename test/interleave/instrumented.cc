// Makes atomic operations yield points. The compiler's instrumentation for ThreadSanitizer replaces
// every atomic operation by a call; where this program is built with it, but without the
// sanitizer's library, the calls come here: a yield point, then the operation. So the engine needs
// no hooks for this either. Plain reads and writes are reported too, and ignored. Built by
//
//   make BUILD=build-atomics CXXFLAGS='-fsanitize=thread -Wno-error' build-atomics/test_interleave
//
// and empty otherwise. Reference counts are atomics as well: a run has several times the choices.
#include "test/interleave/scheduler.h"

#if defined(__SANITIZE_THREAD__)

#define NOT_INSTRUMENTED __attribute__((no_sanitize_thread, visibility("default")))

namespace {

// The scheduler and the tests' own parts are instrumented as all else: what they do while a
// scheduler decides must not come back to it.
NOT_INSTRUMENTED void YieldAtAtomic() {
  static thread_local bool inside = false;
  tandem::test::Scheduler* scheduler = tandem::test::Scheduler::Current();
  if (scheduler == nullptr || inside) return;
  inside = true;
  const bool may_yield = scheduler->IsAtRest();
  inside = false;
  if (may_yield) scheduler->Yield(tandem::test::Point::kAtomic);
}

}  // namespace

// One set of operations for each size. Everything is sequentially consistent.
#define OPERATIONS(bits, type)                                                                   \
  extern "C" NOT_INSTRUMENTED type __tsan_atomic##bits##_load(const volatile void* at, int) {    \
    YieldAtAtomic();                                                                             \
    return __atomic_load_n(static_cast<const volatile type*>(at), __ATOMIC_SEQ_CST);             \
  }                                                                                              \
  extern "C" NOT_INSTRUMENTED void __tsan_atomic##bits##_store(volatile void* at, type value,    \
                                                               int) {                            \
    YieldAtAtomic();                                                                             \
    __atomic_store_n(static_cast<volatile type*>(at), value, __ATOMIC_SEQ_CST);                  \
  }                                                                                              \
  extern "C" NOT_INSTRUMENTED type __tsan_atomic##bits##_exchange(volatile void* at, type value, \
                                                                  int) {                         \
    YieldAtAtomic();                                                                             \
    return __atomic_exchange_n(static_cast<volatile type*>(at), value, __ATOMIC_SEQ_CST);        \
  }                                                                                              \
  CHANGE(bits, type, fetch_add)                                                                  \
  CHANGE(bits, type, fetch_sub)                                                                  \
  CHANGE(bits, type, fetch_and)                                                                  \
  CHANGE(bits, type, fetch_or)                                                                   \
  CHANGE(bits, type, fetch_xor)                                                                  \
  EXCHANGE(bits, type, compare_exchange_strong)                                                  \
  EXCHANGE(bits, type, compare_exchange_weak)

#define CHANGE(bits, type, name)                                                               \
  extern "C" NOT_INSTRUMENTED type __tsan_atomic##bits##_##name(volatile void* at, type value, \
                                                                int) {                         \
    YieldAtAtomic();                                                                           \
    return __atomic_##name(static_cast<volatile type*>(at), value, __ATOMIC_SEQ_CST);          \
  }

#define EXCHANGE(bits, type, name)                                                                 \
  extern "C" NOT_INSTRUMENTED bool __tsan_atomic##bits##_##name(volatile void* at, void* expected, \
                                                                type value, int, int) {            \
    YieldAtAtomic();                                                                               \
    return __atomic_compare_exchange_n(static_cast<volatile type*>(at),                            \
                                       static_cast<type*>(expected), value, false,                 \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                        \
  }

OPERATIONS(8, uint8_t)
OPERATIONS(16, uint16_t)
OPERATIONS(32, uint32_t)
OPERATIONS(64, uint64_t)

extern "C" NOT_INSTRUMENTED void __tsan_atomic_thread_fence(int) {}
extern "C" NOT_INSTRUMENTED void __tsan_atomic_signal_fence(int) {}
extern "C" NOT_INSTRUMENTED void __tsan_init() {}
extern "C" NOT_INSTRUMENTED void __tsan_func_entry(void*) {}
extern "C" NOT_INSTRUMENTED void __tsan_func_exit() {}
extern "C" NOT_INSTRUMENTED void __tsan_vptr_read(void**) {}
extern "C" NOT_INSTRUMENTED void __tsan_vptr_update(void**, void*) {}
extern "C" NOT_INSTRUMENTED void __tsan_read_range(void*, size_t) {}
extern "C" NOT_INSTRUMENTED void __tsan_write_range(void*, size_t) {}

#define ACCESS(name) \
  extern "C" NOT_INSTRUMENTED void __tsan_##name(void*) {}
#define ACCESSES(bytes)                  \
  ACCESS(read##bytes)                    \
  ACCESS(write##bytes)                   \
  ACCESS(unaligned_read##bytes)          \
  ACCESS(unaligned_write##bytes)         \
  ACCESS(volatile_read##bytes)           \
  ACCESS(volatile_write##bytes)          \
  ACCESS(unaligned_volatile_read##bytes) \
  ACCESS(unaligned_volatile_write##bytes)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

#endif

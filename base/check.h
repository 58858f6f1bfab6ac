// Assertions. They test for bugs in this library, never input: bad bytes on disk and bad arguments
// return a Status. CHECK is always on and is used where continuing would corrupt data; DCHECK is
// for hot paths and is off in release builds.
#pragma once

namespace tandem::base {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace tandem::base

#define CHECK(condition)                 \
  (static_cast<bool>(condition) ? void() \
                                : ::tandem::base::CheckFailed(__FILE__, __LINE__, #condition))

#ifdef NDEBUG
#define DCHECK(condition) (true ? void() : void(condition))
#else
#define DCHECK(condition) CHECK(condition)
#endif

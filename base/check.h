// Assertions. They test our own mistakes, never input: bytes from disk and arguments of callers
// return a Status. CHECK is always on and stands where going on would corrupt data; DCHECK is for
// hot paths and is off in release builds.
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

// A wait for each block would be shorter than what the system takes to wake a thread.
#include "engine/runtime/merge_pace.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

constexpr uint64_t kStepBytes = 256 << 10;

}  // namespace

Status MergePace::Pass(uint64_t read_bytes, const Look& look, Passed* passed) {
  if (deps_.bytes_per_second == 0) return {};
  if (read_bytes < passed->bytes) *passed = {};
  passed->bytes = read_bytes;
  const uint64_t bytes = passed->bytes - passed->waited_for;
  if (bytes < std::min(kStepBytes, deps_.bytes_per_second)) return {};
  passed->waited_for = passed->bytes;
  const int64_t began_micros = deps_.clock->MonotonicMicros();
  const Status status = limit_.Pass(bytes, [&]() -> Result<uint32_t> {
    ASSIGN_OR_RETURN(const bool is_limited, look());
    if (!is_limited) return RateLimit::kNoLimit;
    deps_.run_urgent();
    return deps_.factor();
  });
  deps_.monitor->CountPaced(deps_.clock->MonotonicMicros() - began_micros);
  return status;
}

}  // namespace tandem::engine

// Allocations of a program that links this: its operator new, the library's included, counts them
// and lets them fail when a test says so.
#pragma once

#include <cstdint>
#include <functional>

namespace tandem::test {

/// Those of one thread.
struct Allocations {
  uint64_t count = 0, bytes = 0;  ///< Asked for, ever.
  int64_t left = -1;              ///< Until one fails; below 0: none fails.
  bool sticky = true;             ///< All after it fail too.
  bool has_failed = false;        ///< One did.
  uint64_t tried = 0;             ///< While `left` was not below 0.
};
Allocations& ThisThreadsAllocations();
/// How many this thread makes in `work`.
uint64_t AllocationsOf(const std::function<void()>& work);

/// Bytes that are allocated now, by all threads.
int64_t LiveBytes();
/// The most that LiveBytes() was since ResetPeakBytes().
int64_t PeakBytes();
void ResetPeakBytes();

/// While one exists, the allocations of its thread succeed and are not counted.
class AllocationPause {
 public:
  AllocationPause();
  ~AllocationPause();
  AllocationPause(const AllocationPause&) = delete;
  AllocationPause& operator=(const AllocationPause&) = delete;
};

}  // namespace tandem::test

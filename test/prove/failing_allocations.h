// Allocations that fail: this program's operator new does so on threads that ask for it.
#pragma once

#include <cstdint>

namespace tandem::prove {

/// The allocations of this thread.
struct AllocationFailure {
  /// So many succeed, then one fails; below 0: none fails.
  int64_t left = -1;
  bool sticky = false;      ///< All after it fail too.
  bool has_struck = false;  ///< One has failed.
  uint64_t count = 0;       ///< Allocations so far, while `left` is not below 0.
};
AllocationFailure& AllocationFailureOfThisThread();

/// While one exists, the allocations of its thread succeed and are not counted.
class AllocationPause {
 public:
  AllocationPause();
  ~AllocationPause();
  AllocationPause(const AllocationPause&) = delete;
  AllocationPause& operator=(const AllocationPause&) = delete;
};

}  // namespace tandem::prove

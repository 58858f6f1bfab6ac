// How emulated rings behave: chances of what a kernel may do, and faults at chosen operations.
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"

namespace tandem::test {

/// What goes wrong in a ring.
struct RingFault {
  enum class Of : uint8_t { kCompletion, kEnter };
  Of of = Of::kCompletion;  ///< These count and can fail.
  uint64_t at = 1;          ///< The at-th of them from now fails; 1 is the next.
  bool sticky = false;      ///< All of them after it fail too.
  /// Its errno; 0: of a completion, which is then one of half of what was asked, at least a byte.
  int error = EIO;
};

/// Counts what happens in all rings that share it. Threads: any.
class RingFaults {
 public:
  void Inject(const RingFault& fault);
  void Clear();
  bool has_struck() const;
  /// Completions, or Enters, so far.
  uint64_t count(RingFault::Of of) const;

  /// Counts one, and says what befalls it.
  std::optional<RingFault> Judge(RingFault::Of of);

 private:
  mutable base::Mutex mutex_;
  std::vector<RingFault> faults_ GUARDED_BY(mutex_);
  bool has_struck_ GUARDED_BY(mutex_) = false;
  uint64_t counts_[2] GUARDED_BY(mutex_) = {};
};

/// How a ring behaves; chances are per 1000. The defaults never change the outcome of a request.
struct RingHabits {
  uint32_t short_transfers = 150;
  uint32_t again = 50;
  uint32_t interrupted = 30;
  uint32_t cancelled = 30;
  uint32_t repeated_completions = 30;  ///< Come a second time, later.
  uint32_t refused_enters = 80;        ///< EAGAIN, EBUSY or EINTR.
  uint32_t partial_enters = 150;       ///< Take some of what was pushed.
  uint32_t io_errors = 0;
  uint32_t no_space = 0;  ///< Of writes.
  /// Every Enter from this one on fails with EIO; 0 means never.
  uint32_t breaks_at_enter = 0;
  uint32_t completion_slots = 3;  ///< At least 1; the kernel's has as many as the queue's depth.
  std::shared_ptr<RingFaults> faults{};  ///< Besides the chances; may be null.
};

}  // namespace tandem::test
